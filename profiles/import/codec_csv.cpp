// Reads this program's own plain form of kernel times: kernel,elements,encode_us,decode_us[,n].
#include <algorithm>
#include <map>

#include "model/error.h"
#include "profiles/import/codec.h"
#include "profiles/import/csv_table.h"
#include "profiles/import/median.h"
#include "profiles/import/run.h"
#include "profiles/limits.h"
#include "profiles/option_values.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

/// What was measured of one kernel at one size.
struct Sample {
  std::vector<Seconds> encode, decode;
  std::map<std::size_t, std::vector<Seconds>> together;  ///< decode of so many payloads, two or more

  /// What each further payload adds, by the most that were decoded together.
  [[nodiscard]] Seconds next() const {
    const auto& [payloads, times] = *together.rbegin();
    return (median_of(times) - median_of(decode)) / static_cast<double>(payloads - 1);
  }
};

struct TimedKernel {
  std::string spec;
  std::map<std::size_t, Sample> sizes;  ///< by elements
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& where, const CodecOptions& options)
      : table_(text, where, {"kernel", "elements", "encode_us", "decode_us", "n"},
               "kernel,elements,encode_us,decode_us"),
        where_(where),
        options_(options) {
    for (const char* needed : {"kernel", "elements", "encode_us", "decode_us"}) {
      table_.need(needed);
    }
  }

  ImportedCodec run() {
    while (table_.next()) {
      take_row();
    }
    if (kernels_.empty()) {
      table_.fail("there are no rows", "a row a kernel and size");
    }
    ImportedCodec result;
    CodecProfile& profile = result.codec;
    profile.name = options_.name;
    profile.source = options_.source.empty() ? "a table of kernel times" : options_.source;
    profile.summary = options_.summary.empty()
                          ? counted(kernels_.size(), "scheme") + ", from a table of times"
                          : options_.summary;
    for (const TimedKernel& kernel : kernels_) {
      profile.costs.push_back(costs_of(kernel, profile.source));
      const auto& sizes = kernel.sizes;
      result.notes.push_back(
          kernel.spec + ": " + counted(sizes.size(), "size") + ", " + std::to_string(sizes.begin()->first) +
          (sizes.size() == 1 ? "" : " to " + std::to_string(sizes.rbegin()->first)) + " elements" +
          (profile.costs.back().decode_next.points.empty()
               ? ""
               : ", with what each further payload adds to decode"));
    }
    return result;
  }

 private:
  void take_row() {
    const std::string spec = canonical();
    const std::size_t elements = table_.count("elements");
    const std::size_t payloads = table_.has("n") ? table_.count("n") : 1;
    if (elements == 0 || payloads == 0 || payloads > kMostPayloads) {
      table_.fail(elements == 0 ? "0 elements" : table_.cell("n") + " payloads", "1 or more");
    }
    auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                               [&](const TimedKernel& one) { return one.spec == spec; });
    if (kernel == kernels_.end()) {
      kernel = kernels_.insert(kernels_.end(), {spec, {}});
    }
    Sample& sample = kernel->sizes[elements];
    sample.encode.push_back(time("encode_us"));
    (payloads == 1 ? sample.decode : sample.together[payloads]).push_back(time("decode_us"));
  }

  [[nodiscard]] std::string canonical() const {
    const std::string& spec = table_.cell("kernel");
    if (spec.empty()) {
      table_.fail("a kernel has no name", "a scheme such as topk:ratio=1%");
    }
    try {
      return options_.canonical ? options_.canonical(spec) : spec;
    } catch (const Error& error) {
      throw error.inside(table_.place() + ": kernel", Fault::file);
    }
  }

  [[nodiscard]] Seconds time(const char* column) const {
    const double seconds = table_.number(column) * 1e-6;
    if (!(seconds > 0) || !can_be_stated(seconds)) {
      table_.fail(std::string(column) + " is " + table_.cell(column), "microseconds above 0");
    }
    return Seconds::of(seconds);
  }

  [[nodiscard]] CodecCosts costs_of(const TimedKernel& kernel, const std::string& source) const {
    CodecCosts costs;
    costs.scheme = kernel.spec;
    costs.device = options_.device;
    costs.origin = options_.origin;
    costs.source = source;
    for (const auto& [elements, sample] : kernel.sizes) {
      const auto size = static_cast<double>(elements);
      if (sample.decode.empty()) {
        throw Error(
            Fault::file, where_,
            kernel.spec + " has no decode of one payload of " + std::to_string(elements) + " elements",
            "a row with n = 1");
      }
      costs.encode.points.push_back({size, rounded(median_of(sample.encode))});
      costs.decode.points.push_back({size, rounded(median_of(sample.decode))});
      if (sample.together.empty()) {
        continue;
      }
      if (!(sample.next() > Seconds{})) {
        throw Error(Fault::file, where_,
                    kernel.spec + " decodes several payloads of " + std::to_string(elements) +
                        " elements no slower than one",
                    "times of n payloads in one go");
      }
      costs.decode_next.points.push_back({size, rounded(sample.next())});
    }
    return costs;
  }

  static constexpr std::size_t kMostPayloads = 1U << 20U;
  CsvTable table_;
  const std::string& where_;
  const CodecOptions& options_;
  std::vector<TimedKernel> kernels_;  ///< in the order of the file
};

}  // namespace

ImportedCodec import_codec_csv(std::string_view text, const std::string& where, const CodecOptions& options) {
  return Reader(text, where, options).run();
}

}  // namespace breakeven
