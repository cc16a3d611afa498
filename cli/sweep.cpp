// sweep: a grid of setups becomes rows, streamed in a fixed order whatever the number of threads.
#include "model/sweep.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <ostream>
#include <thread>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sweep_rows.h"
#include "model/error.h"
#include "profiles/grid_runner.h"

namespace breakeven::cli {
namespace {

/// Cases that no longer differ are one: their rows would only be repeated.
void join_equal(std::vector<Grid::Case>& cases) {
  std::vector<Grid::Case> different;
  for (Grid::Case& one : cases) {
    if (std::none_of(different.begin(), different.end(), [&](const Grid::Case& other) {
          return other.values == one.values && other.schemes == one.schemes;
        })) {
      different.push_back(std::move(one));
    }
  }
  cases = std::move(different);
}

/// The options of the command line as a grid: one value is the base's, several are an axis.
void add_options(Grid& grid, const OptionValues& scenario) {
  bool replaced = false;  // something that a case says
  for (const Option& option : scenario_options()) {
    const auto found = scenario.find(option.name);
    if (found == scenario.end()) {
      continue;
    }
    // What is said on the command line replaces whatever the grid says about it.
    grid.base.erase(option.name);
    std::erase_if(grid.axes, [&](const Grid::Axis& axis) { return axis.option == option.name; });
    for (Grid::Case& one : grid.cases) {
      replaced = one.values.erase(option.name) > 0 || replaced;
    }
    std::vector<std::string> values = expand_list(option.name, found->second);
    if (values.size() == 1) {
      grid.base[option.name] = std::move(values.front());
    } else {
      grid.axes.push_back({option.name, std::move(values)});
    }
  }
  if (replaced) {
    join_equal(grid.cases);
  }
}

Grid grid_of(const Context& context) {
  const Request& request = context.request;
  Grid grid;
  if (request.arguments.empty()) {
    grid.cases.emplace_back();
  } else {
    const Catalogue::Text text = context.catalogue.sweep(request.arguments.front());
    grid = read_grid(text.json, text.where);
  }
  add_options(grid, request.scenario);
  if (!request.schemes.empty()) {
    grid.schemes = request.schemes;
    grid.place = "--scheme";
    for (Grid::Case& one : grid.cases) {
      one.schemes.clear();
    }
  }
  const bool all_cases = std::all_of(grid.cases.begin(), grid.cases.end(),
                                     [](const Grid::Case& one) { return !one.schemes.empty(); });
  if (grid.schemes.empty() && !all_cases) {
    throw Error(Fault::value, "--scheme", "missing", "at least one scheme to judge (list schemes)");
  }
  return grid;
}

void show(Progress& progress, std::size_t done, std::size_t rows) {
  if (done == rows || progress.due()) {
    progress.say(grouped(done) + " of " + grouped(rows) + " setups");
  }
}

void summarise(const Context& context, const Tally& tally) {
  if (context.request.has("quiet")) {
    return;
  }
  context.err << "compression pays in " << grouped(tally.pays) << " of " << grouped(tally.rows) << " setups ("
              << grouped(tally.does_not_pay) << " do not pay, " << grouped(tally.too_close)
              << " too close to call)\n";
}

}  // namespace

int sweep(const Context& context) {
  const Grid grid = grid_of(context);
  constexpr std::size_t kMostThreads = 1024;
  const std::size_t threads =
      count_of(context.request, "threads", std::max(1U, std::thread::hardware_concurrency()), kMostThreads);
  const GridPlan plan(grid, context.catalogue, context.registry);
  if (context.request.has("dry-run")) {
    const Format format = context.request.format();
    const std::string rows = std::to_string(plan.rows());
    const bool json = format == Format::json || format == Format::jsonl;
    write_all(context.request.get("output", "-"), context.out,
              (json                    ? "{\"rows\": " + rows + "}"
               : format == Format::csv ? "rows\n" + rows
                                       : rows) +
                  "\n");
    return 0;
  }
  const RowWriter writer(plan, context.request.format());
  Output output(context.request.get("output", "-"), context.out);
  Progress progress(context);

  constexpr std::size_t kRowsAChunk = 4096;
  const std::size_t per_point =
      std::max<std::size_t>(1, plan.rows() / std::max<std::size_t>(1, plan.points()));
  const std::size_t chunk = std::max<std::size_t>(1, kRowsAChunk / per_point);
  std::vector<std::unique_ptr<GridRunner>> runners(threads);
  std::mutex shared;  // tally and warnings
  Tally tally;
  std::vector<std::string> warnings;
  output.stream() << writer.head();
  std::size_t done = 0;
  run_in_order((plan.points() + chunk - 1) / chunk, threads,
               [&](std::size_t index, std::size_t worker) {
                 if (!runners[worker]) {
                   runners[worker] = std::make_unique<GridRunner>(plan, context.catalogue, context.registry);
                 }
                 Tally part;
                 std::string text;
                 GridPlan::Point point = plan.point(index * chunk);
                 const std::size_t end = std::min(plan.points(), (index + 1) * chunk);
                 for (std::size_t i = index * chunk; i < end; ++i, plan.next(point)) {
                   writer.append(text, point, *runners[worker], i == 0, part);
                 }
                 const std::vector<std::string> said = runners[worker]->take_warnings();
                 const std::lock_guard lock(shared);
                 tally += part;
                 for (const std::string& warning : said) {
                   if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
                     warnings.push_back(warning);
                   }
                 }
                 return text;
               },
               [&](std::string&& text) {
                 output.stream() << text;
                 done += chunk * per_point;
                 show(progress, std::min(done, plan.rows()), plan.rows());
                 return static_cast<bool>(output.stream());  // a full disk: commit() says so
               });
  progress.end();
  output.stream() << writer.tail(tally);
  output.commit();
  std::sort(warnings.begin(), warnings.end());
  constexpr std::size_t kMostWarnings = 10;
  for (std::size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i) {
    warn(context, warnings[i]);
  }
  if (warnings.size() > kMostWarnings) {
    warn(context, "and " + std::to_string(warnings.size() - kMostWarnings) + " more of the same kinds");
  }
  summarise(context, tally);
  return 0;
}

}  // namespace breakeven::cli
