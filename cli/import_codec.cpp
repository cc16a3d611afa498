// `breakeven import`: kernel timings -> a codec profile.
#include <algorithm>
#include <ostream>

#include "cli/app.h"
#include "cli/command.h"
#include "cli/doors.h"
#include "cli/importers.h"
#include "model/error.h"
#include "profiles/import/google_benchmark.h"
#include "profiles/setup.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

/// Checks a spec. Of several spellings of one scheme the first stands for all.
std::string canonical(const Registry& registry, const std::string& spec, std::vector<std::string>& known) {
  const Candidate candidate = registry.make(spec);
  if (candidate.encode) {
    throw Error(Fault::value, {}, "\"" + candidate.spec + "\" states its times",
                "\"" + candidate.plain_spec + "\"");
  }
  const auto same = std::find_if(known.begin(), known.end(), [&](const std::string& other) {
    return same_parameters(*candidate.scheme, other, candidate.plain_spec);
  });
  return same == known.end() ? known.emplace_back(candidate.plain_spec) : *same;
}

CodecOptions options_of(const Context& context, std::vector<std::string>& known) {
  CodecOptions options;
  options.name = context.request.get("name", options.name);
  options.device = context.request.get("device", options.device);
  options.canonical = [&](const std::string& spec) { return canonical(context.registry, spec, known); };
  return options;
}

std::string written(const Context& context, const ImportedCodec& imported, const std::string& device) {
  if (const std::string unknown = unknown_device(context.catalogue, device); !unknown.empty()) {
    warn(context, "--device: " + unknown);
  }
  if (!context.request.has("quiet")) {
    for (const std::string& note : imported.notes) {
      context.err << "breakeven: " << note << '\n';
    }
  }
  return write_codec(imported.codec);
}

std::string google_benchmark(const Context& context, const std::string& file) {
  const Request& request = context.request;
  constexpr std::size_t kMostThreads = 1024;
  std::vector<std::string> known;
  ImportOptions options;
  static_cast<CodecOptions&>(options) = options_of(context, known);
  options.threads = count_of(request, "threads", 1, kMostThreads);
  if (const auto maps = request.given.find("map"); maps != request.given.end()) {
    options.patterns = maps->second;
  }
  const std::string text = read_text(file);
  const ImportedCodec imported = [&] {
    try {
      return import_google_benchmark(text, place_of(file), options);
    } catch (const Error& error) {
      throw error.fault() == Fault::value ? error.inside("--map", Fault::value) : error;
    }
  }();
  return written(context, imported, options.device);
}

std::string codec_csv(const Context& context, const std::string& file) {
  std::vector<std::string> known;
  const CodecOptions options = options_of(context, known);
  return written(context, import_codec_csv(read_text(file), place_of(file), options), options.device);
}

}  // namespace

std::vector<Importer> codec_importers() {
  return {
      {"google-benchmark",
       "the JSON that a program with Google Benchmark in it writes with --benchmark_format=json or "
       "--benchmark_out, where benchmarks named SIDE/SPEC/ELEMENTS are understood as they are, others by "
       "--map",
       {"map", "threads", "device", "scheme-file", "plugin"},
       {"\"benchmarks\""},
       google_benchmark},
      {"codec-csv",
       "rows under kernel,elements,encode_us,decode_us, where kernel is a scheme; with a column n decode_us "
       "is that of n gathered payloads in one go",
       {"device", "scheme-file", "plugin"},
       {"kernel,elements"},
       codec_csv}};
}

}  // namespace breakeven::cli
