// What the run showed: each row in read passes over its own vector, worst first against the targets.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/group.h"
#include "bench/targets.h"

namespace breakeven::bench {

/// Of the repetitions.
struct Measured {
  double seconds = 0;            ///< median
  std::optional<double> spread;  ///< coefficient of variation; nothing of a single repetition
  std::optional<double> rate;    ///< bytes of the gradient that were read or written, a second
};

class Report {
 public:
  /// Specs as the rows have them.
  explicit Report(std::vector<Target> targets) : targets_(std::move(targets)) {}

  void add(const Subject& subject, const Measured& measured);
  /// A benchmark of the model.
  void add(const std::string& name, const Measured& measured) { model_.emplace_back(name, measured); }
  [[nodiscard]] std::string text() const;

 private:
  struct Entry {
    Subject subject;
    Measured measured;
  };
  /// An entry, or what follows from several, beside its read pass.
  struct Line {
    Subject subject;
    Measured measured;
    double ratio = 0;     ///< to the read pass; 0: there was none
    double speed_up = 0;  ///< of the most threads; 0: not measured
    const Target* target = nullptr;
  };
  [[nodiscard]] const Measured* find(const Subject& subject) const;
  [[nodiscard]] std::optional<Measured> derived(const Subject& subject) const;
  [[nodiscard]] Line line(const Subject& subject, const Measured& measured) const;
  [[nodiscard]] std::vector<Line> lines() const;

  [[nodiscard]] std::string yardstick_text() const;
  [[nodiscard]] static std::string target_text(std::vector<Line> lines);
  [[nodiscard]] static std::string overview_text(const std::vector<Line>& lines);
  [[nodiscard]] static std::string peer_text(const std::vector<Line>& lines);
  [[nodiscard]] std::string model_text() const;
  [[nodiscard]] std::string noise_text() const;

  std::vector<Target> targets_;
  std::vector<Entry> entries_;
  std::size_t most_threads_ = 0;
  std::vector<std::pair<std::string, Measured>> model_;
};

}  // namespace breakeven::bench
