// run(): version, help, the commands, and every error as one line.
#include "cli/app.h"

#include <algorithm>
#include <new>
#include <ostream>

#include "cli/command.h"
#include "cli/doors.h"
#include "cli/importers.h"
#include "cli/json_writer.h"
#include "cli/machine.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "compressors/builtin.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

/// --version stands alone, or beside --format.
bool print_version(const std::vector<std::string>& arguments, std::ostream& out) {
  if (std::find(arguments.begin(), arguments.end(), "--version") == arguments.end()) {
    return false;
  }
  std::vector<std::string> others = arguments;
  std::erase(others, "--version");
  const bool json = others == std::vector<std::string>{"--format", "json"} ||
                    others == std::vector<std::string>{"--format=json"};
  if (!others.empty() && !json) {
    throw Error(Fault::value, "--version", "beside \"" + others.front() + "\"",
                "--version alone or with --format json");
  }
  if (json) {
    JsonWriter writer(true);
    writer.begin_object().member("schema", "breakeven.version").member("schema_version", 1.0);
    writer.member("version", BREAKEVEN_VERSION).member("compiler", compiler()).end_object();
    out << writer.take();
  } else {
    out << "breakeven " BREAKEVEN_VERSION " (" << compiler() << ")\n";
  }
  return true;
}

/// A file that was named as a profile may be what another program printed.
int run_with_hints(const Command& row, const Context& context) {
  try {
    return row.run(context);
  } catch (const Error& error) {
    for (const auto& [option, file] : context.request.scenario) {
      if (error.fault() == Fault::file && !file.empty() && error.where().starts_with(file)) {
        throw Error(Fault::file, error.where(), error.wrong(), error.expected() + import_hint(file));
      }
    }
    throw;
  }
}

int dispatch(std::vector<std::string> arguments, std::ostream& out, std::ostream& err,
             const Environment& environment) {
  if (print_version(arguments, out)) {
    return kAnswered;
  }
  const bool asks_help = !arguments.empty() && (arguments.front() == "--help" || arguments.front() == "-h");
  if (asks_help && arguments.size() == 1) {
    out << help_text("");
    return kAnswered;
  }
  const Command& row = take_command(arguments);
  const Request request = parse(row, std::move(arguments));
  if (request.has("help")) {
    out << help_text(row.name);
    return kAnswered;
  }
  Registry registry;
  add_builtin(registry);
  Catalogue catalogue;
  if (const auto found = request.given.find("profiles"); found != request.given.end()) {
    for (const std::string& directory : found->second) {
      catalogue.add_directory(directory);
    }
  }
  const std::vector<std::string> warnings = open_doors(request, registry, catalogue);
  const Context context{request, registry, catalogue, environment, out, err};
  for (const std::string& warning : warnings) {
    warn(context, warning);
  }
  return run_with_hints(row, context);
}

/// One line that a terminal can show, whatever a file or an argument had in it.
std::string one_line(std::string text) {
  constexpr std::size_t kLongest = 1000;
  if (text.size() > kLongest) {
    text.resize(kLongest);
    text += "...";
  }
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return text;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        const Environment& environment) {
  int status = kFailed;
  std::string wrong;
  try {
    status = dispatch(arguments, out, err, environment);
    flush_standard(out);
    return status;
  } catch (const Error& error) {
    wrong = error.what();
    status = error.fault() == Fault::value ? kUsage : kFailed;
  } catch (const std::bad_alloc&) {
    wrong = "memory: there is not enough for this: expected a smaller question";
    status = kFailed;
  } catch (const std::exception& error) {
    wrong = std::string("unexpected: ") + error.what();
    status = kFailed;
  }
  err << "breakeven: error: " << one_line(wrong) << '\n' << std::flush;
  return status;
}

void warn(const Context& context, std::string_view text) {
  if (!context.request.has("quiet")) {
    context.err << "breakeven: warning: " << one_line(std::string(text)) << '\n';
  }
}

void note(const Context& context, std::string_view text) {
  if (context.request.has("verbose")) {
    context.err << "breakeven: note: " << one_line(std::string(text)) << '\n';
  }
}

}  // namespace breakeven::cli
