#include <algorithm>
#include <map>

#include "model/units.h"
#include "profiles/import/text_lines.h"
#include "profiles/import/torchinfo.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRows = 200'000;
constexpr double kMostCounted = 1e15;  // parameters or products: far inside what a double counts exactly
constexpr const char* kHead = "Layer (type";

/// What stands in front of a name: the tree's lines, in UTF-8 or ASCII. Its length in characters; 0 for
/// spaces alone, by which torchsummary only aligns names.
std::size_t take_tree(std::string_view& text) {
  constexpr std::string_view kMarks[] = {"├", "└", "─", "│", "|", "+", " "};
  std::size_t characters = 0;
  bool drawn = false;
  while (true) {
    const auto* mark = std::find_if(std::begin(kMarks), std::end(kMarks),
                                    [&](std::string_view known) { return text.starts_with(known); });
    if (mark == std::end(kMarks)) {
      return drawn ? characters : 0;
    }
    drawn = drawn || *mark != " ";
    text.remove_prefix(mark->size());
    ++characters;
  }
}

/// Columns are two or more spaces apart.
std::vector<std::string_view> head_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return cells;
}

/// Cells are words or shapes in brackets: a wide one may leave one space to the next.
std::vector<std::string_view> row_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) {
      return cells;
    }
    std::size_t end = 0;
    int open = 0;
    while (end < line.size() && (open > 0 || line[end] != ' ')) {
      open += line[end] == '[' ? 1 : line[end] == ']' ? -1 : 0;
      ++end;
    }
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// "9,408" -> 9408.
std::size_t read_count(const TextLines& lines, std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!whole || digits.size() > 16 || parse_number(digits) > kMostCounted) {
    lines.fail("cannot read " + quote(text) + " as a count", "a whole number such as 9,408");
  }
  return parse_count(digits);
}

std::vector<std::size_t> read_shape(std::string_view text) {
  std::vector<std::size_t> shape;
  if (!text.starts_with('[') || text.substr(1).find('[') != std::string_view::npos) {
    return shape;  // nothing, or several outputs
  }
  std::string numbers(text.substr(1, text.find(']') - 1));
  std::replace(numbers.begin(), numbers.end(), ',', ' ');
  for (const std::string_view number : row_cells(numbers)) {
    const bool whole = number.size() <= 9 && number.find_first_not_of("0123456789") == std::string_view::npos;
    shape.push_back(whole ? parse_count(number) : 0);  // torchsummary writes -1 for the batch
  }
  return shape;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : lines_(text, where) {}

  Torchinfo run() {
    find_head();
    while (lines_.more()) {
      const std::string_view line = lines_.next();
      if (line.find_first_not_of("=-_ ") == std::string_view::npos) {
        continue;
      }
      if (const std::size_t colon = line.find("params: "); colon != std::string_view::npos) {
        take_total(line.substr(0, colon), line.substr(colon + 8));
      } else if (!in_totals_) {
        table_.rows.push_back(row_of(line));
        if (table_.rows.size() > kMostRows) {
          lines_.fail("more than 200,000 rows", "a model");
        }
      }
    }
    if (table_.rows.empty()) {
      lines_.fail("the table has no rows", "a row a layer");
    }
    mark_leaves();
    return std::move(table_);
  }

 private:
  void find_head() {
    while (lines_.more()) {
      std::string_view line = lines_.next();
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.starts_with(kHead)) {
        columns_ = head_cells(line);
        parameters_ = column("Param #");
        products_ = column("Mult-Adds");
        output_ = column("Output Shape");
        table_.has_products = products_ != 0;
        if (parameters_ == 0) {
          lines_.fail("has no column \"Param #\"", "torchinfo's col_names with num_params");
        }
        return;
      }
    }
    lines_.fail("there is no line that begins with \"Layer (type\"", "what torchinfo or torchsummary prints");
  }

  /// 0: it is not there.
  [[nodiscard]] std::size_t column(std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    return found == columns_.end() ? 0 : static_cast<std::size_t>(found - columns_.begin());
  }

  void take_total(std::string_view what, std::string_view number) {
    in_totals_ = true;
    if (what.starts_with("Total ")) {
      table_.total = read_count(lines_, number);
    } else if (what.starts_with("Trainable ")) {
      table_.trained = read_count(lines_, number);
    }
  }

  TorchinfoRow row_of(std::string_view line) {
    TorchinfoRow row;
    row.line = lines_.number();
    row.depth = (take_tree(line) + 3) / 5;  // two characters, then five a level
    const std::size_t end = std::min(line.find("  "), line.size());
    const std::vector<std::string_view> cells = row_cells(line.substr(end));
    if (cells.size() + 1 != columns_.size()) {
      lines_.fail("has " + std::to_string(cells.size() + 1) + " cells",
                  "as many as the head, " + std::to_string(columns_.size()));
    }
    take_name(line.substr(0, end), row);
    take_parameters(cells[parameters_ - 1], row);
    if (products_ != 0 && cells[products_ - 1] != "--" && cells[products_ - 1] != "(recursive)") {
      row.products = static_cast<double>(read_count(lines_, cells[products_ - 1]));
    }
    if (output_ != 0) {
      row.output = read_shape(cells[output_ - 1]);
    }
    return row;
  }

  /// "Conv2d: 1-1", "Conv2d (conv1): 1-1", "Conv2d", "Conv2d-1".
  void take_name(std::string_view text, TorchinfoRow& row) {
    const std::size_t colon = text.rfind(": ");
    const std::string_view label = text.substr(0, colon);
    const std::size_t bracket = label.find(" (");
    row.type = std::string(label.substr(0, std::min(bracket, label.find('-'))));
    path_.resize(std::min(path_.size(), row.depth));
    if (bracket != std::string_view::npos && label.ends_with(')')) {
      const std::string variable(label.substr(bracket + 2, label.size() - bracket - 3));
      row.name = row.depth > 1 && path_.size() == row.depth && !path_.back().empty()
                     ? path_.back() + "." + variable
                     : variable;
    } else if (colon != std::string_view::npos) {
      row.name = std::string(label) + ":" + std::string(text.substr(colon + 2));
    } else {
      row.name = std::string(label);
    }
    if (row.name.empty()) {
      lines_.fail("a layer has no name", "a layer's type");
    }
    path_.resize(row.depth);
    path_.push_back(bracket == std::string_view::npos ? std::string() : row.name);
    // Without an index names repeat.
    if (const std::size_t before = seen_[row.name]++; before > 0) {
      row.name += "#" + std::to_string(before + 1);
    }
  }

  void take_parameters(std::string_view cell, TorchinfoRow& row) {
    if (cell == "--") {
      return;
    }
    if (cell == "(recursive)") {
      row.reused = true;
      return;
    }
    row.frozen = cell.starts_with('(') && cell.ends_with(')');
    row.parameters = read_count(lines_, row.frozen ? cell.substr(1, cell.size() - 2) : cell);
  }

  void mark_leaves() {
    for (std::size_t i = 0; i + 1 < table_.rows.size(); ++i) {
      table_.rows[i].leaf = table_.rows[i + 1].depth <= table_.rows[i].depth;
    }
  }

  TextLines lines_;
  Torchinfo table_;
  std::vector<std::string_view> columns_;
  std::size_t parameters_ = 0, products_ = 0, output_ = 0;  // places of columns; 0: not there
  std::vector<std::string> path_;                           // names by depth, empty where there are none
  std::map<std::string, std::size_t> seen_;
  bool in_totals_ = false;
};

}  // namespace

Torchinfo read_torchinfo(std::string_view text, const std::string& where) {
  return Reader(text, where).run();
}

}  // namespace breakeven
