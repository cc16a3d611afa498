// Google Benchmark files: any text is a codec profile that can be written and read back, or an error.
#include "profiles/import/google_benchmark.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

void check_curve(const Curve& curve) {
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    require_above_zero(curve.points[i].elements, "elements");
    require_above_zero(curve.points[i].time, "time");
    require(i == 0 || curve.points[i].elements > curve.points[i - 1].elements, "elements rise");
  }
}

/// Our own names; the first bit of the file's first byte decides about the clock.
std::optional<ImportedCodec> imported(const std::uint8_t* data, std::size_t size) {
  ImportOptions options;
  options.cpu_time = size > 0 && (data[0] & 1U) != 0;
  return read_or_refuse(
      [&](std::string_view json, const std::string& where) {
        return import_google_benchmark(json, where, options);
      },
      data, size);
}

/// A pattern that no benchmark matches, or none that the one before leaves, is the pattern's fault.
void try_patterns(const std::uint8_t* data, std::size_t size) {
  ImportOptions options;
  options.patterns = {"B*/{n}=encode:fp16", "*d*/{n}/*=decode:fp16"};
  try {
    (void)import_google_benchmark(text_of(data, size), "input.json", options);
  } catch (const Error& error) {
    const std::string& wrong = error.wrong();
    require(error.fault() == Fault::file || wrong == "matches no benchmark of input.json" ||
                wrong.starts_with("gets no benchmark: "),
            "refused for a reason:", error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_patterns(data, size);
  const auto result = imported(data, size);
  if (!result) {
    return 0;
  }
  require(!result->codec.costs.empty() && !result->notes.empty(), "something was understood");
  for (const CodecCosts& costs : result->codec.costs) {
    require(!costs.scheme.empty(), "costs are of a scheme");
    require(!costs.encode.points.empty() && !costs.decode.points.empty(), "both sides were timed");
    require(costs.spread >= 0 && costs.spread <= 1, "a spread is a share");
    check_curve(costs.encode);
    check_curve(costs.decode);
    check_curve(costs.decode_next);
  }
  const std::string text = write_codec(result->codec);
  require(write_codec(read_codec(text, "written")) == text, "a profile reads back as it was written");
  return 0;
}
