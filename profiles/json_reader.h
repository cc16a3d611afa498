// JSON text -> a small tree of our own, and a strict cursor over it that knows where it stands.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/units.h"

namespace breakeven {

struct JsonValue {
  enum class Kind { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  double number = 0;              ///< of a boolean: 0 or 1
  std::string text;               ///< of a number too: its digits
  std::vector<std::string> keys;  ///< of an object: one an item, in the order of the text
  std::vector<JsonValue> items;
};

/// One place in a document. Everything it refuses is an Error (file) with "FILE: /path/to/it". Must not
/// outlive its document.
class Json {
 public:
  Json(const JsonValue& value, const std::string& file, std::string path)
      : value_(&value), file_(&file), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string wrong, std::string expected = {}) const;
  [[nodiscard]] bool is(JsonValue::Kind kind) const { return value_->kind == kind; }
  [[nodiscard]] bool is_empty_text() const { return is(JsonValue::Kind::text) && value_->text.empty(); }
  /// "FILE: /path/to/it"
  [[nodiscard]] std::string place() const;

  /// This is an object with no other keys than these.
  void only(std::initializer_list<std::string_view> known) const;
  [[nodiscard]] std::optional<Json> find(std::string_view key) const;
  /// `expected` says what belongs there when it is missing.
  [[nodiscard]] Json at(std::string_view key, std::string_view expected) const;
  [[nodiscard]] const std::vector<std::string>& keys() const;

  /// The items of a list that holds `least` to `most` of them.
  [[nodiscard]] std::vector<Json> list(std::size_t least = 0, std::size_t most = SIZE_MAX) const;

  /// Text that is not empty.
  [[nodiscard]] const std::string& text() const;
  /// Text, or the digits of a plain number.
  [[nodiscard]] const std::string& scalar() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] double fraction() const;
  /// Text with its unit.
  template <class Q>
  [[nodiscard]] Q quantity() const {
    const std::string& given = scalar();
    Q value;
    try {
      value = parse<Q>(given);
    } catch (const Error& error) {
      throw error.inside(place(), Fault::file);
    }
    check_limits(value.base());
    return value;
  }
  template <class Q>
  [[nodiscard]] Q above_zero() const {
    const Q value = quantity<Q>();
    if (!(value > Q{})) {
      fail("\"" + scalar() + "\" must be above 0");
    }
    return value;
  }
  template <class Q>
  [[nodiscard]] Q not_negative() const {
    const Q value = quantity<Q>();
    if (value < Q{}) {
      fail("\"" + scalar() + "\" must not be negative", "0 or more");
    }
    return value;
  }

 private:
  [[nodiscard]] Json child(std::size_t index, std::string_view step) const;
  void expect(JsonValue::Kind kind) const;
  /// A number that can be computed with.
  void check_limits(double value) const;

  const JsonValue* value_;
  const std::string* file_;
  std::string path_;
};

class JsonDocument {
 public:
  /// Control characters in texts are refused in profiles, which we print; other programs' files may hold
  /// them, and keys twice that nobody asks for.
  enum class Texts { printable, any };
  /// Throws Error (file): what is not JSON (with line and column), keys that are there twice, more than 64
  /// levels, numbers that a double cannot hold.
  JsonDocument(std::string_view text, std::string file, Texts texts = Texts::printable);

  [[nodiscard]] Json root() const { return {root_, file_, {}}; }

 private:
  std::string file_;
  JsonValue root_;
};

/// A number with where it comes from: plain text, or {"value": ..., "source": ...}.
struct SourcedJson {
  Json value;
  std::string source;
};
SourcedJson sourced(const Json& json, const std::string& source_of_all);

/// `text` as JSON, quotes included. What JsonDocument would refuse is replaced: control characters by spaces,
/// what is not UTF-8 by U+FFFD.
std::string json_text(std::string_view text);
/// The optional text at `key`, or nothing.
std::string text_or_empty(const Json& object, std::string_view key);
/// The document is of the version that this program reads.
void check_schema(const Json& root);

}  // namespace breakeven
