// Reads what a user names: whole, bounded, and with an error for everything that is no text.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/error.h"
#include "model/units.h"
#include "profiles/catalogue.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;

[[noreturn]] void refuse(const std::string& place, std::string wrong, std::string expected) {
  throw Error(Fault::file, place, std::move(wrong), std::move(expected));
}

[[noreturn]] void too_large(const std::string& place, const std::string& size, const std::string& what) {
  refuse(place, "is " + size, what + " of at most " + to_string(Bytes::of(static_cast<double>(kLargest))));
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// Looks before it opens: a huge file is refused unread.
void check_kind(const std::string& path, const std::string& place, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    refuse(place, "no such file", what);
  }
  if (error) {
    refuse(place, "cannot be read (" + error.message() + ")", what);
  }
  if (std::filesystem::is_directory(status)) {
    refuse(place, "is a directory", "a file");
  }
  if (std::filesystem::is_regular_file(status)) {
    const auto size = std::filesystem::file_size(path, error);
    if (!error && size > kLargest) {
      too_large(place, to_string(Bytes::of(static_cast<double>(size))), what);
    }
  }
}

std::string read_all(std::FILE* file, const std::string& place, const std::string& what) {
  std::string text;
  std::array<char, 65536> block{};
  std::size_t got = 0;
  while ((got = std::fread(block.data(), 1, block.size(), file)) > 0) {
    const std::string_view part(block.data(), got);
    if (part.find('\0') != std::string_view::npos) {
      refuse(place, "holds binary data", what);
    }
    text += part;
    if (text.size() > kLargest) {
      too_large(place, "larger than " + to_string(Bytes::of(static_cast<double>(kLargest))), what);
    }
  }
  if (std::ferror(file) != 0) {
    refuse(place, "cannot be read (" + reason(errno) + ")", what);
  }
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  if (text.empty()) {
    refuse(place, "is empty", what);
  }
  return text;
}

}  // namespace

std::string place_of(const std::string& path) {
  if (path == "-") {
    return "<stdin>";
  }
  std::string place = path;  // on one line, whatever the file is called
  std::replace_if(
      place.begin(), place.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return place;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string read_text(const std::string& path) {
  return read_text(path, "a text file");
}

std::string read_text(const std::string& path, const std::string& what) {
  const std::string place = place_of(path);
  if (path == "-") {
    return read_all(stdin, place, what);
  }
  check_kind(path, place, what);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    refuse(place, "cannot be read (" + reason(errno) + ")", what);
  }
  return read_all(file.get(), place, what);
}

}  // namespace breakeven
