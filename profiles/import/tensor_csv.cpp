// Rows `tensor,rows,cols,dtype,grad_ready_us` -> a model profile, with a timing where gradients have times.
#include <algorithm>
#include <cctype>
#include <set>

#include "model/units.h"
#include "profiles/import/csv_table.h"
#include "profiles/import/models.h"
#include "profiles/limits.h"
#include "profiles/option_values.h"
#include "profiles/write.h"

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

class Reader {
 public:
  Reader(std::string_view text, const std::string& where)
      : table_(text, where, {"tensor", "rows", "cols", "dtype", "grad_ready_us"},
               "tensor,rows,cols,dtype,grad_ready_us") {
    for (const char* needed : {"tensor", "rows", "cols"}) {
      table_.need(needed);
    }
  }

  std::vector<Row> run() {
    std::vector<Row> rows;
    double elements = 0;
    while (table_.next()) {
      rows.push_back(read_row());
      elements += static_cast<double>(rows.back().rows) * static_cast<double>(rows.back().cols);
      if (rows.size() > kMostRows || elements > kMostElements) {
        table_.fail("more than 200,000 tensors or 1e15 elements", "a model");
      }
    }
    if (rows.empty()) {
      table_.fail("there are no rows", "a row a tensor");
    }
    return rows;
  }
  [[nodiscard]] bool timed() const { return table_.has("grad_ready_us"); }

 private:
  void check_type(const std::string& type) const {
    const std::vector<std::string> known = {"fp32",    "fp16",    "bf16",     "fp64",   "float32",
                                            "float16", "float64", "bfloat16", "f32",    "f16",
                                            "f64",     "float",   "half",     "double", "tf32"};
    std::string name = type.substr(type.starts_with("torch.") ? std::string_view("torch.").size() : 0);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!type.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      table_.fail("unknown dtype " + quote(type), one_of(known, name));
    }
  }

  Row read_row() {
    Row row;
    row.name = table_.cell("tensor");
    if (row.name.empty() || !names_.insert(row.name).second) {
      table_.fail(
          row.name.empty() ? "a tensor has no name" : "the tensor " + quote(row.name) + " is there twice",
          "a name of its own");
    }
    row.rows = dimension("rows");
    row.cols = dimension("cols");
    row.dtype = table_.has("dtype") ? table_.cell("dtype") : "";
    check_type(row.dtype);
    if (timed()) {
      row.ready = time();
    }
    return row;
  }

  [[nodiscard]] std::size_t dimension(const char* column) const {
    const std::size_t count = table_.count(column);
    if (count == 0 || static_cast<double>(count) > kMostElements) {
      table_.fail(std::string(column) + " is " + table_.cell(column), "1 to 1e15");
    }
    return count;
  }

  [[nodiscard]] Seconds time() const {
    const double seconds = table_.number("grad_ready_us") * 1e-6;
    if (seconds < 0 || seconds > kLongest || !can_be_stated(seconds)) {
      table_.fail("grad_ready_us is " + table_.cell("grad_ready_us"),
                  "0 to 1e12 microseconds since backward began");
    }
    return Seconds::of(seconds);
  }

  CsvTable table_;
  std::set<std::string> names_;
};

/// The last gradient belongs to the first tensor. Forward is not in the file.
Timing timing_of(const std::vector<Row>& rows, const ModelOptions& options, const std::string& where) {
  Timing timing;
  timing.device = options.device;
  timing.precision = options.precision;
  timing.batch = options.batch;
  constexpr int kDigits = 9;  // a difference has more of them than what it is of
  timing.backward = rounded(rows.front().ready, kDigits);
  if (!(timing.backward > Seconds{})) {
    throw Error(Fault::file, where, "every grad_ready_us is 0", "times since backward began");
  }
  timing.forward = rounded(timing.backward / 2, kDigits);
  Seconds before;
  for (std::size_t i = rows.size(); i-- > 0;) {
    timing.gaps.push_back(rounded(rows[i].ready - before, kDigits));
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
