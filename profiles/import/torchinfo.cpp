// What torchinfo or torchsummary printed -> a model profile.
#include "profiles/import/torchinfo.h"

#include <algorithm>

#include "model/error.h"
#include "profiles/import/models.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr double kMostElements = 1e15;  // what read_model() takes

struct Sums {
  double trained = 0, frozen = 0;
  std::size_t frozen_rows = 0, reused_rows = 0;
};

Sums sums_of(const Torchinfo& table, bool parents) {
  Sums sums;
  for (const TorchinfoRow& row : table.rows) {
    if (row.leaf || parents) {
      const auto parameters = static_cast<double>(row.parameters.value_or(0));
      (row.frozen ? sums.frozen : sums.trained) += parameters;
      sums.frozen_rows += row.frozen ? 1 : 0;
      sums.reused_rows += row.reused ? 1 : 0;
    }
  }
  return sums;
}

/// Whether rows with rows beneath them have parameters of their own; otherwise they repeat what is beneath.
bool parents_count(const Torchinfo& table, const std::string& where, std::vector<std::string>& notes) {
  if (!table.trained) {
    throw Error(Fault::file, where, "ends without the line \"Trainable params\": layers may be missing",
                "the whole table, with the totals below it");
  }
  const auto stated = static_cast<double>(*table.trained);
  const double total = table.total ? static_cast<double>(*table.total) : stated;
  for (const bool parents : {false, true}) {
    const Sums sums = sums_of(table, parents);
    if (sums.trained == stated && (!table.total || sums.trained + sums.frozen == total)) {
      notes.push_back("the layers add up to the stated " + with_commas(*table.trained) +
                      " trainable parameters" + (table.total ? " of " + with_commas(*table.total) : ""));
      return parents;
    }
  }
  const Sums sums = sums_of(table, false);
  throw Error(Fault::file, where,
              "the layers have " + exact(sums.trained) + " trainable parameters and " + exact(sums.frozen) +
                  " frozen ones",
              "the stated " + std::to_string(*table.trained) + " of " + exact(total) +
                  ": print the table whole, with a depth that reaches every layer");
}

/// Samples of the batch, the first dimension of what the model puts out; 0: not known.
double batch_of(const Torchinfo& table) {
  const std::vector<std::size_t>& output = table.rows.front().output;
  return output.empty() ? 0 : static_cast<double>(output.front());
}

/// A layer's parameters as one matrix whose rows are what it puts out; else a vector.
std::vector<std::size_t> dims_of(const TorchinfoRow& row) {
  const std::size_t count = *row.parameters;
  const bool convolution = row.type.starts_with("Conv");
  const bool last = row.type == "Linear" || row.type == "Embedding";
  const std::size_t width = row.output.size() < 2 ? 0
                            : convolution         ? row.output[1]
                            : last                ? row.output.back()
                                                  : 0;
  if (width < 2 || count % width != 0 || count == width) {
    return {count};
  }
  return row.type == "Embedding" ? std::vector<std::size_t>{count / width, width}
                                 : std::vector<std::size_t>{width, count / width};
}

void note_flops(const Torchinfo& table, double batch, std::vector<std::string>& notes) {
  if (!table.has_products || batch == 0) {
    notes.emplace_back(std::string("no FLOPs: ") +
                       (table.has_products
                            ? "the output of the whole model does not tell the batch"
                            : "the table has no column \"Mult-Adds\" (col_names with mult_adds)") +
                       "; a query needs --backward, or --throughput and --batch, and spreads backward over "
                       "the layers by their "
                       "parameters (estimated)");
    return;
  }
  notes.push_back("FLOPs are twice the multiply-adds, which are those of a batch of " + exact(batch));
}

}  // namespace

ImportedModel import_torchinfo(std::string_view text, const std::string& where, const ModelOptions& options) {
  const Torchinfo table = read_torchinfo(text, where);
  ImportedModel result;
  std::vector<std::string> details;
  const bool parents = parents_count(table, where, details);
  const double batch = batch_of(table);
  Workload& workload = result.model.workload;
  double elements = 0, flops_left_out = 0;
  std::size_t matrices = 0;
  for (const TorchinfoRow& row : table.rows) {
    const bool counts = (row.leaf || parents) && row.parameters.value_or(0) > 0 && !row.frozen;
    const double flops = row.leaf && batch > 0 ? 2 * row.products.value_or(0) / batch : 0;
    if (!counts) {
      flops_left_out += flops;
      continue;
    }
    elements += static_cast<double>(*row.parameters);
    if (elements > kMostElements) {
      throw Error(Fault::file, where, "the layers have more than 1e15 parameters", "a model");
    }
    std::vector<std::size_t> dims = dims_of(row);
    matrices += dims.size() > 1 ? 1 : 0;
    add_tensor(workload, row.name, std::move(dims), flops, row.name);
  }
  if (workload.tensors.empty()) {
    throw Error(Fault::file, where, "no layer has trainable parameters", "a model that is trained");
  }
  const Sums sums = sums_of(table, parents);
  result.model.name = workload.name = options.name;
  result.model.summary = size_note(workload) + ", one a layer";
  result.model.source =
      "the layers that torchinfo or torchsummary printed, read by breakeven import torchinfo";
  result.notes = {size_note(workload) + ", one a layer"};
  result.notes.insert(result.notes.end(), details.begin(), details.end());
  if (sums.frozen_rows + sums.reused_rows > 0) {
    result.notes.push_back("left out: " + with_commas(sums.frozen_rows) + " frozen layers of " +
                           exact(sums.frozen) + " parameters, " + with_commas(sums.reused_rows) +
                           " uses of a layer that is counted elsewhere");
  }
  note_flops(table, batch, result.notes);
  if (flops_left_out > 0) {
    result.model.summary += ", without the FLOPs of layers that are not trained";
    result.notes.push_back(
        "left out: " + significant(flops_left_out) +
        " FLOP a sample of layers without trained parameters: forward takes longer than they tell");
  }
  result.notes.push_back(
      "shapes are not in the table: " + with_commas(matrices) +
      " layers are taken as matrices of their output's width, bias within, the others as vectors; "
      "what a low-rank scheme sends is an estimate");
  return result;
}

}  // namespace breakeven
