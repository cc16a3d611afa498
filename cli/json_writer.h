// Writes JSON with a stable key order and doubles that read back exactly.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven::cli {

class JsonWriter {
 public:
  /// Indented for people, or everything on one line.
  explicit JsonWriter(bool indented) : indented_(indented) {}

  /// `flat`: this one and all in it stay on one line.
  JsonWriter& begin_object(bool flat = false) { return begin('{', flat); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array(bool flat = false) { return begin('[', flat); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);  ///< null when not finite: JSON has no such number
  template <std::same_as<bool> B>
  JsonWriter& value(B truth) {
    return raw(truth ? "true" : "false");
  }
  JsonWriter& null() { return raw("null"); }
  /// Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  [[nodiscard]] std::string take();

 private:
  struct Open {
    bool flat = false;
    bool empty = true;
  };
  JsonWriter& begin(char bracket, bool flat);
  JsonWriter& end(char bracket);
  void separate();
  void new_line();

  bool indented_;
  bool after_key_ = false;
  std::vector<Open> open_;
  std::string out_;
};

/// `text` between quotes, escaped; bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace breakeven::cli
