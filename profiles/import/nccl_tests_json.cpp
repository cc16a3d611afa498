// Reads the JSON that nccl-tests writes with -J, versions 1 to 3. Its booleans are texts, so is NaN, roots
// are padded, and what was not run is null (NVIDIA/nccl-tests, src/util.cu).
#include <algorithm>
#include <cmath>
#include <map>

#include "model/error.h"
#include "profiles/import/nccl_rows.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr double kPrintedTo = 5e-7;  // six decimals

bool there(const std::optional<Json>& json) {
  return json && !json->is(JsonValue::Kind::null);
}

Printed number(const Json& json, bool above_zero) {
  if (json.is(JsonValue::Kind::text)) {
    json.fail(quote(json.text()) + " is no number", above_zero ? "a number above 0" : "a number");
  }
  const double value = json.number();
  if (value < 0 || (above_zero && value == 0)) {
    json.fail(json.scalar() + " cannot be", above_zero ? "a number above 0" : "0 or more");
  }
  return {value, kPrintedTo};
}

std::optional<NcclTimes> times(const Json& row, std::string_view key, std::size_t size) {
  const auto half = row.find(key);
  if (!there(half)) {
    return std::nullopt;
  }
  if (half->find("cpu_time")) {
    half->fail("the times are the CPU's, which only starts a collective", "a run without -C 1");
  }
  NcclTimes result;
  result.time = number(half->at("time", "microseconds"), size > 0);
  result.algorithm_bandwidth = number(half->at("alg_bw", "1e9 bytes per second"), false);
  result.bus_bandwidth = number(half->at("bus_bw", "1e9 bytes per second"), false);
  return result;
}

/// "AllReduce" -> "all_reduce"
std::string collective_name(std::string_view words) {
  if (words == "AlltoAll" || words == "AllToAll") {
    return "alltoall";
  }
  std::string name;
  for (const char c : words) {
    const bool capital = c >= 'A' && c <= 'Z';
    name += capital && !name.empty() ? "_" : "";
    name += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

/// One entry of "devices" stands for a whole process.
NcclRanks ranks_of(const Json& config) {
  const auto devices = config.find("devices");
  const auto threads = config.find("nthreads");
  const auto gpus = config.find("ngpus");
  if (!there(devices) || !there(threads) || !there(gpus)) {
    return {};
  }
  constexpr std::size_t kMost = 1U << 20U;
  const std::size_t each = std::min(threads->count(), kMost) * std::min(gpus->count(), kMost);
  std::map<std::string, std::size_t> hosts;
  std::size_t processes = 0;
  bool named = true;
  bool one_group = true;
  std::optional<std::size_t> group;
  for (const Json& device : devices->list()) {
    ++processes;
    if (const auto of = device.find("group"); there(of)) {
      one_group = one_group && of->count() == group.value_or(of->count());
      group = of->count();
    }
    const auto host = device.find("hostname");
    named = named && there(host);
    hosts[named ? host->scalar() : std::string()] += each;
  }
  if (processes == 0 || each == 0 || !one_group || processes * each > kMost) {
    return {};
  }
  NcclRanks ranks;
  ranks.workers = processes * each;
  ranks.from = std::to_string(processes) + (processes == 1 ? " process" : " processes") + " of " +
               std::to_string(each) + (each == 1 ? " rank" : " ranks");
  const std::size_t first = hosts.begin()->second;
  const bool even =
      std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) { return host.second == first; });
  ranks.per_node = named && even ? first : 0;
  ranks.uneven = named && !even;
  return ranks;
}

bool wrong(const Json& row, std::string_view key) {
  const auto half = row.find(key);
  const auto count = there(half) ? half->find("nwrong") : std::nullopt;
  return there(count) && count->is(JsonValue::Kind::number) && count->number() > 0;
}

/// What the file says of the whole run: whether it ended, and well.
void tell(const Json& root, std::vector<std::string>& notes) {
  constexpr double kNewest = 3;
  if (const auto version = root.find("version");
      there(version) && version->is(JsonValue::Kind::number) && version->number() > kNewest) {
    notes.push_back("warning: version " + version->scalar() +
                    " of nccl-tests' JSON is newer than those known, 1 to 3");
  }
  if (!there(root.find("end_time"))) {
    notes.emplace_back("warning: the run has no end_time: it may have been cut short");
  }
  if (const auto errors = root.find("errors"); there(errors) && !errors->list().empty()) {
    const std::size_t count = errors->list().size();
    notes.push_back("warning: the run reports " + std::to_string(count) +
                    (count == 1 ? " error" : " errors"));
  }
}

}  // namespace

NetworkLog read_nccl_json(std::string_view text, const std::string& where,
                          std::optional<std::size_t> workers) {
  const JsonDocument document(text, where, JsonDocument::Texts::any);  // "env" holds whatever the shell had
  const Json root = document.root();
  NcclTable run;
  if (const auto config = root.find("config"); there(config)) {
    run.ranks = ranks_of(*config);
  }
  if (const auto bounds = root.find("out_of_bounds"); there(bounds)) {
    const auto okay = bounds->find("okay");
    run.failed = there(okay) && okay->scalar() == "false";
  }
  std::vector<NcclTable> tables;
  for (const Json& result : root.at("results", "what nccl-tests writes with -J").list()) {
    NcclRow row;
    row.place = result.place();
    row.size = result.at("size", "bytes").count();
    row.type = result.at("type", "the type of the elements").scalar();
    const auto operation = result.find("redop");
    row.operation = there(operation) ? operation->scalar() : std::string();
    row.out_of_place = times(result, "out_of_place", row.size);
    row.in_place = times(result, "in_place", row.size);
    row.wrong = wrong(result, "out_of_place") || wrong(result, "in_place");
    if (!row.out_of_place && !row.in_place) {
      result.fail("has neither out_of_place nor in_place", "the times of one of them");
    }
    const auto experiment = result.find("experiment_name");
    const std::string collective = there(experiment) && !experiment->is_empty_text()
                                       ? collective_name(experiment->text())
                                       : std::string();
    if (tables.empty() || tables.back().collective != collective) {
      tables.push_back(run);
      tables.back().collective = collective;
    }
    tables.back().rows.push_back(std::move(row));
  }
  NetworkLog log = nccl_log(tables, "nccl-tests", where, workers);
  tell(root, log.notes);
  return log;
}

}  // namespace breakeven
