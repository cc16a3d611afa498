// `breakeven import FORMAT FILE`: what other programs measured or describe -> a profile.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cli/app.h"
#include "cli/command.h"
#include "cli/importers.h"
#include "cli/output.h"
#include "model/error.h"
#include "profiles/import/trace_file.h"
#include "profiles/setup.h"

namespace breakeven::cli {
namespace {

struct Kind {
  std::string_view makes;
  std::vector<Importer> formats;
};

std::vector<Kind> kinds() {
  return {{"Fabric profiles, for --fabric", fabric_importers()},
          {"Model profiles, for --model, from a run", run_importers()},
          {"Model profiles, for --model, from a description", model_importers()},
          {"Codec profiles, for --codec", codec_importers()}};
}

/// Throws Error: unknown format.
Importer importer_of(const std::string& format) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    for (const Importer& importer : kind.formats) {
      if (importer.name == format) {
        return importer;
      }
      names.emplace_back(importer.name);
    }
  }
  throw Error(Fault::value, "import", "unknown format \"" + format + "\"", one_of(names, format));
}

/// A flag that another format needs is refused, not ignored.
void check_flags(const Request& request, const Importer& importer) {
  for (const Kind& kind : kinds()) {
    for (const Importer& other : kind.formats) {
      for (const std::string_view flag : other.flags) {
        const bool own =
            std::find(importer.flags.begin(), importer.flags.end(), flag) != importer.flags.end();
        if (request.has(flag) && !own) {
          throw Error(Fault::value, "--" + std::string(flag),
                      "does not apply to " + std::string(importer.name), "it left out");
        }
      }
    }
  }
}

/// The first bytes of a file, unpacked; empty for what cannot be.
std::string head_of(const std::string& file) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string head(kMost, '\0');
  try {
    head.resize(open_trace(file)(head.data(), kMost));
  } catch (const Error&) {
    return {};
  }
  return head;
}

bool begins_with(const std::string& file, std::string_view bytes) {
  std::string first(bytes.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(first.data(), static_cast<std::streamsize>(first.size())) && first == bytes;
}

/// "; this looks like a file for import osu": what a file may be that `importer` cannot read.
std::string hint(const Importer& importer, const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return {};  // what was read is gone
  }
  const std::string head = head_of(file);
  const auto is = [&](const Importer& one) {
    return std::any_of(one.marks.begin(), one.marks.end(),
                       [&](std::string_view mark) { return head.find(mark) != std::string::npos; });
  };
  if (begins_with(file, "\xFF\xFE") || begins_with(file, "\xFE\xFF")) {
    return "; this is UTF-16, as PowerShell writes it: make it UTF-8";
  }
  for (const Kind& kind : kinds()) {
    for (const Importer& other : kind.formats) {
      if (is(other) && !is(importer)) {
        return "; this looks like a file for import " + std::string(other.name);
      }
    }
  }
  return !importer.packed && begins_with(file, "\x1F\x8B") ? "; this is packed by gzip: unpack it" : "";
}

/// What `importer` makes of a file. An error says what else the file may be.
std::string read_as(const Importer& importer, const Context& context, const std::string& file) {
  try {
    return importer.read(context, file);
  } catch (const Error& error) {
    if (error.fault() != Fault::file) {
      throw;
    }
    throw Error(
        Fault::file, error.where(), error.wrong(),
        (error.expected().empty() ? "a file for import " + std::string(importer.name) : error.expected()) +
            hint(importer, file));
  }
}

}  // namespace

std::string import_hint(const std::string& file) {
  return hint(Importer{}, file);
}

std::string importers_text() {
  std::string text;
  for (const Kind& kind : kinds()) {
    text += std::string(kind.makes) + ":\n";
    for (const Importer& importer : kind.formats) {
      text += "  " + std::string(importer.name) + ": " + std::string(importer.reads) + "\n";
    }
    text += "\n";
  }
  return text;
}

int import_profile(const Context& context) {
  const Importer importer = importer_of(context.request.arguments.front());
  check_flags(context.request, importer);
  Output output(context.request.get("output", "-"), context.out);
  output.stream() << read_as(importer, context, context.request.arguments[1]);
  output.commit();
  return kAnswered;
}

}  // namespace breakeven::cli
