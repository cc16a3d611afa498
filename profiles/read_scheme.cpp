// Door 2: reads a scheme that somebody describes by its sizes, with the times that were taken of it.
#include <algorithm>
#include <utility>

#include "profiles/described_scheme.h"
#include "profiles/json_reader.h"
#include "profiles/read.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRounds = 64;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What a spec can name: "NAME:key=value,...".
std::string read_name(const Json& json) {
  constexpr std::size_t kLongest = 64;
  const std::string& text = json.text();
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; });
  if (!plain || !is_lower(text.front()) || text.size() > kLongest) {
    json.fail("\"" + text.substr(0, kLongest) + "\" cannot name a scheme",
              "a lower-case letter, then at most 63 lower-case letters, digits, - and _");
  }
  return text;
}

/// `read` turns one coefficient into a number that is not negative.
template <class Read>
Linear read_linear(const Json& json, Read read) {
  json.only({"fixed", "per_tensor", "per_element", "per_row", "per_column"});
  const auto coefficient = [&](const char* key) {
    const auto found = json.find(key);
    return found ? read(*found) : 0.0;
  };
  return {coefficient("fixed"), coefficient("per_tensor"), coefficient("per_element"), coefficient("per_row"),
          coefficient("per_column")};
}

Linear read_size(const Json& json) {
  return read_linear(json, [](const Json& size) { return size.not_negative<Bytes>().base(); });
}

double read_not_negative(const Json& json) {
  const double value = json.number();
  if (value < 0) {
    json.fail("\"" + json.scalar() + "\" must not be negative", "0 or more");
  }
  return value;
}

DescribedWork read_work(const Json& json, bool decode) {
  if (decode) {
    json.only({"touched", "flops", "launches", "repeats"});
  } else {
    json.only({"touched", "flops", "launches"});
  }
  DescribedWork work;
  if (const auto touched = json.find("touched")) {
    work.touched = read_size(*touched);
  }
  if (const auto flops = json.find("flops")) {
    work.flops = read_linear(*flops, read_not_negative);
  }
  if (const auto launches = json.find("launches")) {
    const bool plain = launches->is(JsonValue::Kind::number);
    work.launches =
        plain ? Linear{.fixed = read_not_negative(*launches)} : read_linear(*launches, read_not_negative);
  }
  if (const auto repeats = json.find("repeats")) {
    work.by_worker = read_choice(*repeats, {"once", "workers"}, "number of repeats") == 1;
  }
  return work;
}

DescribedRound read_round(const Json& json) {
  json.only({"exchange", "element", "payload", "encode", "decode"});
  DescribedRound round;
  const std::vector<std::string> exchanges = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                              "push_pull"};
  const std::size_t exchange = read_choice(json.at("exchange", one_of(exchanges)), exchanges, "exchange");
  round.exchange = static_cast<Exchange>(exchange + 1);  // there is one for nothing in front
  const bool moves = round.exchange == Exchange::all_gather || round.exchange == Exchange::all_to_all;
  round.element = moves ? Element::bytes : Element::f32;
  if (const auto element = json.find("element")) {
    round.element =
        static_cast<Element>(read_choice(*element, {"f32", "f16", "bf16", "i32", "bytes"}, "element"));
  }
  const Json payload = json.at("payload", "what one worker sends, such as {\"per_element\": \"2 bit\"}");
  round.payload = read_size(payload);
  if (round.payload.zero()) {
    payload.fail("is nothing", "a size above 0");
  }
  if (const auto encode = json.find("encode")) {
    round.encode = read_work(*encode, false);
  }
  if (const auto decode = json.find("decode")) {
    round.decode = read_work(*decode, true);
  }
  return round;
}

Description read_description(const Json& root, const std::string& where) {
  Description description;
  description.file = where;
  if (const auto vectors = root.find("vectors")) {
    description.dense_vectors = read_choice(*vectors, {"code", "dense"}, "way with vectors") == 1;
  }
  const auto rounds = root.at("rounds", "a list of rounds").list(1, kMostRounds);
  for (const Json& round : rounds) {
    description.rounds.push_back(read_round(round));
  }
  const Exchange last = description.rounds.back().exchange;
  if (last == Exchange::reduce_scatter || last == Exchange::all_to_all) {
    rounds.back()
        .at("exchange", "")
        .fail("leaves every worker with its share of the gradient", "an all_gather after it");
  }
  if (const auto state = root.find("state")) {
    description.state = read_size(*state);
  }
  return description;
}

CodecProfile read_costs(const Json& root, const Scheme& scheme, const std::string& where) {
  CodecProfile codec;
  codec.name = scheme.name;
  codec.summary = scheme.summary;
  codec.source = scheme.source;
  const auto costs = root.find("costs");
  for (const Json& row : costs ? costs->list(1) : std::vector<Json>{}) {
    row.only({"device", "origin", "source", "encode", "decode", "decode_next", "spread"});
    CodecCosts taken;
    taken.scheme = scheme.name;
    taken.file = where;
    const Json device = row.at("device", "the name of a device");
    taken.device = device.text();
    if (std::any_of(codec.costs.begin(), codec.costs.end(),
                    [&](const CodecCosts& other) { return other.device == taken.device; })) {
      device.fail("the device \"" + taken.device + "\" is there twice", "each device once");
    }
    taken.origin = read_origin(row.at("origin", "measured or published"));
    const auto source = row.find("source");
    taken.source = source ? source->text() : scheme.source;
    read_curves(row, taken);
    codec.costs.push_back(std::move(taken));
  }
  return codec;
}

}  // namespace

SchemeFile read_scheme(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "placement", "same_steps", "vectors", "rounds", "state",
             "costs"});
  check_schema(root);
  SchemeFile file;
  Scheme& scheme = file.scheme;
  scheme.name = read_name(root.at("name", "the scheme's name"));
  scheme.summary = text_or_empty(root, "summary");
  scheme.source = text_or_empty(root, "source");
  if (const auto placement = root.find("placement")) {
    scheme.placement = static_cast<Placement>(
        read_choice(*placement, {"serial", "hook", "stream", "host", "blocking"}, "placement"));
  }
  if (const auto same_steps = root.find("same_steps")) {
    scheme.same_steps = same_steps->flag();
  }
  const auto description = std::make_shared<const Description>(read_description(root, where));
  scheme.make = [description](const Params&) { return described(description); };
  file.codec = read_costs(root, scheme, where);
  return file;
}

}  // namespace breakeven
