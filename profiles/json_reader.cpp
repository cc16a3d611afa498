#include "profiles/json_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiles/limits.h"

namespace breakeven {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 4'000'000;  // bounds the memory that a hostile file can take

std::string_view noun(JsonValue::Kind kind) {
  constexpr std::string_view nouns[] = {"null", "a boolean", "a number", "text", "a list", "an object"};
  return nouns[static_cast<std::size_t>(kind)];
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

/// One step of a JSON pointer (RFC 6901).
std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return step;
}

std::string place_at(const std::string& file, const std::string& path) {
  return path.empty() ? file : file + ": " + path;
}

/// "LINE:COLUMN" of the last of `read` bytes.
std::string line_and_column(std::string_view text, std::size_t read) {
  const std::string_view before = text.substr(0, std::min(read == 0 ? 0 : read - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return std::to_string(line) + ":" + std::to_string(column);
}

/// What the library says is wrong, and what it would have taken: "... - WRONG; last read: 'TOKEN'; expected
/// WHAT".
std::pair<std::string, std::string> wrong_and_expected(std::string_view message) {
  const std::size_t dash = message.find(" - ");
  std::string_view wrong = dash == std::string_view::npos ? message : message.substr(dash + 3);
  std::string_view expected = "JSON";
  constexpr std::string_view kExpected = "; expected ";
  const std::size_t last_read = wrong.find("; last read: ");
  const std::size_t from = wrong.find(kExpected, last_read == std::string_view::npos ? 0 : last_read);
  if (from != std::string_view::npos) {
    expected = wrong.substr(from + kExpected.size());
  }
  return {std::string(wrong.substr(0, std::min(last_read, from))), std::string(expected)};
}

/// Builds the tree from the parser's events, which come without recursion: no depth can overflow the stack.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(JsonValue& root, std::string_view text, const std::string& file, JsonDocument::Texts texts)
      : root_(root), text_(text), file_(file), printable_(texts == JsonDocument::Texts::printable) {}

  bool null() override { return add(JsonValue::Kind::null, 0, {}); }
  bool boolean(bool value) override { return add(JsonValue::Kind::boolean, value ? 1 : 0, {}); }
  bool number_integer(number_integer_t value) override {
    return add(JsonValue::Kind::number, static_cast<double>(value), std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(JsonValue::Kind::number, static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& digits) override {
    return add(JsonValue::Kind::number, value, digits);
  }
  bool string(string_t& value) override {
    if (printable_ && std::any_of(value.begin(), value.end(), is_control)) {
      fail("a text holds a control character", "printable text", next_step());
    }
    return add(JsonValue::Kind::text, 0, std::move(value));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(JsonValue::Kind::object); }
  bool start_array(std::size_t /*size*/) override { return open(JsonValue::Kind::list); }
  bool end_array() override { return close(); }
  bool end_object() override {
    const std::vector<std::string>& keys = open_.back()->keys;
    std::vector<std::string_view> sorted(keys.begin(), keys.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (printable_ && twice != sorted.end()) {
      fail("the key \"" + std::string(*twice) + "\" is there twice", "each key once");
    }
    return close();
  }
  bool key(string_t& value) override {
    if (std::any_of(value.begin(), value.end(), is_control)) {
      fail("a key holds a control character", "printable text");
    }
    open_.back()->keys.push_back(std::move(value));
    return true;
  }
  bool parse_error(std::size_t read, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;
    const std::string where = file_ + ":" + line_and_column(text_, read);
    if (error.id == kOverflow) {
      throw Error(Fault::file, where, token.substr(0, 40) + " is beyond what a number can hold", "a number");
    }
    const auto [wrong, expected] = wrong_and_expected(error.what());
    throw Error(Fault::file, where, "syntax error: " + wrong, expected);
  }

 private:
  bool add(JsonValue::Kind kind, double number, std::string text) {
    if (++values_ > kMostValues) {
      fail("more than " + std::to_string(kMostValues) + " values", "a profile");
    }
    JsonValue& value = open_.empty() ? root_ : open_.back()->items.emplace_back();
    value.kind = kind;
    value.number = number;
    value.text = std::move(text);
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() == kDeepest) {
      throw Error(Fault::file, file_, "nested deeper than " + std::to_string(kDeepest) + " levels",
                  "a profile");
    }
    add(kind, 0, {});
    // Stays valid: a list grows again only once its last item is closed.
    open_.push_back(open_.empty() ? &root_ : &open_.back()->items.back());
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// To the value that comes next.
  [[nodiscard]] std::string next_step() const {
    if (open_.empty()) {
      return {};
    }
    const JsonValue& outer = *open_.back();
    return outer.kind == JsonValue::Kind::object ? pointer_step(outer.keys.back())
                                                 : "/" + std::to_string(outer.items.size());
  }
  /// At `step` of what is open.
  [[noreturn]] void fail(std::string wrong, std::string expected, const std::string& step = {}) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const JsonValue& outer = *open_[i];
      path += outer.kind == JsonValue::Kind::object ? pointer_step(outer.keys.back())
                                                    : "/" + std::to_string(outer.items.size() - 1);
    }
    throw Error(Fault::file, place_at(file_, path + step), std::move(wrong), std::move(expected));
  }

  JsonValue& root_;
  std::string_view text_;
  const std::string& file_;
  bool printable_;
  std::vector<JsonValue*> open_;
  std::size_t values_ = 0;
};

}  // namespace

JsonDocument::JsonDocument(std::string_view text, std::string file, Texts texts) : file_(std::move(file)) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(Fault::file, file_, "is empty", "JSON");
  }
  Builder builder(root_, text, file_, texts);
  nlohmann::json::sax_parse(text, &builder);
}

void Json::fail(std::string wrong, std::string expected) const {
  throw Error(Fault::file, place(), std::move(wrong), std::move(expected));
}

std::string Json::place() const {
  return place_at(*file_, path_);
}

void Json::expect(JsonValue::Kind kind) const {
  if (value_->kind != kind) {
    fail("is " + std::string(noun(value_->kind)), std::string(noun(kind)));
  }
}

void Json::check_limits(double value) const {
  if (!can_be_stated(value)) {
    fail("\"" + scalar() + "\" is out of range",
         "0, or " + exact(kLeastStated) + " to " + exact(kMostStated) + " in base units");
  }
}

Json Json::child(std::size_t index, std::string_view step) const {
  return {value_->items[index], *file_, path_ + std::string(step)};
}

void Json::only(std::initializer_list<std::string_view> known) const {
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::vector<std::string> names(known.begin(), known.end());
      fail("unknown key \"" + key + "\"", one_of(names, key));
    }
  }
}

const std::vector<std::string>& Json::keys() const {
  expect(JsonValue::Kind::object);
  return value_->keys;
}

std::optional<Json> Json::find(std::string_view key) const {
  const auto found = std::find(keys().begin(), keys().end(), key);
  if (found == keys().end()) {
    return std::nullopt;
  }
  if (std::find(found + 1, keys().end(), key) != keys().end()) {
    fail("the key \"" + std::string(key) + "\" is there twice", "each key once");
  }
  return child(static_cast<std::size_t>(found - keys().begin()), pointer_step(key));
}

Json Json::at(std::string_view key, std::string_view expected) const {
  auto found = find(key);
  if (!found) {
    fail("the key \"" + std::string(key) + "\" is missing", std::string(expected));
  }
  return *std::move(found);
}

std::vector<Json> Json::list(std::size_t least, std::size_t most) const {
  expect(JsonValue::Kind::list);
  const std::size_t size = value_->items.size();
  if (size < least || size > most) {
    const std::string bounds = least == most      ? std::to_string(least)
                               : most == SIZE_MAX ? "at least " + std::to_string(least)
                                                  : std::to_string(least) + " to " + std::to_string(most);
    fail(size == 0 ? "is an empty list" : "is a list of " + std::to_string(size), bounds);
  }
  std::vector<Json> items;
  items.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    items.push_back(child(i, "/" + std::to_string(i)));
  }
  return items;
}

const std::string& Json::text() const {
  expect(JsonValue::Kind::text);
  if (value_->text.empty()) {
    fail("is empty", "text");
  }
  return value_->text;
}

const std::string& Json::scalar() const {
  return is(JsonValue::Kind::number) ? value_->text : text();
}

double Json::number() const {
  expect(JsonValue::Kind::number);
  check_limits(value_->number);
  return value_->number;
}

std::size_t Json::count() const {
  constexpr double kLargest = 1e15;  // far inside what a double counts exactly
  expect(JsonValue::Kind::number);
  const double value = value_->number;
  if (!(value >= 0) || value > kLargest || value != static_cast<double>(static_cast<std::size_t>(value))) {
    fail(value_->text + " is not a whole number of 0 or more", "a whole number, such as 8");
  }
  return static_cast<std::size_t>(value);
}

bool Json::flag() const {
  expect(JsonValue::Kind::boolean);
  return value_->number != 0;
}

double Json::fraction() const {
  const std::string& given = scalar();
  double value = 0;
  try {
    value = parse_fraction(given);
  } catch (const Error& error) {
    throw error.inside(place(), Fault::file);
  }
  check_limits(value);
  return value;
}

SourcedJson sourced(const Json& json, const std::string& source_of_all) {
  if (!json.is(JsonValue::Kind::object)) {
    return {json, source_of_all};
  }
  json.only({"value", "source"});
  const auto source = json.find("source");
  return {json.at("value", "a number with its unit"), source ? source->text() : source_of_all};
}

std::string json_text(std::string_view text) {
  std::string printable(text);
  std::replace_if(printable.begin(), printable.end(), is_control, ' ');
  using Library = nlohmann::json;
  return Library(printable).dump(-1, ' ', false, Library::error_handler_t::replace);
}

std::string text_or_empty(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found ? found->text() : std::string();
}

void check_schema(const Json& root) {
  const Json schema = root.at("schema", "1");
  if (schema.number() != 1) {
    schema.fail("is version " + schema.scalar(), "1, the one that this program reads");
  }
}

}  // namespace breakeven
