#include "profiles/import/google_benchmark.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "profiles/import/benchmark_names.h"
#include "profiles/import/median.h"
#include "profiles/import/run.h"
#include "profiles/json_reader.h"
#include "profiles/limits.h"
#include "profiles/option_values.h"
#include "profiles/read_fields.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

/// Half the range between the quartiles, as a share of the median.
double spread_of(const std::vector<double>& sorted) {
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto left = static_cast<std::size_t>(place);
    const std::size_t right = std::min(left + 1, sorted.size() - 1);
    return sorted[left] + (sorted[right] - sorted[left]) * (place - static_cast<double>(left));
  };
  return (at(0.75) - at(0.25)) / 2 / median_of(sorted);
}

/// All rows of one benchmark.
struct Sample {
  std::string run;
  std::optional<double> median, deviation;  ///< as the file states them
  std::vector<double> times;                ///< of the repetitions, sorted

  [[nodiscard]] bool has_time() const { return median || !times.empty(); }
  [[nodiscard]] double time() const { return median ? *median : median_of(times); }
  [[nodiscard]] double spread() const {
    return deviation ? *deviation : times.empty() ? 0 : spread_of(times);
  }
};

/// One scheme's benchmarks: by side, then by elements.
struct TimedScheme {
  std::string spec;
  std::array<std::map<double, Sample>, 3> sides;
};

class Import {
 public:
  Import(const std::string& where, const ImportOptions& options)
      : where_(where), options_(options), names_(options.patterns, options.canonical) {}

  ImportedCodec run(const Json& root) {
    const Json rows = root.at("benchmarks", "what Google Benchmark writes with --benchmark_format=json");
    for (const Json& row : rows.list(1)) {
      add(row);
    }
    check();
    ImportedCodec result;
    CodecProfile& profile = result.codec;
    profile.name = options_.name;
    profile.source = options_.source.empty() ? "Google Benchmark" : options_.source;
    profile.summary = options_.summary.empty()
                          ? counted(schemes_.size(), "scheme") + ", timed with Google Benchmark"
                          : options_.summary;
    for (const TimedScheme& scheme : schemes_) {
      profile.costs.push_back(costs_of(scheme, profile.source));
    }
    if (const auto context = root.find("context")) {
      read_context(*context, profile);
    }
    profile.conditions.emplace_back("threads", std::to_string(options_.threads));
    profile.conditions.emplace_back("time", options_.cpu_time ? "CPU" : "real");
    note_rows();
    result.notes = std::move(notes_);
    return result;
  }

 private:
  void add(const Json& row) {
    const auto [run, aggregate] = run_and_aggregate(row);
    const auto of = names_.read(run);
    if (!of) {
      others_.insert(run);
      return;
    }
    const auto threads = row.find("threads");
    if (failed(row)) {
      leave_out("that failed or skipped themselves", run);
    } else if (!of->normal) {
      leave_out("of other gradients than normal ones", run);
    } else if (of->threads.value_or(threads ? threads->count() : 1) != options_.threads) {
      leave_out("of another number of threads", run);
    } else if (of->elements == 0) {
      leave_out("of no elements", run);
    } else if (aggregate.empty() || aggregate == "median" || aggregate == "cv") {
      NamedBenchmark checked = *of;
      checked.spec = canonical(row, run, of->spec);
      take(row, sample_of(row, checked, run), aggregate);
    }
  }

  [[nodiscard]] std::string canonical(const Json& row, const std::string& run,
                                      const std::string& spec) const {
    try {
      return options_.canonical ? options_.canonical(spec) : spec;
    } catch (const Error& error) {
      throw error.inside(row.place() + ": " + quote(run), Fault::file);
    }
  }

  /// The benchmark's name without what its aggregates add to it, and the aggregate. Older files tell by the
  /// name's end alone.
  static std::pair<std::string, std::string> run_and_aggregate(const Json& row) {
    const std::string& name = row.at("name", "the benchmark's name").text();
    const auto run = row.find("run_name");
    const auto stated = row.find("aggregate_name");
    std::string aggregate = stated ? stated->text() : "";
    if (!stated && !row.find("run_type")) {
      for (const char* known : {"mean", "median", "stddev", "cv", "BigO", "RMS"}) {
        aggregate = name.ends_with("_" + std::string(known)) ? known : aggregate;
      }
    }
    if (run || aggregate.empty() || !name.ends_with("_" + aggregate)) {
      return {run ? run->text() : name, aggregate};
    }
    return {name.substr(0, name.size() - aggregate.size() - 1), aggregate};
  }

  /// Whether the benchmark gave up, which versions of the library say in different ways.
  static bool failed(const Json& row) {
    const auto says = [&](const char* key) {
      const auto found = row.find(key);
      return found && !(found->is(JsonValue::Kind::boolean) && !found->flag());
    };
    return says("error_occurred") || says("skipped");
  }

  Sample& sample_of(const Json& row, const NamedBenchmark& of, const std::string& run) {
    const auto [index, is_new] = index_.try_emplace(of.spec, schemes_.size());
    if (is_new) {
      schemes_.push_back({of.spec, {}});
    }
    Sample& sample = schemes_[index->second].sides[static_cast<std::size_t>(of.side)][of.elements];
    if (sample.run.empty()) {
      sample.run = run;
    } else if (sample.run != run) {
      row.fail(quote(sample.run) + " and " + quote(run) + " both time " + std::string(name(of.side)) +
                   " of " + of.spec + " for " + plain(of.elements) + " elements",
               "one of them (--benchmark_filter)");
    }
    return sample;
  }

  void take(const Json& row, Sample& sample, const std::string& aggregate) const {
    const Json value = row.at(options_.cpu_time ? "cpu_time" : "real_time", "a time");
    if (aggregate == "cv") {  // a share, whatever the row's unit
      sample.deviation = value.number();
      if (*sample.deviation < 0) {
        value.fail("\"" + value.scalar() + "\" must not be negative", "a relative deviation");
      }
      return;
    }
    const double seconds = seconds_of(row, value);
    if (aggregate.empty()) {
      sample.times.insert(std::upper_bound(sample.times.begin(), sample.times.end(), seconds), seconds);
    } else if (sample.median) {
      row.fail("the median of " + quote(sample.run) + " is there twice", "each benchmark once");
    } else {
      sample.median = seconds;
    }
  }

  static double seconds_of(const Json& row, const Json& value) {
    constexpr std::array<double, 4> in_a_second = {1, 1e3, 1e6, 1e9};
    const auto unit = row.find("time_unit");
    const std::size_t index = unit ? read_choice(*unit, {"s", "ms", "us", "ns"}, "unit of time") : 3;
    const double seconds = value.number() / in_a_second[index];
    if (!(seconds > 0) || !can_be_stated(seconds)) {
      value.fail("\"" + value.scalar() + "\" is no time that a benchmark takes", "a time above 0");
    }
    return seconds;
  }

  void check() const {
    if (const auto unused = names_.unused()) {
      if (!unused->taken_by.empty()) {
        throw Error(Fault::value, quote(unused->given),
                    "gets no benchmark: " + quote(unused->taken_by) + " before it matches them too",
                    "the narrower pattern first");
      }
      throw Error(Fault::value, quote(unused->given), "matches no benchmark of " + where_, other_names());
    }
    if (schemes_.empty() && !left_out_.empty()) {
      std::string left_out;
      for (const std::string& line : left_out_lines()) {
        left_out += (left_out.empty() ? "" : "; ") + line;
      }
      throw Error(Fault::file, where_,
                  "times no scheme with " + counted(options_.threads, "thread") + " (" + left_out + ")",
                  "benchmarks that can be taken");
    }
    if (schemes_.empty()) {
      throw Error(Fault::file, where_, "times no scheme",
                  "benchmarks named encode/SPEC/ELEMENTS, or a pattern for " + other_names());
    }
    for (const TimedScheme& scheme : schemes_) {
      for (const CodecSide side : {CodecSide::encode, CodecSide::decode}) {
        const auto& samples = scheme.sides[static_cast<std::size_t>(side)];
        if (std::none_of(samples.begin(), samples.end(),
                         [](const auto& entry) { return entry.second.has_time(); })) {
          const std::string missing(name(side));
          throw Error(Fault::file, where_, "has no " + missing + " times of " + scheme.spec,
                      "benchmarks named " + missing + "/" + scheme.spec + "/ELEMENTS, or a pattern for them");
        }
      }
    }
  }

  CodecCosts costs_of(const TimedScheme& scheme, const std::string& source) {
    CodecCosts costs;
    costs.scheme = scheme.spec;
    costs.device = options_.device;
    costs.origin = options_.origin;
    costs.source = source;
    const std::array<Curve*, 3> curves = {&costs.encode, &costs.decode, &costs.decode_next};
    double spread = 0;
    std::string note;
    for (std::size_t side = 0; side < curves.size(); ++side) {
      std::vector<Curve::Point>& points = curves[side]->points;
      for (const auto& [elements, sample] : scheme.sides[side]) {
        if (sample.has_time()) {
          points.push_back({elements, rounded(Seconds::of(sample.time()))});
          spread = std::max(spread, sample.spread());
        }
      }
      if (!points.empty()) {
        note += (note.empty() ? ": " : ", ") + std::string(name(static_cast<CodecSide>(side))) + " of " +
                plain(points.front().elements) +
                (points.size() == 1 ? "" : " to " + plain(points.back().elements)) + " elements (" +
                counted(points.size(), "size") + ")";
      }
    }
    notes_.push_back(scheme.spec + note);
    // Two digits say all that a spread can; a profile can state 100 % at most.
    costs.spread = parse_fraction(significant(std::min(spread, 1.0) * 100, 2) + "%");
    costs.spread = can_be_stated(costs.spread) ? costs.spread : 0;
    return costs;
  }

  /// A profile is there to be handed on: neither the host's name nor the program's path goes into it.
  void read_context(const Json& context, CodecProfile& profile) {
    constexpr std::array<std::array<const char*, 2>, 7> taken = {{{"machine", "machine"},
                                                                  {"date", "date"},
                                                                  {"num_cpus", "cpus"},
                                                                  {"mhz_per_cpu", "MHz"},
                                                                  {"compiler", "compiler"},
                                                                  {"simd", "simd"},
                                                                  {"library_version", "library"}}};
    for (const auto& [key, condition] : taken) {
      if (const auto found = context.find(key); found && !found->is_empty_text()) {
        constexpr std::size_t kDay = 10;  // "2026-11-30": the hour is nobody's business
        const std::string& text = found->scalar();
        profile.conditions.emplace_back(condition,
                                        std::string_view(key) == "date" ? text.substr(0, kDay) : text);
      }
    }
    if (text_or_empty(context, "library_build_type") == "debug") {
      notes_.emplace_back("the benchmark library is a debug build");
    }
    const auto scaling = context.find("cpu_scaling_enabled");
    if (scaling && scaling->flag()) {
      notes_.emplace_back("the CPU's frequency was not fixed");
    }
  }

  void leave_out(const std::string& why, const std::string& run) {
    auto& [count, example] = left_out_[why];
    example = count++ == 0 ? run : example;
  }

  [[nodiscard]] std::vector<std::string> left_out_lines() const {
    std::vector<std::string> lines;
    for (const auto& [why, which] : left_out_) {
      lines.push_back("left out: " + counted(which.first, "row") + " " + why + ", such as " +
                      quote(which.second));
    }
    return lines;
  }

  void note_rows() {
    for (std::string& line : left_out_lines()) {
      notes_.push_back(std::move(line));
    }
    if (!others_.empty()) {
      notes_.push_back("not understood: " + counted(others_.size(), "name") + ", such as " +
                       quote(*others_.begin()));
    }
  }

  [[nodiscard]] std::string other_names() const {
    std::string text;
    std::size_t shown = 0;
    for (const std::string& other : others_) {
      constexpr std::size_t kMostShown = 3;
      if (shown++ < kMostShown) {
        text += (text.empty() ? "names such as " : ", ") + quote(other);
      }
    }
    return text.empty() ? "a name that is there" : text;
  }

  const std::string& where_;
  const ImportOptions& options_;
  BenchmarkNames names_;
  std::vector<TimedScheme> schemes_;                                     // in the order of the file
  std::map<std::string, std::size_t> index_;                             // spec -> place among them
  std::map<std::string, std::pair<std::size_t, std::string>> left_out_;  // why -> how many, the first one
  std::set<std::string> others_;                                         // names that are not understood
  std::vector<std::string> notes_;
};

}  // namespace

ImportedCodec import_google_benchmark(std::string_view json, const std::string& where,
                                      const ImportOptions& options) {
  const JsonDocument document(json, where);
  return Import(where, options).run(document.root());
}

}  // namespace breakeven
