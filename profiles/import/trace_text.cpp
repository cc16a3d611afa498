#include "profiles/import/trace_text.h"

#include <algorithm>
#include <cstring>

#include "model/error.h"
#include "profiles/option_values.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kPadding = 64;
constexpr std::size_t kLargestValue = std::size_t{1} << 30;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// A window on the text that moves forward.
class Window {
 public:
  Window(const ReadBlock& read, const std::string& where) : read_(read), where_(where) {}

  [[noreturn]] void fail(const std::string& wrong, const std::string& expected) const {
    throw Error(Fault::file, where_, wrong, expected);
  }
  [[noreturn]] void fail_here(const std::string& expected) {
    const char c = peek();
    fail(c == '\0' ? "ends too early" : "byte " + std::to_string(gone_ + at_ + 1) + ": " + quote({&c, 1}),
         expected);
  }

  /// The next character that is no space; NUL at the end.
  char peek() {
    while (at_ < size_ || fill()) {
      if (!is_space(text_[at_])) {
        return text_[at_];
      }
      ++at_;
    }
    return '\0';
  }
  bool take(char c) {
    const bool there = peek() == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void skip_byte_order_mark() {
    if (peek() == '\xEF') {
      const std::string_view rest(text_.data() + at_, size_ - at_);
      at_ += rest.size() - without_byte_order_mark(rest).size();
    }
  }

  /// The value that begins here. Only its end is looked for: what it holds is the caller's business.
  std::string_view value(const std::string& expected) {
    const char first = peek();
    std::size_t length = 0;
    if (first == '"') {
      length = string_end(1, expected);
    } else if (first == '{' || first == '[') {
      length = nested_end(expected);
    } else {
      while (has(length) && std::strchr(",]} \n\r\t", text_[at_ + length]) == nullptr) {
        ++length;
      }
      if (length == 0) {
        fail_here(expected);
      }
    }
    const std::string_view found(text_.data() + at_, length);
    at_ += length;
    return found;
  }

 private:
  /// Whether the text goes on for more than `offset` bytes.
  bool has(std::size_t offset) {
    while (at_ + offset >= size_) {
      if (offset > kLargestValue) {
        fail("holds a value of more than 1 GiB", "a trace");
      }
      if (!fill()) {
        return false;
      }
    }
    return true;
  }
  /// Reads on; as much as there is already, so that a long value is not moved often.
  bool fill() {
    text_.erase(0, at_);
    gone_ += at_;
    size_ -= at_;
    at_ = 0;
    const std::size_t more = std::max(kBlock, size_);
    text_.resize(size_ + more + kPadding);
    const std::size_t got = read_(text_.data() + size_, more);
    size_ += got;
    text_.resize(size_ + kPadding);
    return got > 0;
  }
  /// Behind the quote that ends the string whose inside begins at `offset`.
  std::size_t string_end(std::size_t offset, const std::string& expected) {
    for (; has(offset); ++offset) {
      const char c = text_[at_ + offset];
      if (c == '"') {
        return offset + 1;
      }
      offset += c == '\\' ? 1 : 0;
    }
    at_ = size_;
    fail_here(expected);
  }
  std::size_t nested_end(const std::string& expected) {
    std::size_t depth = 0;
    for (std::size_t offset = 0; has(offset);) {
      const char c = text_[at_ + offset];
      ++offset;
      if (c == '"') {
        offset = string_end(offset, expected);
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) {
          return offset;
        }
      }
    }
    at_ = size_;
    fail_here(expected);
  }

  const ReadBlock& read_;
  const std::string& where_;
  std::string text_;  // kPadding bytes longer than what was read
  std::size_t size_ = 0, at_ = 0, gone_ = 0;
};

/// The events up to the closing bracket. Commas too many are forgiven: programs leave one at the end.
bool cut_events(Window& window, const TraceParts& parts) {
  for (std::size_t number = 1;; ++number) {
    while (window.take(',')) {
    }
    if (window.take(']')) {
      return true;
    }
    if (window.peek() == '\0') {
      return false;
    }
    if (window.peek() != '{') {
      window.fail_here("an event {...} of a trace");
    }
    parts.event(window.value("the end of an event"), number);
  }
}

/// Returns whether the events came to their end.
bool cut_members(Window& window, const TraceParts& parts) {
  bool any = false;
  while (!window.take('}')) {
    if (window.peek() != '"') {
      window.fail_here("the name of a member of the trace");
    }
    std::string key(window.value("the end of a name"));
    key = key.substr(1, key.size() - 2);
    if (!window.take(':')) {
      window.fail_here("a colon");
    }
    if (key == "traceEvents" && window.take('[')) {
      any = true;
      if (!cut_events(window, parts)) {
        return false;
      }
    } else {
      const std::string_view json = window.value("the value of \"" + key + "\"");
      if (parts.member) {
        parts.member(key, json);
      }
    }
    if (!window.take(',') && window.peek() != '}') {
      window.fail_here("a comma or }");
    }
  }
  if (!any) {
    window.fail("has no list \"traceEvents\"", "a trace of Chrome's format");
  }
  return true;
}

}  // namespace

bool cut_trace(const ReadBlock& read, const std::string& where, const TraceParts& parts) {
  Window window(read, where);
  window.skip_byte_order_mark();
  bool whole = false;
  if (window.take('[')) {
    whole = cut_events(window, parts);
  } else if (window.take('{')) {
    whole = cut_members(window, parts);
  } else if (window.peek() == '\0') {
    window.fail("is empty", "a trace");
  } else {
    window.fail_here("a trace: {\"traceEvents\": [...]} or a list of events");
  }
  if (whole && window.peek() != '\0') {
    window.fail_here("nothing behind the trace");
  }
  return whole;
}

}  // namespace breakeven
