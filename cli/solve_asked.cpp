// What `solve` is asked, from the command line.
#include <algorithm>

#include "cli/answer.h"
#include "cli/solved.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

[[noreturn]] void refuse(std::string where, std::string wrong, std::string expected) {
  throw Error(Fault::value, std::move(where), std::move(wrong), std::move(expected));
}

Unknown unknown_of(const std::string& text) {
  const std::vector<std::string> names = choices(command("solve").usage);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    refuse("solve", "unknown input \"" + text + "\"", one_of(names, text));
  }
  return static_cast<Unknown>(found - names.begin());
}

double scaling_of(const std::string& flag, const std::string& text) {
  try {
    const double value = parse_fraction(text);
    if (value <= 0 || value > 1) {
      refuse({}, "\"" + text + "\" is out of range", "above 0 and at most 1, such as 0.95 or 95%");
    }
    return value;
  } catch (const Error& error) {
    throw error.inside("--" + flag, Fault::value);
  }
}

}  // namespace

Asked asked_of(const Context& context) {
  const Request& request = context.request;
  const std::string& what = request.arguments.front();
  Asked asked;
  asked.unknown = unknown_of(what);
  const auto not_here = [&](const char* flag, const std::string& where) {
    if (request.has(flag)) {
      refuse("--" + std::string(flag), "changes nothing in solve " + what, where);
    }
  };
  const bool of_scheme = asked.unknown == Unknown::codec_time || asked.unknown == Unknown::extra_steps;
  if (asked.unknown != Unknown::bandwidth) {
    not_here("scaling", "solve bandwidth");
  }
  if (of_scheme) {
    not_here("target-scaling", "solve bandwidth, ratio, workers or batch");
  }
  if (asked.unknown == Unknown::ratio) {
    not_here("scheme", "no scheme: the ratio is that of one that costs nothing");
  }
  asked.schemes = named_schemes(context);
  std::erase_if(asked.schemes, [](const Candidate& candidate) { return candidate.plain_spec == "none"; });
  if (asked.schemes.empty() && (of_scheme || request.has("scheme"))) {
    refuse("--scheme", request.has("scheme") ? "names nothing but plain all-reduce" : "is missing",
           "the scheme that solve " + what + " is about, such as powersgd:rank=4");
  }
  if (request.has("scaling")) {
    asked.measured = scaling_of("scaling", request.get("scaling", ""));
  }
  if (request.has("target-scaling")) {
    for (const std::string& text : request.given.find("target-scaling")->second) {
      const double target = scaling_of("target-scaling", text);
      if (std::find(asked.targets.begin(), asked.targets.end(), target) != asked.targets.end()) {
        refuse("--target-scaling", "\"" + text + "\" is given twice", "each target once");
      }
      asked.targets.push_back(target);
    }
  } else if (!asked.measured && asked.schemes.empty()) {
    asked.targets = {0.95, 0.99};
  }
  return asked;
}

}  // namespace breakeven::cli
