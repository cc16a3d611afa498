// Horovod's timeline: one row a tensor, on which its waiting and its exchanges begin and end.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "model/error.h"
#include "profiles/import/run.h"
#include "profiles/import/trace_events.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

constexpr double kMostElements = 1e15;

/// One all-reduce of one tensor.
struct Turn {
  double ready = 0;                     ///< its worker asked for it: the gradient exists
  double begin = 0, end = 0;            ///< ALLREDUCE, queues and copies included
  double wire_begin = 0, wire_end = 0;  ///< on the network
};
struct Row {
  std::string name, dtype, shape;
  struct Open {
    std::string activity;
    double begin = 0;
  };
  std::vector<Open> open;  // B events without their E: those do not say what they end
  Turn turn;
  std::vector<Turn> turns;
};

class Timeline {
 public:
  explicit Timeline(std::string where) : where_(std::move(where)) {}
  void add(const TraceEvent& event);
  ImportedRun finish(const RunOptions& options);

 private:
  struct Gradient {
    const Row* row = nullptr;
    std::vector<std::size_t> dims;
    std::size_t elements = 1;
    Element element = Element::f32;

    [[nodiscard]] double bytes() const { return static_cast<double>(elements) * size_of(element); }
  };
  struct Times {
    double first = 0, last = 0;  // gradients
    double end = 0;              // of the last all-reduce
  };
  [[noreturn]] void fail(const std::string& wrong, const std::string& expected) const {
    throw Error(Fault::file, where_, wrong, expected);
  }
  void end(Row& row, const TraceEvent& event);
  [[nodiscard]] std::vector<std::size_t> dims_of(const Row& row) const;
  [[nodiscard]] std::vector<Gradient> gradients(ImportedRun& run) const;
  [[nodiscard]] std::optional<BytesPerSecond> rate(const std::vector<Gradient>& gradients,
                                                   std::size_t steps) const;

  std::string where_;
  std::map<std::string, Row, std::less<>> rows_;
  std::set<std::string, std::less<>> ranks_;
};

void Timeline::add(const TraceEvent& event) {
  const auto found = rows_.find(event.process);
  Row& row = found == rows_.end() ? rows_[std::string(event.process)] : found->second;
  if (event.phase == 'M' && event.name == "process_name") {
    row.name = event.args.name;
  } else if (event.phase == 'B') {
    if (event.name == "NEGOTIATE_ALLREDUCE") {
      row.turn = {};
      row.turn.ready = event.begin;
    } else if (event.name == "ALLREDUCE") {
      row.turn.begin = event.begin;
    }
    row.open.push_back({std::string(event.name), event.begin});
  } else if (event.phase == 'E') {
    end(row, event);
  } else if (event.phase == 'X' && !row.open.empty() && row.open.back().activity == "NEGOTIATE_ALLREDUCE") {
    ranks_.emplace(event.name);  // this rank is ready
  }
}

void Timeline::end(Row& row, const TraceEvent& event) {
  if (row.open.empty()) {
    fail("something ends at " + exact(event.begin) + " us on row " + quote(row.name) + " that did not begin",
         "B and E events in pairs");
  }
  const Row::Open open = std::move(row.open.back());
  row.open.pop_back();
  if (event.begin < open.begin) {
    fail(quote(open.activity) + " of " + quote(row.name) + " ends before it begins", "times that rise");
  }
  if (open.activity == "ALLREDUCE") {
    row.turn.end = event.begin;
    row.dtype = event.args.dtype.empty() ? row.dtype : std::string(event.args.dtype);
    row.shape = event.args.shape.empty() ? row.shape : std::string(event.args.shape);
    row.turns.push_back(row.turn);
  } else if (open.activity.ends_with("_ALLREDUCE") && open.activity != "NEGOTIATE_ALLREDUCE") {
    row.turn.wire_begin = open.begin;  // NCCL_, MPI_, GLOO_ ...
    row.turn.wire_end = event.begin;
  }
}

/// "[64, 3, 7, 7]"; "[]" is a scalar.
std::vector<std::size_t> Timeline::dims_of(const Row& row) const {
  std::vector<std::size_t> dims;
  double elements = 1;
  std::string number;
  for (const char c : row.shape) {
    if (c >= '0' && c <= '9' && number.size() < 16) {
      number += c;
    } else if ((c == ',' || c == ']') && !number.empty()) {
      dims.push_back(parse_count(number));
      elements *= static_cast<double>(dims.back());
      number.clear();
    } else if (c != '[' && c != ' ' && c != ']') {
      fail("the shape " + quote(row.shape) + " of " + quote(row.name), "such as [64, 3, 7, 7]");
    }
  }
  if (!(elements > 0 && elements <= kMostElements)) {
    fail("the shape " + quote(row.shape) + " of " + quote(row.name), "1 to 1e15 elements");
  }
  return dims;
}

std::vector<Timeline::Gradient> Timeline::gradients(ImportedRun& run) const {
  std::vector<Gradient> all;
  std::size_t left_out = 0;
  for (const auto& [process, row] : rows_) {
    if (row.turns.empty()) {
      continue;
    }
    if (row.shape.empty()) {
      fail("does not say how large " + quote(row.name) + " is",
           "dtype and shape with the end of each ALLREDUCE");
    }
    const auto element = element_named(row.dtype);
    if (!element) {
      ++left_out;  // counters
      continue;
    }
    Gradient gradient{&row, dims_of(row), 1, *element};
    for (const std::size_t dim : gradient.dims) {
      gradient.elements *= dim;
    }
    all.push_back(std::move(gradient));
  }
  if (all.empty()) {
    fail(left_out > 0 ? "has no ALLREDUCE of float32, float16 or bfloat16" : "has no ALLREDUCE",
         "Horovod's timeline of a step");
  }
  std::map<Element, double> bytes;
  for (const Gradient& gradient : all) {
    bytes[gradient.element] += gradient.bytes();
  }
  run.element = std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  left_out += std::erase_if(all, [&](const Gradient& gradient) { return gradient.element != run.element; });
  if (left_out > 0) {
    run.notes.push_back(counted(left_out, "tensor") + " of another type than " +
                        std::string(name(precision_of(run.element))) + " left out");
  }
  return all;
}

/// Fused tensors share one exchange: the same begin and end on each of their rows.
std::optional<BytesPerSecond> Timeline::rate(const std::vector<Gradient>& gradients,
                                             std::size_t steps) const {
  std::map<std::pair<double, double>, double> messages;
  for (const Gradient& gradient : gradients) {
    for (std::size_t step = 0; step < steps; ++step) {
      const Turn& turn = gradient.row->turns[step];
      messages[{turn.wire_begin, turn.wire_end}] += gradient.bytes();
    }
  }
  std::optional<BytesPerSecond> best;
  for (const auto& [time, bytes] : messages) {
    const auto one =
        ring_rate(Bytes::of(bytes), Seconds::of((time.second - time.first) * 1e-6), ranks_.size());
    best = one ? std::max(best.value_or(*one), *one) : best;
  }
  return best;
}

Seconds seconds(double microseconds) {
  return stated(Seconds::of(microseconds * 1e-6));
}

ImportedRun Timeline::finish(const RunOptions& options) {
  ImportedRun run;
  std::vector<Gradient> all = gradients(run);
  std::size_t steps = all.front().row->turns.size();
  for (const Gradient& gradient : all) {
    steps = std::min(steps, gradient.row->turns.size());
  }
  std::vector<std::pair<double, std::size_t>> exposed;
  std::vector<Times> times(steps);
  for (std::size_t step = 0; step < steps; ++step) {
    Times& time = times[step];
    time.first = time.last = all.front().row->turns[step].ready;
    for (const Gradient& gradient : all) {
      const Turn& turn = gradient.row->turns[step];
      time.first = std::min(time.first, turn.ready);
      time.last = std::max(time.last, turn.ready);
      time.end = std::max(time.end, turn.end);
    }
    exposed.emplace_back(time.end - time.last, step);
  }
  std::sort(exposed.begin(), exposed.end());
  const std::size_t step = exposed[(steps - 1) / 2].second;
  const Times& time = times[step];
  std::stable_sort(all.begin(), all.end(), [&](const Gradient& a, const Gradient& b) {
    return a.row->turns[step].ready > b.row->turns[step].ready;  // forward order: the last gradient first
  });
  run.workers = ranks_.size();
  run.rate = rate(all, steps);
  run.profile.name = run.profile.workload.name = options.name;
  run.profile.summary = "gradients of a run of Horovod";
  run.profile.source = options.source;
  std::set<std::string> names;
  double elements = 0, bytes = 0;
  for (const Gradient& gradient : all) {
    const std::string& name = gradient.row->name;
    if (name.empty() || !names.insert(json_text(name)).second) {
      fail(name.empty() ? "has a tensor without a name" : "has two rows for " + quote(name),
           "process_name for each tensor");
    }
    elements += static_cast<double>(gradient.elements);
    bytes += gradient.bytes();
    if (elements > kMostElements) {
      fail("has tensors of more than 1e15 elements", "a model's gradient");
    }
    add_tensor(run.profile.workload, name, gradient.dims, 0);
  }
  run.notes.insert(run.notes.begin(),
                   {counted(all.size(), "tensor") + " of " + to_string(Bytes::of(bytes)) + " in " +
                        std::string(breakeven::name(precision_of(run.element))) + ", " +
                        counted(steps, "step") + ", " + counted(run.workers, "worker"),
                    "from the first gradient to the last " + to_string(seconds(time.last - time.first)) +
                        "; exposed: " + to_string(seconds(time.end - time.last)) +
                        " from the last gradient to the end of the last ALLREDUCE"});
  if (!(time.last > time.first)) {
    run.notes.emplace_back("no time passes between gradients: the profile has no compute times");
    return run;
  }
  Timing timing;
  timing.device = options.device;
  timing.precision = precision_of(run.element);
  timing.batch = options.batch;
  timing.source = options.source;
  double before = time.first;
  for (std::size_t i = all.size(); i-- > 0;) {
    timing.gaps.push_back(seconds(all[i].row->turns[step].ready - before));
    before = all[i].row->turns[step].ready;
  }
  timing.backward = sum_of(timing.gaps);
  timing.gamma = 1;  // it was timed beside the exchange
  const double rest = step + 1 < steps ? times[step + 1].first - time.end
                      : step > 0       ? time.first - times[step - 1].end
                                       : -1;
  timing.forward = rest >= 0 ? seconds(rest) : rounded(timing.backward / 2);
  run.notes.emplace_back(
      rest >= 0 ? "forward, optimizer and data loading are what lies between two steps, " +
                      to_string(timing.forward)
                : std::string("a single step says nothing of forward: it is written as half of backward"));
  run.notes.emplace_back("backward begins with its first gradient: what lies before counts as forward");
  run.profile.timings = {std::move(timing)};
  return run;
}

}  // namespace

ImportedRun import_horovod(const ReadBlock& read, const std::string& where, const RunOptions& options) {
  Timeline timeline(where);
  TraceReader reader;
  reader.event = [&](const TraceEvent& event) { timeline.add(event); };
  const bool closed = read_trace(read, where, reader);
  ImportedRun run = timeline.finish(options);
  if (!closed) {
    run.notes.emplace_back("the list of events is not closed, as Horovod before 2020-09 left it");
  }
  return run;
}

}  // namespace breakeven
