#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "bench/kernels.h"
#include "cli/table.h"
#include "model/units.h"

namespace breakeven::bench {
namespace {

constexpr double kNoisy = 0.1;

using cli::Screen;

std::string times(double ratio) {
  return ratio > 0 ? significant(ratio) + "x" : "-";
}
std::string percent(double share) {
  return significant(100 * share, 2) + " %";
}
std::string time_text(double seconds) {
  return to_string(Seconds::of(seconds));
}
std::string rate_text(const Measured& measured) {
  return measured.rate ? significant(*measured.rate / 1e9) : "-";
}
/// Marked where it is not to be trusted.
std::string noisy_time(const Measured& measured) {
  return time_text(measured.seconds) + (measured.spread.value_or(0) > kNoisy ? " ~" : "");
}
std::string spread_text(const Measured& measured) {
  return measured.spread ? percent(*measured.spread) : "-";
}
std::string table(const Screen& screen) {
  return screen.rows.empty() ? std::string() : to_text(screen, cli::Style(false)) + "\n";
}
std::vector<Screen::Cell> cells(std::vector<std::string> texts) {
  std::vector<Screen::Cell> result;
  for (std::string& text : texts) {
    result.push_back(Screen::Cell{std::move(text)});
  }
  return result;
}

}  // namespace

void Report::add(const Subject& subject, const Measured& measured) {
  entries_.push_back({subject, measured});
  most_threads_ = std::max(most_threads_, subject.threads);
}

const Measured* Report::find(const Subject& subject) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.subject == subject; });
  return found == entries_.end() ? nullptr : &found->measured;
}

/// decode_next: what each payload after the first adds; both: an encode and a decode.
std::optional<Measured> Report::derived(const Subject& subject) const {
  Subject one = subject;
  one.what = "decode";
  Subject other = one;
  if (subject.what == "both") {
    other.what = "encode";
  } else {
    other.workers = kGathered;
  }
  const Measured* a = find(one);
  const Measured* b = find(other);
  if (a == nullptr || b == nullptr) {
    return std::nullopt;
  }
  Measured result;
  result.seconds = subject.what == "both" ? a->seconds + b->seconds
                                          : std::max(0.0, b->seconds - a->seconds) / (kGathered - 1);
  if (a->spread && b->spread) {
    result.spread = std::max(*a->spread, *b->spread);
  }
  return result;
}

Report::Line Report::line(const Subject& subject, const Measured& measured) const {
  Line result{.subject = subject, .measured = measured};
  Subject read = subject;
  read.what = "read";
  read.workers = 1;
  if (const Measured* pass = find(read)) {
    result.ratio = measured.seconds / pass->seconds;
  }
  Subject threaded = subject;
  threaded.threads = most_threads_;
  if (threaded.threads > subject.threads) {
    const Measured* timed = find(threaded);
    const std::optional<Measured> more =
        timed != nullptr ? std::optional<Measured>(*timed) : derived(threaded);
    result.speed_up = more && more->seconds > 0 ? measured.seconds / more->seconds : 0;
  }
  for (const Target& target : targets_) {
    if (target.what == subject.what && target.spec == subject.spec && target.elements == subject.elements &&
        subject.threads == 1) {
      result.target = &target;
    }
  }
  return result;
}

std::vector<Report::Line> Report::lines() const {
  std::vector<Line> result;
  for (const Entry& entry : entries_) {
    Subject subject = entry.subject;
    if (is_yardstick(subject)) {
      continue;
    }
    if (subject.workers == 1) {
      result.push_back(line(subject, entry.measured));
    }
    if (subject.what != "decode") {
      continue;
    }
    subject.what = subject.workers > 1 ? "decode_next" : "both";
    subject.workers = 1;
    if (const std::optional<Measured> measured = derived(subject)) {
      const Line computed = line(subject, *measured);
      if (subject.what == "decode_next" || computed.target != nullptr) {
        result.push_back(computed);
      }
    }
  }
  return result;
}

std::string Report::yardstick_text() const {
  Screen screen;
  screen.columns = {{"yardstick"}, {"elements", true}, {"threads", true}, {"time", true}, {"GB/s", true}};
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::vector<Measured>> all;
  for (const Entry& entry : entries_) {
    const Subject& subject = entry.subject;
    if (is_yardstick(subject)) {
      all[{subject.elements, subject.threads, subject.what}].push_back(entry.measured);
    }
  }
  for (auto& [key, measured] : all) {
    const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
    std::nth_element(measured.begin(), middle, measured.end(),
                     [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
    screen.rows.push_back(
        cells({std::get<2>(key), std::to_string(std::get<0>(key)), std::to_string(std::get<1>(key)),
               time_text(middle->seconds), rate_text(*middle)}));
  }
  return table(screen);
}

std::string Report::target_text(std::vector<Line> lines) {
  std::erase_if(lines, [](const Line& line) { return line.target == nullptr || line.ratio == 0; });
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.ratio / a.target->ratio > b.ratio / b.target->ratio;
  });
  Screen screen;
  screen.columns = {{"against the targets"}, {"scheme"},        {"elements", true}, {"gradient"},
                    {"time", true},          {"GB/s", true},    {"reads", true},    {"target", true},
                    {"off", true},           {"threads", true}, {"cv", true},       {"best other"}};
  for (const Line& line : lines) {
    const Target& target = *line.target;
    const double off = line.ratio / target.ratio - 1;
    std::string peer = "-";
    if (target.peer_ratio > 0) {
      peer =
          target.peer + " " + times(target.peer_ratio) + (line.ratio > target.peer_ratio ? " is faster" : "");
    }
    screen.rows.push_back(cells(
        {target.what, target.spec, std::to_string(line.subject.elements), line.subject.kind,
         time_text(line.measured.seconds), rate_text(line.measured), times(line.ratio), times(target.ratio),
         off > 0 ? "+" + percent(off) : "met", times(line.speed_up), spread_text(line.measured), peer}));
  }
  return table(screen);
}

/// One row a side of a scheme, its sizes side by side; the most read passes at the largest size first.
std::string Report::overview_text(const std::vector<Line>& lines) {
  using Column = std::pair<std::size_t, std::string>;  // elements, kind
  using Key = std::tuple<std::string, std::string, std::size_t>;
  std::map<Column, bool> columns;
  std::map<Key, std::map<Column, const Line*>> rows;
  for (const Line& line : lines) {
    const Subject& subject = line.subject;
    const bool shown = std::any_of(lines.begin(), lines.end(), [&](const Line& other) {
      return other.subject.threads < subject.threads && other.subject.what == subject.what &&
             other.subject.spec == subject.spec;
    });
    if (subject.what == "peer" || subject.what == "both" || subject.what == "majority" || line.ratio == 0 ||
        shown) {
      continue;
    }
    const Column column{subject.elements, subject.kind};
    columns[column] = true;
    rows[{subject.what, subject.spec, subject.threads}][column] = &line;
  }
  Screen screen;
  screen.columns = {{"in read passes"}, {"scheme"}};
  for (const auto& [column, used] : columns) {
    screen.columns.push_back(
        {std::to_string(column.first) + (column.second == "normal" ? "" : " " + column.second), true});
  }
  for (const char* title : {"time", "GB/s", "threads"}) {
    screen.columns.push_back({title, true});
  }
  std::vector<std::pair<double, std::vector<Screen::Cell>>> sorted;
  for (const auto& [key, row] : rows) {
    const Line& largest = *row.rbegin()->second;
    std::vector<std::string> texts = {std::get<0>(key), std::get<1>(key)};
    if (std::get<2>(key) > 1) {
      texts.back() += " (" + std::to_string(std::get<2>(key)) + " threads)";
    }
    for (const auto& [column, used] : columns) {
      const auto found = row.find(column);
      texts.push_back(found == row.end() ? "-" : times(found->second->ratio));
    }
    texts.push_back(noisy_time(largest.measured));
    texts.push_back(rate_text(largest.measured));
    texts.push_back(times(largest.speed_up));
    sorted.emplace_back(largest.ratio, cells(std::move(texts)));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [ratio, row] : sorted) {
    screen.rows.push_back(std::move(row));
  }
  return table(screen);
}

std::string Report::peer_text(const std::vector<Line>& lines) {
  Screen screen;
  screen.columns = {
      {"other implementations"}, {"elements", true}, {"time", true}, {"reads", true}, {"cv", true}};
  for (const Line& line : lines) {
    if (line.subject.what == "peer") {
      screen.rows.push_back(
          cells({line.subject.spec, std::to_string(line.subject.elements), time_text(line.measured.seconds),
                 times(line.ratio), spread_text(line.measured)}));
    }
  }
  return table(screen);
}

std::string Report::model_text() const {
  Screen screen;
  screen.columns = {{"model"}, {"time", true}, {"target", true}, {"off", true}, {"cv", true}};
  for (const auto& [name, measured] : model_) {
    std::string wanted = "-", off = "-";
    for (const TimeTarget& target : time_targets()) {
      if (target.name == name) {
        wanted = time_text(target.seconds);
        const double by = measured.seconds / target.seconds - 1;
        off = by > 0 ? "+" + percent(by) : "met";
      }
    }
    screen.rows.push_back(cells({name, time_text(measured.seconds), wanted, off, spread_text(measured)}));
  }
  return table(screen);
}

std::string Report::noise_text() const {
  std::size_t noisy = 0;
  for (const Entry& entry : entries_) {
    noisy += entry.measured.spread.value_or(0) > kNoisy ? 1U : 0U;
  }
  if (noisy == 0) {
    return {};
  }
  return std::to_string(noisy) + " of " + std::to_string(entries_.size()) +
         " rows vary by more than 10 % (cv): read those again on a quieter machine.\n";
}

std::string Report::text() const {
  const std::vector<Line> all = lines();
  return model_text() + yardstick_text() + peer_text(all) + overview_text(all) + target_text(all) +
         noise_text();
}

}  // namespace breakeven::bench
