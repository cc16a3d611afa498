// `breakeven import google-benchmark`: kernel timings -> a codec profile.
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

std::string google_benchmark(const Context& context, const std::string& file) {
  const Request& request = context.request;
  constexpr std::size_t kMostThreads = 1024;
  ImportOptions options;
  options.name = request.get("name", options.name);
  options.device = request.get("device", options.device);
  options.threads = count_of(request, "threads", 1, kMostThreads);
  if (const auto maps = request.given.find("map"); maps != request.given.end()) {
    options.patterns = maps->second;
  }
  std::vector<std::string> known;
  options.canonical = [&](const std::string& spec) { return canonical(context.registry, spec, known); };
  const std::string text = read_text(file);
  const ImportedCodec imported = [&] {
    try {
      return import_google_benchmark(text, place_of(file), options);
    } catch (const Error& error) {
      throw error.fault() == Fault::value ? error.inside("--map", Fault::value) : error;
    }
  }();
  if (const std::string unknown = unknown_device(context.catalogue, options.device); !unknown.empty()) {
    warn(context, "--device: " + unknown);
  }
  if (!request.has("quiet")) {
    for (const std::string& note : imported.notes) {
      context.err << "breakeven: " << note << '\n';
    }
  }
  return write_codec(imported.codec);
}

}  // namespace

std::vector<Importer> codec_importers() {
  return {{"google-benchmark",
           "the JSON that a program with Google Benchmark in it writes with --benchmark_format=json or "
           "--benchmark_out, where benchmarks named SIDE/SPEC/ELEMENTS are understood as they are, others by "
           "--map",
           {"map", "threads", "device", "scheme-file", "plugin"},
           google_benchmark}};
}

}  // namespace breakeven::cli
