// Reads what iperf3 --json writes: one direction of a link between two machines. Formats: esnet/iperf,
// src/iperf_api.c.
#include <algorithm>

#include "model/error.h"
#include "profiles/import/network.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

/// Bits per second that arrived. Of UDP, old versions only say what was sent and which share of it was lost.
double received(const Json& end, bool udp) {
  const auto sum_received = end.find("sum_received");
  if (sum_received || !udp) {
    const Json sum = sum_received ? *sum_received : end.at("sum_received", "the sum over all streams");
    return sum.at("bits_per_second", "what arrived").number();
  }
  const Json sum = end.at("sum", "the sum over all streams");
  const double lost = sum.at("lost_percent", "the share that was lost").number();
  if (lost < 0 || lost > 100) {
    sum.at("lost_percent", "").fail(exact(lost) + " is no share", "0 to 100");
  }
  return sum.at("bits_per_second", "what was sent").number() * (1 - lost / 100);
}

/// A test that was told how fast to send does not tell what the link can do.
std::optional<double> asked_rate(const Json& start, const Json& test) {
  for (const Json* from : {&test, &start}) {
    const auto rate = from->find("target_bitrate");
    if (rate && rate->number() > 0) {
      return rate->number();
    }
  }
  return {};
}

/// Percent, of UDP only.
double lost(const Json& end) {
  const auto sum = end.find("sum");
  const auto share = sum ? sum->find("lost_percent") : std::nullopt;
  return share ? share->number() : 0;
}

/// The least round trip that a sender saw: the mean holds the queue that the test itself fills.
std::optional<Seconds> round_trip(const Json& end) {
  std::optional<Seconds> least;
  const auto streams = end.find("streams");
  if (!streams) {
    return least;
  }
  for (const Json& stream : streams->list()) {
    const auto sender = stream.find("sender");
    auto rtt = sender ? sender->find("min_rtt") : std::nullopt;
    if (!rtt && sender) {
      rtt = sender->find("mean_rtt");
    }
    if (rtt && (rtt->number() < 0 || rtt->number() > 1e9)) {
      rtt->fail(rtt->scalar() + " us are no round trip", "0 to 1e9");
    }
    if (rtt && rtt->number() >= 1) {  // 0: the system does not tell
      const Seconds time = Seconds::of(rtt->number() * 1e-6);
      least = std::min(least.value_or(time), time);
    }
  }
  return least;
}

bool is_loopback(const Json& start) {
  const auto connected = start.find("connected");
  if (!connected) {
    return false;
  }
  const std::vector<Json> all = connected->list();
  return std::any_of(all.begin(), all.end(), [](const Json& one) {
    const std::string local = text_or_empty(one, "local_host");
    const std::string remote = text_or_empty(one, "remote_host");
    return remote.starts_with("127.") || remote == "::1" || (!remote.empty() && remote == local);
  });
}

}  // namespace

NetworkLog read_iperf3(std::string_view text, const std::string& where) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] != '{') {
    throw Error(Fault::file, where, "is no JSON", "what iperf3 --json writes");
  }
  if (begin != std::string_view::npos && text.substr(begin).starts_with("{\"event\"")) {
    throw Error(Fault::file, where, "has an event a line, as iperf3 --json-stream writes",
                "one object, as iperf3 --json writes");
  }
  const JsonDocument document(text, where, JsonDocument::Texts::any);
  const Json root = document.root();
  if (const auto error = root.find("error")) {
    throw Error(Fault::file, where, "iperf3 failed: " + quote(error->scalar()), "a run that ended");
  }
  const Json start = root.at("start", "what iperf3 --json writes");
  const Json test = start.at("test_start", "how the test was run");
  const Json protocols = test.at("protocol", "TCP");
  const std::string& protocol = protocols.text();
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    protocols.fail("unknown protocol " + quote(protocol), "TCP, UDP or SCTP");
  }
  const std::size_t streams = test.at("num_streams", "the number of streams").count();
  const Json end = root.at("end", "the result");
  const double bits = received(end, protocol == "UDP");
  if (bits < 1) {
    end.fail("nothing arrived", "bits_per_second of 1 or more");
  }
  NetworkLog log;
  const std::string version = text_or_empty(start, "version");
  log.program = version.empty() ? "iperf3" : version;
  log.link = LinkRate{BytesPerSecond::of(bits / 8), {}};
  log.notes.push_back("one direction between two machines: " + protocol + " by " + std::to_string(streams) +
                      (streams == 1 ? " stream" : " streams"));
  if (const auto rtt = round_trip(end)) {
    log.link->latency = *rtt / 2;
    log.notes.push_back("latency: half of the least round trip under load, " + to_string(*rtt));
  }
  if (streams > 1) {
    log.notes.emplace_back("one connection of a collective may reach less than several streams together");
  }
  if (const auto both = test.find("bidir"); both && both->number() != 0) {
    log.notes.emplace_back("the other direction was busy too");
  }
  if (const auto asked = asked_rate(start, test)) {
    log.notes.push_back("warning: the test was held to " + significant(*asked / 1e9, 3) +
                        " Gbit/s a stream: the link may carry more");
  }
  if (const double share = protocol == "UDP" ? lost(end) : 0; share > 0) {
    log.notes.push_back("warning: " + significant(share, 3) +
                        " % of what was sent was lost: what arrived counts");
  }
  if (is_loopback(start)) {
    log.notes.emplace_back("both ends are this one machine: no network was measured");
  }
  return log;
}

}  // namespace breakeven
