// The one file that knows simdjson: traces have millions of events.
#include "profiles/import/trace_events.h"

#include <simdjson.h>

#include <cmath>

#include "model/error.h"
#include "model/units.h"
#include "profiles/import/trace_text.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

constexpr double kLatest = 1e18;  // microseconds since 1970 have 16 digits
constexpr double kLongest = 1e12;
constexpr double kMostCount = 1e15;

std::string_view text_of(value json) {
  return json.type().value() == json_type::string ? json.get_string().value() : std::string_view{};
}

/// A whole number that is not negative; nothing for any other value.
template <class Count>
std::optional<Count> count_of(value json) {
  if (json.type().value() != json_type::number) {
    return std::nullopt;
  }
  const double number = json.get_double().value();
  return number >= 0 && number <= kMostCount && number == std::floor(number)
             ? std::optional(static_cast<Count>(number))
             : std::nullopt;
}

/// The value as the file writes it.
std::string_view token_of(value json) {
  const std::string_view token = json.raw_json_token();
  return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

/// The first list without lists in it: "Input Dims": [[[2049000]], []]. Nothing where it is none of
/// dimensions.
std::optional<std::vector<std::size_t>> first_dims(value json) {
  while (json.type().value() == json_type::array) {
    std::vector<std::size_t> dims;
    double product = 1;
    std::optional<value> deeper;
    for (auto item : json.get_array()) {
      value inner = item.value();
      if (inner.type().value() == json_type::array) {
        deeper = inner;
        break;
      }
      const auto dim = count_of<std::size_t>(inner);
      product *= static_cast<double>(dim.value_or(0));
      if (product < 1 || product > kMostCount) {
        return std::nullopt;
      }
      dims.push_back(*dim);
    }
    if (!deeper) {
      return dims;
    }
    json = *deeper;
  }
  return std::nullopt;
}

/// "Input type": ["float", ...]
std::string_view first_text(value json) {
  if (json.type().value() == json_type::array) {
    for (auto item : json.get_array()) {
      return text_of(item.value());
    }
  }
  return {};
}

/// The elements of a message, or an Error: what is there must be a size.
std::size_t elements_of(value json, const std::string& place) {
  const auto elements = count_of<std::size_t>(json);
  if (!elements) {
    throw Error(Fault::file, place, "\"In msg nelems\" is " + quote(token_of(json)),
                "a whole number from 0 to 1e15");
  }
  return *elements;
}

void read_arguments(value json, const std::string& place, TraceEvent::Arguments& args) {
  if (json.type().value() != json_type::object) {
    return;
  }
  for (auto field : json.get_object()) {
    const std::string_view key = field.unescaped_key().value();
    if (key == "Collective name") {
      args.collective = text_of(field.value());
    } else if (key == "Process Group Name") {
      args.group_name = text_of(field.value());
    } else if (key == "dtype") {
      args.dtype = text_of(field.value());
    } else if (key == "shape") {
      args.shape = text_of(field.value());
    } else if (key == "name") {
      args.name = text_of(field.value());
    } else if (key == "In msg nelems") {
      args.elements = elements_of(field.value(), place);
    } else if (key == "Input Dims") {
      args.input_dims = first_dims(field.value());
    } else if (key == "Input type") {
      args.input_type = first_text(field.value());
    } else if (key == "Group size") {
      args.group = count_of<std::size_t>(field.value());
    } else if (key == "device") {
      args.device = count_of<std::size_t>(field.value());
    } else if (key == "correlation") {
      args.correlation = count_of<std::int64_t>(field.value());
    } else if (key == "External id" || key == "external id") {
      args.external = count_of<std::int64_t>(field.value());
    }
  }
}

/// The time in field `key`, or an Error: null, NaN and text are none.
double time_of(value json, const std::string& key, const std::string& place, double least, double most) {
  const std::string_view token = token_of(json);
  double time = 0;
  if (json.get_double().get(time) != simdjson::SUCCESS || !(time >= least && time <= most)) {
    throw Error(Fault::file, place, quote(key) + " is " + std::string(token),
                "a number of microseconds, " + exact(least) + " to " + exact(most));
  }
  // Profilers' clocks tick in nanoseconds: what is finer is noise, or no clock's.
  constexpr double kFine = 1e4;
  return std::abs(time) < 1e9 ? std::round(time * kFine) / kFine : time;
}

TraceEvent read_event(object json, const std::string& place) {
  TraceEvent event;
  for (auto field : json) {
    const std::string_view key = field.unescaped_key().value();
    if (key == "ph") {
      const std::string_view phase = text_of(field.value());
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "name") {
      event.name = text_of(field.value());
    } else if (key == "cat") {
      event.category = text_of(field.value());
    } else if (key == "ts") {
      event.begin = time_of(field.value(), "ts", place, -kLatest, kLatest);
    } else if (key == "dur") {
      event.duration = time_of(field.value(), "dur", place, 0, kLongest);
    } else if (key == "pid") {
      event.process = token_of(field.value());
    } else if (key == "tid") {
      event.thread = token_of(field.value());
    } else if (key == "args") {
      read_arguments(field.value(), place, event.args);
    }
  }
  return event;
}

}  // namespace

bool read_trace(const ReadBlock& read, const std::string& where, const TraceReader& reader) {
  simdjson::ondemand::parser parser;
  TraceParts parts;
  parts.member = reader.member;
  parts.event = [&](std::string_view json, std::size_t number) {
    const std::string place = where + ": event " + std::to_string(number);
    try {
      const simdjson::padded_string_view padded(json.data(), json.size(),
                                                json.size() + simdjson::SIMDJSON_PADDING);
      simdjson::ondemand::document document = parser.iterate(padded);
      reader.event(read_event(document.get_object(), place));
    } catch (const simdjson::simdjson_error& error) {
      throw Error(Fault::file, place, "is no event (" + std::string(error.what()) + ")",
                  "JSON with a name, a phase and microseconds");
    }
  };
  return cut_trace(read, where, parts);
}

}  // namespace breakeven
