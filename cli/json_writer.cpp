#include "cli/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cli/utf8.h"
#include "model/units.h"

namespace breakeven::cli {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const char c = text.front();
    if (c == '"' || c == '\\') {
      out.append("\\").append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out += '"';
}

void JsonWriter::new_line() {
  if (indented_ && !open_.empty() && !open_.back().flat) {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || open_.empty()) {
    return;
  }
  if (!std::exchange(open_.back().empty, false)) {
    out_ += indented_ && open_.back().flat ? ", " : ",";
  }
  new_line();
}

JsonWriter& JsonWriter::begin(char bracket, bool flat) {
  separate();
  out_ += bracket;
  open_.push_back(Open{flat || (!open_.empty() && open_.back().flat)});
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  const Open closed = open_.back();
  open_.pop_back();
  if (indented_ && !closed.empty && !closed.flat) {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += json_quoted(name);
  out_ += indented_ ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  return raw(json_quoted(text));
}

JsonWriter& JsonWriter::value(double number) {
  return std::isfinite(number) ? raw(exact(number)) : null();
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

std::string JsonWriter::take() {
  out_ += '\n';
  return std::exchange(out_, {});
}

}  // namespace breakeven::cli
