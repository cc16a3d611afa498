#include "compressors/trial/conformance.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "compressors/trial/team.h"

namespace breakeven {
namespace {

using Message = std::vector<Shape>;

/// "65537 elements", "257 x 256", "3 tensors of 1280 elements in all", with the type unless it is fp32.
std::string described(std::span<const Shape> message) {
  std::string text = std::to_string(elements(message)) + " elements";
  if (message.size() == 1 && !message.front().is_vector()) {
    text = std::to_string(message.front().rows) + " x " + std::to_string(message.front().cols);
  } else if (message.size() != 1) {
    text = std::to_string(message.size()) + " tensors of " + text + " in all";
  }
  const Element type = message.empty() ? Element::f32 : message.front().element;
  return text + (type == Element::f16 ? " in fp16" : type == Element::bf16 ? " in bf16" : "");
}

std::string of_workers(std::size_t workers) {
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

bool finite(GradientKind kind) {
  return kind != GradientKind::with_nan && kind != GradientKind::with_inf;
}

void check_amount(double value, const std::string& what, double least = 0) {
  if (!std::isfinite(value) || value < least) {
    throw Breach(what + " is " + exact(value));
  }
}

void check_work(const Work& work, double most_elements, const std::string& whose) {
  check_amount(work.touched.base(), "touched of " + whose);
  check_amount(work.flops, "flops of " + whose);
  check_amount(work.launches, "launches of " + whose);
  check_amount(work.elements, "elements of " + whose);
  if (work.elements > most_elements) {
    throw Breach("elements of " + whose + " is " + exact(work.elements) + ", more than twice the message's");
  }
  check_amount(work.repeats, "repeats of " + whose, 1);
  check_amount(work.known.value_or(Seconds{}).base(), "time of " + whose);
}

/// Empty where a kernel can send exactly what this round plans; else why not. A described scheme may plan
/// averages.
std::string impossible(const Round& round, std::size_t workers, std::size_t period) {
  const double payload = round.payload.base();
  const std::string sends = "plans to send " + exact(payload) + " bytes";
  const double whole = payload * static_cast<double>(period);
  if (whole != std::floor(whole)) {
    return sends + (period == 1 ? "" : " in each of " + std::to_string(period) + " steps");
  }
  const bool sums = round.exchange == Exchange::all_reduce || round.exchange == Exchange::push_pull ||
                    round.exchange == Exchange::reduce_scatter;
  if (sums && std::fmod(whole, size_of(round.element)) != 0) {
    return sends + " in a sum of elements of " + exact(size_of(round.element)) + " bytes";
  }
  const bool parts = round.exchange == Exchange::all_to_all || round.exchange == Exchange::reduce_scatter;
  if (parts && std::fmod(whole, static_cast<double>(workers)) != 0) {
    return sends + ", which do not part among " + of_workers(workers);
  }
  return {};
}

void check_round(const Round& round, std::span<const Shape> message) {
  const double most_elements = 2 * static_cast<double>(elements(message));  // padded to a power of two
  check_work(round.encode, most_elements, "encode");
  check_work(round.decode, most_elements, "decode");
  check_amount(round.payload.base(), "payload");
  check_amount(round.summed.value_or(Bytes{}).base(), "summed");
  if (round.payload == Bytes{} && round.exchange != Exchange::none) {
    throw Breach("plans to send nothing: such a round is left out");
  }
  if ((round.exchange == Exchange::tree_step) != (round.distance > 0)) {
    throw Breach("plans " + std::string(name(round.exchange)) + " of distance " +
                 std::to_string(round.distance));
  }
}

/// A measured curve is read at `elements`: without any, the kernel's work would cost nothing.
void check_curve(const Plan& plan) {
  const auto any = [&](auto holds) { return std::any_of(plan.begin(), plan.end(), holds); };
  if (any([](const Round& round) { return round.encode.touched > Bytes{}; }) &&
      !any([](const Round& round) { return round.encode.elements > 0 || round.decode.elements > 0; })) {
    throw Breach("has a kernel that works on memory, and elements of every encode and decode is 0");
  }
}

/// `where` says which round, when it throws.
void check_plan(const Compressor& compressor, std::span<const Shape> message, std::size_t workers,
                std::string& where) {
  const Plan plan = watched("plan", [&] { return compressor.plan(message, workers); });
  const std::string outside = where;
  const bool has_kernel =
      watched("kernel", [&] { return compressor.kernel(message, Worker{.workers = workers}); }) != nullptr;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    where = outside + ", round " + std::to_string(i + 1) + " of " + std::to_string(plan.size());
    check_round(plan[i], message);
    const std::string why = impossible(plan[i], workers, compressor.period());
    if (!why.empty() && has_kernel) {
      throw Breach(why);
    }
  }
  where = outside;
  if (has_kernel) {
    check_curve(plan);
  }
  check_amount(watched("state", [&] { return compressor.state(message, workers); }).base(), "state");
}

struct Case {
  const Message& message;
  std::size_t workers;
  GradientKind kind;

  [[nodiscard]] std::string where() const {
    return described(message) + ", " + of_workers(workers) + ", " + std::string(name(kind));
  }
};

/// What stays the same in a report of the same fault elsewhere.
std::string without_numbers(const std::string& text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [](char c) { return (c < '0' || c > '9') && c != '.' && c != 's'; });  // nor of "bytes" its s
  return kept;
}

class Examiner {
 public:
  Examiner(const Compressor& compressor, const ConformanceOptions& options)
      : compressor_(compressor), options_(options) {}

  Conformance examine() {
    try {
      const std::size_t period = watched("period", [&] { return compressor_.period(); });
      if (period == 0) {
        throw Breach("is 0");
      }
      steps_ = (std::max<std::size_t>(options_.steps, 1) + period - 1) / period * period;
    } catch (const Breach& breach) {
      report("period", breach.what());
      return result_;
    }
    for (const Message& message : options_.messages) {
      if (!enough()) {
        check_plans_and_kernels(message);
      }
    }
    if (result_.has_kernel && !lacking_.empty() && !options_.may_lack_kernels) {
      report(lacking_, "has no kernel, though others have");
    }
    return result_;
  }

 private:
  [[nodiscard]] bool enough() const { return result_.findings.size() >= options_.most_findings; }
  void report(const std::string& where, const std::string& wrong) {
    const auto alike = [&](const Finding& finding) {
      return without_numbers(finding.wrong) == without_numbers(wrong);
    };
    const auto found = std::find_if(result_.findings.begin(), result_.findings.end(), alike);
    if (found != result_.findings.end()) {
      ++found->times;
    } else if (!enough()) {
      result_.findings.push_back({where, wrong});
    }
  }
  void before(const std::string& where) const {
    if (options_.before) {
      options_.before(where);
    }
  }

  void check_plans_and_kernels(const Message& message) {
    std::vector<std::size_t> planned;  // for so many workers its plan is right
    for (const std::size_t workers : options_.workers) {
      if (plan_is_right(message, workers)) {
        planned.push_back(workers);
      }
      check_halves(message, workers);
    }
    for (const GradientKind kind : options_.kinds) {
      gradients_.clear();
      for (const std::size_t workers : planned) {
        if (!enough() && wanted(message, workers, kind)) {
          const bool has_kernel = check_case({message, workers, kind});
          result_.has_kernel = result_.has_kernel || has_kernel;
          if (!has_kernel && lacking_.empty()) {
            lacking_ = Case{message, workers, kind}.where();
          }
        }
      }
    }
  }

  /// Of a large message: every kind with two workers, every number of workers with the first two kinds.
  [[nodiscard]] bool wanted(const Message& message, std::size_t workers, GradientKind kind) const {
    const auto first = options_.kinds.begin();
    return elements(message) <= options_.small || workers == 2 ||
           std::find(first, options_.kinds.end(), kind) - first < 2;
  }

  bool plan_is_right(const Message& message, std::size_t workers) {
    ++result_.plans;
    std::string where = described(message) + ", " + of_workers(workers);
    before(where);
    try {
      check_plan(compressor_, message, workers, where);
      return true;
    } catch (const Breach& breach) {
      report(where, breach.what());
      return false;
    }
  }

  /// Gradients of 16 bits have plans; a kernel that takes them must keep to these.
  void check_halves(Message message, std::size_t workers) {
    for (const Element element : {Element::f16, Element::bf16}) {
      for (Shape& shape : message) {
        shape.element = element;
      }
      gradients_.clear();
      if (plan_is_right(message, workers) && elements(message) <= options_.small && elements(message) > 0) {
        check_case({message, workers, GradientKind::normal});
      }
    }
    gradients_.clear();
  }

  /// False where there is no kernel.
  bool check_case(const Case& what) {
    before(what.where());
    Team::Options options;
    const auto team = run(what, options);
    if (team == nullptr || !team->has_kernels()) {
      return team == nullptr;
    }
    ++result_.cases;
    const bool first = what.kind == options_.kinds.front();
    options.tight = true;
    if (run(what, options, team.get(), "another run with the same seed, in other memory,") == nullptr) {
      return true;
    }
    // Threads cost more to start than a small message to code.
    options = {.threads = 2};
    if (first || elements(what.message) > options_.small) {
      run(what, options, team.get(), "a run on 2 threads");
    }
    options = {.twice = true};
    if (first) {
      run(what, options);
    }
    return true;
  }

  /// Null where something was found.
  std::unique_ptr<Team> run(const Case& what, const Team::Options& options, const Team* as = nullptr,
                            const std::string& why = {}) {
    std::unique_ptr<Team> team;
    try {
      team = std::make_unique<Team>(compressor_, what.message, what.workers, options);
      for (std::size_t step = 0; team->has_kernels() && step < steps_; ++step) {
        team->step(gradients_of(what, step), finite(what.kind));
      }
      if (as != nullptr) {
        team->expect_as(*as, why);
      }
      return team;
    } catch (const Breach& breach) {
      const std::string how = options.threads > 1 ? ", 2 threads" : options.twice ? ", every call twice" : "";
      report(what.where() + how + (team == nullptr ? "" : team->where()), breach.what());
      return nullptr;
    }
  }

  /// Kept while only the number of workers changes: they take longer to make than to code.
  std::span<const std::vector<float>> gradients_of(const Case& what, std::size_t step) {
    gradients_.resize(std::max(gradients_.size(), step + 1));
    auto& by_rank = gradients_[step];
    while (by_rank.size() < what.workers) {
      by_rank.emplace_back(elements(what.message));
      fill_gradient(by_rank.back(), what.message, what.kind, 1000 * step + by_rank.size());
    }
    return std::span(by_rank).first(what.workers);
  }

  const Compressor& compressor_;
  const ConformanceOptions& options_;
  std::size_t steps_ = 1;
  std::string lacking_;                                     // the first case without a kernel
  std::vector<std::vector<std::vector<float>>> gradients_;  // of one message and kind, by step and rank
  Conformance result_;
};

/// As near to a square as rows x cols >= n allows.
Shape near_square(std::size_t n) {
  const auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  return {rows, (n + rows - 1) / rows};
}

}  // namespace

ConformanceOptions standard_conformance() {
  ConformanceOptions options;
  options.messages = {{},
                      {{0, 1}},
                      {{0, 1}, {33, 1}, {3, 5}, {1, 9}, {16, 8}},
                      {{256, 128}, {64, 147}, {128, 1}, {0, 7}, {2001, 1}, {32, 41}, {6, 6}}};
  for (const std::size_t n : std::initializer_list<std::size_t>{1, 7, 8, 33, 256, 65537}) {
    options.messages.push_back({{n, 1}});
    if (const Shape matrix = near_square(n); !matrix.is_vector()) {
      options.messages.push_back({matrix});
    }
  }
  return options;
}

Conformance check_conformance(const Compressor& compressor, const ConformanceOptions& options) {
  return Examiner(compressor, options).examine();
}

}  // namespace breakeven
