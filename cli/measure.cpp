// `breakeven measure`: times this machine's kernels and writes a codec profile.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <stdexcept>

#include "cli/app.h"
#include "cli/doors.h"
#include "cli/machine.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "compressors/simd/target.h"
#include "model/error.h"
#include "profiles/grid.h"
#include "profiles/option_values.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

constexpr const char* kElements = "1024,65536,1048576,16777216";

[[noreturn]] void refuse(std::string wrong, std::string expected) {
  throw Error(Fault::value, "measure", std::move(wrong), std::move(expected));
}

std::vector<std::size_t> elements_of(const Request& request) {
  std::set<std::size_t> rising;
  for (const std::string& text : expand_list("elements", request.get("elements", kElements))) {
    rising.insert(static_cast<std::size_t>(option_value(*option_rule("elements"), text)));
  }
  return {rising.begin(), rising.end()};
}

/// Whether it has code and something to do: a scheme that sends everything as it is has nothing to time.
bool can_be_timed(const Scheme& scheme) {
  if (!has_code(scheme)) {
    return false;
  }
  constexpr std::size_t kProbe = 65536;
  const Plan plan = scheme.make(Params(scheme.params, {}))->plan(timed_message(kProbe), 1);
  return std::any_of(plan.begin(), plan.end(), [](const Round& round) {
    return round.encode.elements > 0 || round.decode.elements > 0;
  });
}

Candidate named(const Context& context, const std::string& spec) {
  try {
    Candidate candidate = context.registry.make(spec);
    if (candidate.encode) {
      refuse("\"" + candidate.spec + "\" states its times", "\"" + candidate.plain_spec + "\"");
    }
    const std::vector<Shape> probe = timed_message(65536);
    if (candidate.compressor->kernel(probe, Worker{}) == nullptr) {
      refuse("\"" + candidate.plain_spec + "\" is described only: there is no code to time",
             "a scheme with code (list schemes); times from elsewhere go into a codec profile, or "
             "encode=TIME,decode=TIME");
    }
    return candidate;
  } catch (const Error& error) {
    throw error.fault() == Fault::file || error.where() == "measure" ? error
                                                                     : error.inside("measure", Fault::value);
  }
}

std::vector<Candidate> candidates(const Context& context) {
  std::vector<Candidate> all;
  for (const std::string& spec : context.request.arguments) {
    all.push_back(named(context, spec));
    const std::string& plain = all.back().plain_spec;
    if (std::count_if(all.begin(), all.end(),
                      [&](const Candidate& other) { return other.plain_spec == plain; }) > 1) {
      refuse("\"" + plain + "\" is given twice", "each scheme once");
    }
  }
  if (context.request.arguments.empty()) {
    for (const auto& [name, scheme] : context.registry.all()) {
      if (can_be_timed(scheme)) {
        all.push_back(context.registry.make(name));
      }
    }
  }
  return all;
}

void check_memory(const std::vector<Candidate>& all, std::size_t most_elements) {
  const std::optional<Bytes> available = available_memory();
  for (const Candidate& candidate : all) {
    const Bytes needed = timing_memory(*candidate.compressor, most_elements);
    if (available && needed > *available) {
      throw Error(Fault::value, "--elements",
                  fmt::format("{} elements of {} take about {}, and {} are free", grouped(most_elements),
                              candidate.plain_spec, to_string(needed), to_string(*available)),
                  "smaller messages");
    }
  }
}

/// What sends less than there is and counts nothing of it as coded, or more than there is, would give a curve
/// that says nothing.
void check_count(const Candidate& candidate, std::size_t elements) {
  const std::vector<Shape> message = timed_message(elements);
  double most = 0;
  Bytes sent;
  for (const Round& round : candidate.compressor->plan(message, 1)) {
    most = std::max({most, round.encode.elements, round.decode.elements});
    sent += round.payload;
  }
  const auto all = static_cast<double>(elements);
  if (most > all || (most <= 0 && sent < bytes(message))) {
    throw Error(Fault::file, "measure",
                fmt::format("the plan of {} counts {} of {} elements as coded", candidate.plain_spec,
                            plain(most), plain(all)),
                "more than 0, and no more than there are");
  }
}

Measured time_one(const Candidate& candidate, std::size_t elements, const MeasureOptions& options) {
  Measured one;
  one.scheme = candidate.plain_spec;
  try {
    CodecTimer timer(*candidate.compressor, elements, options.threads, options.kind);
    one.warm = timer.time(options.repeats, false);
    one.cold = timer.time(options.cold_repeats(), true);
  } catch (const std::invalid_argument& error) {  // payloads that do not fit their exchange
    throw Error(Fault::file, candidate.plain_spec, error.what(),
                "what its plan says (breakeven check " + candidate.plain_spec + ")");
  } catch (const Error& error) {
    throw error.inside(candidate.plain_spec, error.fault());
  }
  return one;
}

std::vector<Measured> measure_all(const Context& context, const std::vector<Candidate>& all,
                                  const MeasureOptions& options) {
  const std::vector<std::size_t> sizes = elements_of(context.request);
  check_memory(all, sizes.back());
  std::vector<Measured> rows;
  std::vector<std::string> words;
  {
    Progress progress(context);
    std::size_t done = 0;
    for (const Candidate& candidate : all) {
      const std::size_t before = rows.size();
      for (const std::size_t elements : sizes) {
        progress.say(fmt::format("{}, {} elements ({} of {})", candidate.plain_spec, grouped(elements),
                                 ++done, all.size() * sizes.size()));
        check_count(candidate, elements);
        Measured one = time_one(candidate, elements, options);
        if (one.warm.elements <= 0) {
          words.push_back(candidate.plain_spec + " sends " + grouped(elements) +
                          " elements as they are: no point there");
        } else if (rows.size() > before && one.warm.elements <= rows.back().warm.elements) {
          words.push_back(candidate.plain_spec + " codes no more of " + grouped(elements) +
                          " elements than of fewer: no point there");
        } else {
          rows.push_back(std::move(one));
        }
      }
      if (rows.size() == before && !context.request.arguments.empty()) {
        refuse("\"" + candidate.plain_spec + "\" codes nothing of such messages",
               "a scheme that does, or larger --elements");
      }
    }
  }
  if (rows.empty()) {
    refuse("no scheme codes such messages", "larger --elements");
  }
  for (const std::string& word : words) {
    warn(context, word);
  }
  return rows;
}

MeasureOptions options_of(const Request& request) {
  constexpr std::size_t kMostThreads = 1024, kMostRepeats = 100'000;
  MeasureOptions options;
  options.threads = count_of(request, "threads", 1, kMostThreads);
  options.repeats = count_of(request, "repeats", TimingOptions{}.repeats, kMostRepeats);
  options.kind =
      request.get("gradients", "normal") == "normal" ? GradientKind::normal : GradientKind::heavy_tailed;
  options.cold = request.has("cold");
  options.name = request.get("name", "measured");
  options.device = request.get("device", "cpu");
  return options;
}

/// How much something else seems to have taken part: of times that were disturbed more often than not only
/// the fastest tells.
double unrest(const CodecTime& time) {
  return std::max({time.spread, time.encode / time.least_encode - 1, time.decode / time.least_decode - 1});
}

void tell(const Context& context, const std::vector<Measured>& rows, const MeasureOptions& options) {
  constexpr double kMuch = 0.2;
  if (!optimised()) {
    warn(context, "this program was built without optimisation: its times say nothing about its kernels");
  }
  const auto most = std::max_element(rows.begin(), rows.end(), [](const Measured& a, const Measured& b) {
    return unrest(a.warm) < unrest(b.warm);
  });
  if (const double much = unrest(most->warm); much > kMuch) {
    warn(context,
         fmt::format("times of {} vary by {} %: something else used this machine; more --repeats, or "
                     "a quiet moment",
                     most->scheme, significant(much * 100, 2)));
  }
  note(context,
       fmt::format("{}, {}, {}, gradients {}", cpu_model(), simd_target(), compiler(), name(options.kind)));
}

}  // namespace

int measure(const Context& context) {
  const Request& request = context.request;
  const MeasureOptions options = options_of(request);
  const std::vector<Candidate> all = candidates(context);
  const std::string path = request.get("output", "-");
  Output output(path, context.out);  // before the timing, which takes a while
  const std::vector<Measured> rows = measure_all(context, all, options);
  if (const std::string unknown = unknown_device(context.catalogue, options.device); !unknown.empty()) {
    warn(context, "--device: " + unknown);
  }
  tell(context, rows, options);
  const bool profile = !request.has("format") || request.format() == Format::json;
  if (profile && !request.has("quiet")) {
    context.err << measured_words(options)
                << to_text(measured_table(rows),
                           style_for(request.get("color", "auto"), context.environment.err_is_terminal,
                                     context.environment));
  }
  std::string text;
  switch (profile ? Format::json : request.format()) {
    case Format::json:
      text = write_codec(measured_profile(rows, options));
      break;
    case Format::table:
      text = measured_words(options) +
             to_text(measured_table(rows),
                     style_for(request.get("color", "auto"),
                               context.environment.out_is_terminal && path == "-", context.environment));
      break;
    case Format::jsonl:
      text = to_jsonl(measured_rows(rows));
      break;
    case Format::csv:
      text = to_csv(measured_rows(rows));
      break;
    case Format::markdown:
      text = to_markdown(measured_table(rows));
      break;
  }
  output.stream() << text;
  output.commit();
  return kAnswered;
}

}  // namespace breakeven::cli
