// Rows `tensor,rows,cols,dtype,grad_ready_us` -> a model profile, with a timing where gradients have times.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "model/units.h"
#include "profiles/import/models.h"
#include "profiles/import/text_lines.h"
#include "profiles/limits.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRows = 200'000;
constexpr double kMostElements = 1e15;  // what read_model() takes
constexpr double kLongest = 1e6;        // seconds

struct Row {
  std::string name, dtype;
  std::size_t rows = 0, cols = 1;
  Seconds ready;
};

/// Cells between commas; none is quoted.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t end = std::min(line.find(','), line.size());
    const std::string_view cell = line.substr(0, end);
    const std::size_t first = std::min(cell.find_first_not_of(" \t"), cell.size());
    cells.emplace_back(cell.substr(first, cell.find_last_not_of(" \t") + 1 - first));
    if (end == line.size()) {
      return cells;
    }
    line.remove_prefix(end + 1);
  }
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : lines_(text, where) {}

  std::vector<Row> run() {
    read_head();
    std::vector<Row> rows;
    double elements = 0;
    while (lines_.more()) {
      const std::string_view line = lines_.next();
      if (line.empty()) {
        continue;
      }
      rows.push_back(row_of(line));
      elements += static_cast<double>(rows.back().rows) * static_cast<double>(rows.back().cols);
      if (rows.size() > kMostRows || elements > kMostElements) {
        lines_.fail("more than 200,000 tensors or 1e15 elements", "a model");
      }
    }
    if (rows.empty()) {
      lines_.fail("there are no rows", "a row a tensor");
    }
    return rows;
  }
  [[nodiscard]] bool timed() const { return columns_.contains("grad_ready_us"); }

 private:
  void read_head() {
    const std::vector<std::string> known = {"tensor", "rows", "cols", "dtype", "grad_ready_us"};
    const std::vector<std::string> head = cells_of(lines_.next());
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (std::find(known.begin(), known.end(), head[i]) == known.end()) {
        lines_.fail("unknown column " + quote(head[i]), one_of(known, head[i]));
      }
      if (!columns_.emplace(head[i], i).second) {
        lines_.fail("the column " + head[i] + " is there twice", "each column once");
      }
    }
    for (const char* needed : {"tensor", "rows", "cols"}) {
      if (!columns_.contains(needed)) {
        lines_.fail("the column " + std::string(needed) + " is missing",
                    "tensor,rows,cols,dtype,grad_ready_us");
      }
    }
  }

  void check_type(const std::string& type) const {
    const std::vector<std::string> known = {"fp32",    "fp16",    "bf16",     "fp64",   "float32",
                                            "float16", "float64", "bfloat16", "f32",    "f16",
                                            "f64",     "float",   "half",     "double", "tf32"};
    std::string name = type.substr(type.starts_with("torch.") ? std::string_view("torch.").size() : 0);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!type.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      lines_.fail("unknown dtype " + quote(type), one_of(known, name));
    }
  }

  Row row_of(std::string_view line) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != columns_.size()) {
      lines_.fail("has " + std::to_string(cells.size()) + " cells",
                  "as many as the head, " + std::to_string(columns_.size()));
    }
    Row row;
    row.name = cells[columns_.at("tensor")];
    if (row.name.empty() || !names_.insert(row.name).second) {
      lines_.fail(
          row.name.empty() ? "a tensor has no name" : "the tensor " + quote(row.name) + " is there twice",
          "a name of its own");
    }
    row.rows = count(cells, "rows");
    row.cols = count(cells, "cols");
    row.dtype = columns_.contains("dtype") ? cells[columns_.at("dtype")] : "";
    check_type(row.dtype);
    if (timed()) {
      row.ready = time(cells[columns_.at("grad_ready_us")]);
    }
    return row;
  }

  [[nodiscard]] std::size_t count(const std::vector<std::string>& cells, const char* column) const {
    const std::string& text = cells[columns_.at(column)];
    std::size_t count = 0;
    try {
      count = parse_count(text);
    } catch (const Error& error) {
      throw error.inside(lines_.place() + ": " + column, Fault::file);
    }
    if (count == 0 || static_cast<double>(count) > kMostElements) {
      lines_.fail(std::string(column) + " is " + text, "1 to 1e15");
    }
    return count;
  }

  [[nodiscard]] Seconds time(const std::string& text) const {
    double seconds = 0;
    try {
      seconds = parse_number(text) * 1e-6;
    } catch (const Error& error) {
      throw error.inside(lines_.place() + ": grad_ready_us", Fault::file);
    }
    if (seconds < 0 || seconds > kLongest || !can_be_stated(seconds)) {
      lines_.fail("grad_ready_us is " + text, "0 to 1e12 microseconds since backward began");
    }
    return Seconds::of(seconds);
  }

  TextLines lines_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::set<std::string> names_;
};

/// The last gradient belongs to the first tensor. Forward is not in the file.
Timing timing_of(const std::vector<Row>& rows, const ModelOptions& options, const std::string& where) {
  Timing timing;
  timing.device = options.device;
  timing.precision = options.precision;
  timing.batch = options.batch;
  timing.backward = rows.front().ready;
  if (!(timing.backward > Seconds{})) {
    throw Error(Fault::file, where, "every grad_ready_us is 0", "times since backward began");
  }
  timing.forward = timing.backward / 2;
  Seconds before;
  for (std::size_t i = rows.size(); i-- > 0;) {
    timing.gaps.push_back(rows[i].ready - before);
    before = rows[i].ready;
  }
  timing.source =
      "grad_ready_us of a table of tensors; forward is taken as half of backward, which computes two "
      "products for one";
  return timing;
}

void note_types(const std::vector<Row>& rows, std::vector<std::string>& notes) {
  std::set<std::string> types;
  for (const Row& row : rows) {
    if (!row.dtype.empty()) {
      types.insert(row.dtype);
    }
  }
  std::string text;
  for (const std::string& type : types) {
    text += (text.empty() ? "" : ", ") + quote(type);
  }
  if (!types.empty()) {
    notes.push_back("dtype " + text +
                    " is not part of a profile: a query takes the gradients' with --grad-dtype" +
                    (types.size() > 1 ? ", one for all" : ""));
  }
}

}  // namespace

ImportedModel import_tensor_csv(std::string_view text, const std::string& where,
                                const ModelOptions& options) {
  Reader reader(text, where);
  std::vector<Row> rows = reader.run();
  ImportedModel result;
  if (reader.timed()) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return b.ready < a.ready; });
    result.model.timings = {timing_of(rows, options, where)};
  }
  Workload& workload = result.model.workload;
  for (const Row& row : rows) {
    std::vector<std::size_t> dims = {row.rows};
    if (row.cols > 1) {
      dims.push_back(row.cols);
    }
    add_tensor(workload, row.name, std::move(dims), 0);
  }
  result.model.name = workload.name = options.name;
  result.model.summary = size_note(workload);
  result.model.source = "a table of tensors, read by breakeven import csv";
  result.notes.push_back(size_note(workload));
  if (reader.timed()) {
    const Timing& timing = result.model.timings.front();
    result.notes.push_back(
        "backward takes " + to_string(timing.backward) + " on " + timing.device + " in " +
        std::string(name(timing.precision)) + " with batch " + exact(timing.batch) +
        ", and the tensors are in the order of their times; forward is taken as half of that "
        "(assumed)");
  } else {
    result.notes.emplace_back(
        "no times: a query needs --backward, or --throughput and --batch, and spreads backward over the "
        "modules by "
        "their elements (estimated); the rows are taken to be in forward order");
  }
  note_types(rows, result.notes);
  return result;
}

}  // namespace breakeven
