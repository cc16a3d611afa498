#include "profiles/import/run.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>

#include "profiles/write.h"

namespace breakeven {

std::optional<Element> element_named(std::string_view type) {
  std::string name(type.substr(type.rfind(':') == std::string_view::npos ? 0 : type.rfind(':') + 1));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  struct Row {
    std::string_view name;
    Element element;
  };
  constexpr std::array<Row, 7> kNames = {{{"float", Element::f32},
                                          {"float32", Element::f32},
                                          {"half", Element::f16},
                                          {"float16", Element::f16},
                                          {"bfloat16", Element::bf16},
                                          {"bf16", Element::bf16},
                                          {"fp16", Element::f16}}};
  const auto* found =
      std::find_if(kNames.begin(), kNames.end(), [&](const Row& row) { return row.name == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->element);
}

Precision precision_of(Element element) {
  return element == Element::f16    ? Precision::fp16
         : element == Element::bf16 ? Precision::bf16
                                    : Precision::fp32;
}

Seconds stated(Seconds time) {
  constexpr double kTick = 1e-11;
  return time < Seconds::of(kTick) ? Seconds{} : rounded(time);
}

Seconds sum_of(const std::vector<Seconds>& gaps) {
  constexpr int kDigits = 9;
  return rounded(std::accumulate(gaps.begin(), gaps.end(), Seconds{}), kDigits);
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::optional<BytesPerSecond> ring_rate(Bytes bytes, Seconds time, std::size_t workers) {
  if (workers < 2 || !(time > Seconds{}) || !(bytes > Bytes{})) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(workers);
  return 2 * (n - 1) / n * bytes / time;
}

ImportedRun import_backward_log(const BackwardLog& log, const RunOptions& options) {
  ImportedRun run;
  run.profile.name = run.profile.workload.name = options.name;
  run.profile.summary = "gradients of a logged backward pass";
  run.profile.source = options.source;
  Timing timing;
  timing.device = options.device;
  timing.batch = options.batch;
  timing.source = options.source;
  for (std::size_t i = log.rows.size(); i-- > 0;) {
    const double elements = std::ceil(static_cast<double>(log.rows[i].bytes) / size_of(Element::f32));
    add_tensor(run.profile.workload, "gradient" + std::to_string(i), {static_cast<std::size_t>(elements)}, 0);
  }
  for (const BackwardLog::Row& row : log.rows) {
    timing.gaps.push_back(rounded(row.gap));
  }
  timing.backward = sum_of(timing.gaps);
  timing.forward = rounded(timing.backward / 2);
  timing.source += (timing.source.empty() ? "" : "; ") + std::string("forward is half of backward");
  std::size_t padded = 0;
  for (const BackwardLog::Row& row : log.rows) {
    padded += row.bytes % sizeof(float) == 0 ? 0 : 1;
  }
  run.notes = {
      std::to_string(log.rows.size()) + " gradients, " + to_string(run.profile.workload.gradient_bytes()) +
          " in fp32, made in " + to_string(timing.backward),
      "the log does not time forward: it is written as half of backward, which computes two products "
      "for one"};
  if (padded > 0) {
    run.notes.push_back(counted(padded, "gradient") +
                        " not of a whole number of fp32 elements, which have 4 bytes: rounded up to one");
  }
  run.profile.timings = {std::move(timing)};
  return run;
}

}  // namespace breakeven
