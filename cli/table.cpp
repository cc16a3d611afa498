#include "cli/table.h"

#include <algorithm>
#include <cmath>

#include "cli/json_writer.h"
#include "cli/utf8.h"
#include "model/units.h"

namespace breakeven::cli {
namespace {

std::string csv_field(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    return std::isfinite(*number) ? exact(*number) : std::string{};
  }
  if (const auto* truth = std::get_if<bool>(&value)) {
    return *truth ? "true" : "false";
  }
  const auto* text = std::get_if<std::string>(&value);
  if (!text || text->find_first_of(",\"\r\n") == std::string::npos) {
    return text ? *text : std::string{};
  }
  std::string quoted = "\"";
  for (const char c : *text) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted += '"';
}

// What would end a cell or a line of a Markdown table.
std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string padded(const Style& style, const Screen::Cell& cell, std::size_t width, bool right, bool last) {
  const std::string fill(width - std::min(width, width_of(cell.text)), ' ');
  std::string text = style(cell.tone, cell.text);
  return right ? fill + text : last ? text : text + fill;
}

}  // namespace

std::string to_text(const Screen& screen, const Style& style) {
  std::vector<std::size_t> widths;
  std::vector<Screen::Cell> titles;
  for (std::size_t c = 0; c < screen.columns.size(); ++c) {
    titles.push_back(Screen::Cell{screen.columns[c].title, Tone::strong});
    std::size_t width = width_of(screen.columns[c].title);
    for (const auto& row : screen.rows) {
      width = std::max(width, width_of(row.at(c).text));
    }
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const std::vector<Screen::Cell>& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      text += c == 0 ? "" : "  ";
      text += padded(style, cells[c], widths[c], screen.columns[c].right, c + 1 == cells.size());
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line(titles);
  std::for_each(screen.rows.begin(), screen.rows.end(), line);
  return out;
}

std::string to_markdown(const Screen& screen) {
  std::string out = "|", rule = "|";
  for (const auto& column : screen.columns) {
    out.append(" ").append(markdown_cell(column.title)).append(" |");
    rule += column.right ? " ---: |" : " --- |";
  }
  out += '\n' + rule + '\n';
  for (const auto& row : screen.rows) {
    out += '|';
    for (const auto& cell : row) {
      out.append(" ").append(markdown_cell(cell.text)).append(" |");
    }
    out += '\n';
  }
  return out;
}

std::string rough_percent(double share) {
  return significant(share * 100, 2) + " %";
}

std::string csv_line(const std::vector<Value>& row) {
  std::string out;
  for (std::size_t c = 0; c < row.size(); ++c) {
    out.append(c == 0 ? "" : ",").append(csv_field(row[c]));
  }
  return out += '\n';
}

std::string csv_header(const std::vector<std::string>& columns) {
  return csv_line(std::vector<Value>(columns.begin(), columns.end()));
}

std::string to_csv(const Rows& rows) {
  std::string out = csv_header(rows.columns);
  for (const auto& row : rows.rows) {
    out += csv_line(row);
  }
  return out;
}

std::string to_jsonl(const Rows& rows) {
  std::string out;
  for (const auto& row : rows.rows) {
    JsonWriter json(false);
    json.begin_object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      json.key(rows.columns[c]);
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              json.null();
            } else {
              json.value(value);
            }
          },
          row[c]);
    }
    out += json.end_object().take();
  }
  return out;
}

}  // namespace breakeven::cli
