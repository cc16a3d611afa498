// The whole command line, one argument a line: an answer, or exactly one line of error and nothing on stdout.
// Inputs that would touch files, or sweep for long, are left alone.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/app.h"
#include "profiles/grid.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/mutate_options.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed);

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

constexpr std::string_view kError = "breakeven: error: ";
constexpr double kRoundOff = 1e-9;  // relative

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// A slash is part of a unit only: "10Gbit/s".
bool has_path(const std::string& argument) {
  for (std::size_t i = argument.find('/'); i != std::string::npos; i = argument.find('/', i + 1)) {
    const char next = i + 2 < argument.size() ? argument[i + 2] : ',';
    if (i == 0 || i + 1 >= argument.size() || argument[i + 1] != 's' ||
        std::string_view(",.*+").find(next) == std::string_view::npos) {
      return true;
    }
  }
  return argument.find(".json") != std::string::npos;
}

/// "-" alone, or in a list, or behind an equals sign: standard input.
bool reads_standard_input(const std::string& argument) {
  for (std::size_t i = argument.find('-'); i != std::string::npos; i = argument.find('-', i + 1)) {
    const bool begins = i == 0 || argument[i - 1] == ',' || argument[i - 1] == '=';
    const bool ends = i + 1 == argument.size() || argument[i + 1] == ',';
    if (begins && ends) {
      return true;
    }
  }
  return false;
}

bool touches_files(const std::string& argument) {
  const bool letters = argument.size() > 1 && argument[0] == '-' && argument[1] != '-';
  return argument.starts_with("--output") || argument.starts_with("--profiles") ||
         argument.starts_with("--scheme-file") || argument.starts_with("--plugin") || has_path(argument) ||
         reads_standard_input(argument) || (letters && argument.find('o') != std::string::npos) ||
         argument.find('\0') != std::string::npos;
}

/// More setups than are worth waiting for, or more threads, or running kernels.
bool takes_long(const std::vector<std::string>& arguments) {
  constexpr std::size_t kMost = 32;
  std::size_t setups = 1;
  for (const std::string& argument : arguments) {
    if (argument == "measure" || argument == "check") {
      return true;
    }
  }
  for (std::size_t i = 0; i < arguments.size() && setups <= kMost; ++i) {
    const std::size_t equals = arguments[i].find('=');
    const bool joined = arguments[i].starts_with("--") && equals != std::string::npos;
    const std::string option = arguments[i].substr(0, joined ? equals : std::string::npos);
    const std::string value = joined                     ? arguments[i].substr(equals + 1)
                              : i + 1 < arguments.size() ? arguments[i + 1]
                                                         : "";
    if (!option.starts_with("--")) {
      continue;
    }
    if (option == "--threads" && value.size() > 1) {
      return true;
    }
    try {
      setups *= expand_list(option.substr(2), value).size();
    } catch (const Error&) {
      continue;  // the command will say so
    }
  }
  return setups > kMost;
}

/// "@oend": terminals on stdout and stderr, NO_COLOR, a dumb TERM.
cli::Environment environment_of(const std::string& letters) {
  cli::Environment environment;
  environment.out_is_terminal = letters.find('o') != std::string::npos;
  environment.err_is_terminal = letters.find('e') != std::string::npos;
  if (letters.find('n') != std::string::npos) {
    environment.variables["NO_COLOR"] = "1";
  }
  if (letters.find('d') != std::string::npos) {
    environment.variables["TERM"] = "dumb";
  }
  return environment;
}

bool asks_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--format=json") != arguments.end();
}
/// One scheme of a query: every part an amount, and the parts add up to the step.
void check_row(const nlohmann::json& row) {
  const nlohmann::json& parts = row["parts"];
  const double step = row["step_s"].get<double>();
  require_above_zero(step, "a step");
  for (const auto& part : parts.items()) {
    require(part.value().is_number() && part.value().get<double>() >= -kRoundOff * step,
            "a part of the step is an amount:", row.dump());
  }
  double sum = 0;
  for (const auto* part :
       {"forward_s", "backward_s", "other_s", "slowdown_s", "exposed_codec_s", "exposed_communication_s"}) {
    sum += parts[part].get<double>();
  }
  require(std::abs(sum / step - 1) < kRoundOff, "the parts add up:", row.dump());
}

/// Help and names are text whatever the format.
void check_json(const std::string& out) {
  if (out.front() != '{' && out.front() != '[') {
    return;
  }
  const nlohmann::json answer = nlohmann::json::parse(out, nullptr, false);
  require(!answer.is_discarded(), "JSON is JSON:", out);
  if (answer.is_object() && answer.value("schema", "") == "breakeven.query") {
    check_row(answer["plain"]);
    for (const nlohmann::json& row : answer["schemes"]) {
      check_row(row);
    }
  }
}

void check_failure(const std::string& out, const std::string& err) {
  require(out.empty(), "nothing on stdout beside an error:", err);
  const std::vector<std::string> lines = lines_of(err);
  const auto errors = std::count_if(lines.begin(), lines.end(),
                                    [](const std::string& line) { return line.starts_with(kError); });
  require(errors == 1, "exactly one line of error:", err);
  require(err.ends_with('\n'), "the error ends its line:", err);
  require(lines.back().starts_with(kError), "the error comes last:", err);
  require(!lines.back().starts_with("breakeven: error: unexpected: "), "every error was foreseen:", err);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments = lines_of(text_of(data, size));
  cli::Environment environment;
  if (!arguments.empty() && arguments.front().starts_with("@")) {
    environment = environment_of(arguments.front());
    arguments.erase(arguments.begin());
  }
  if (std::any_of(arguments.begin(), arguments.end(), touches_files) || takes_long(arguments)) {
    return -1;  // not worth keeping
  }
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run(arguments, out, err, environment);
  switch (status) {
    case cli::kFailed:
    case cli::kUsage:
      check_failure(out.str(), err.str());
      break;
    case cli::kAnswered:
    case cli::kDoesNotPay:
    case cli::kTooClose:
      require(!out.str().empty(), "an answer says something");
      require(err.str().find(kError) == std::string::npos, "an answer is no error:", err.str());
      if (asks_json(arguments)) {
        check_json(out.str());
      }
      break;
    default:
      require(false, "an exit status that is documented:", std::to_string(status));
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  Random random(seed);
  if (random() % 4 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  std::vector<std::string> lines = lines_of(text_of(data, size));
  for (std::size_t times = 1 + random() % 3; times > 0; --times) {
    mutate_options(lines, random);
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + '\n';
  }
  const std::size_t length = std::min(text.size(), most);
  std::copy_n(text.begin(), length, reinterpret_cast<char*>(data));
  return length;
}
