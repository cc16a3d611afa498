#include "profiles/import/trace_file.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "model/error.h"
#include "model/units.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

// A trace of an hour is smaller; a few kilobytes of gzip can claim more.
constexpr std::size_t kLargest = std::size_t{16} << 30;
constexpr std::size_t kOnce = std::size_t{64} << 20;  // gzread counts in int
constexpr unsigned kBuffer = 1U << 18;

[[noreturn]] void refuse(const std::string& place, std::string wrong, std::string expected) {
  throw Error(Fault::file, place, std::move(wrong), std::move(expected));
}

class PackedFile {
 public:
  explicit PackedFile(const std::string& path) : place_(place_of(path)) {
    if (path == "-") {
      file_ = gzdopen(dup(STDIN_FILENO), "rb");
    } else {
      check_kind(path);
      errno = 0;
      file_ = gzopen(path.c_str(), "rb");
    }
    if (file_ == nullptr) {
      refuse(place_, "cannot be read (" + std::generic_category().message(errno) + ")", "a trace");
    }
    gzbuffer(file_, kBuffer);
  }
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;
  ~PackedFile() { gzclose(file_); }

  std::size_t read(char* into, std::size_t most) {
    errno = 0;
    const int got = gzread(file_, into, static_cast<unsigned>(std::min(most, kOnce)));
    const int system = errno;
    int code = Z_OK;
    const std::string words = gzerror(file_, &code);
    if (code == Z_BUF_ERROR) {
      refuse(place_, "is cut short: its gzip data ends too early", "a whole file");
    }
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      refuse(place_,
             code == Z_ERRNO ? "cannot be read (" + std::generic_category().message(system) + ")"
                             : "has damaged gzip data (" + words + ")",
             "a trace");
    }
    total_ += static_cast<std::size_t>(got);
    if (total_ > kLargest) {
      refuse(place_, "holds more than " + to_string(Bytes::of(static_cast<double>(kLargest))),
             "a trace of a few steps");
    }
    return static_cast<std::size_t>(got);
  }

 private:
  void check_kind(const std::string& path) const {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
      refuse(place_, "no such file", "a trace");
    }
    if (std::filesystem::is_directory(status)) {
      refuse(place_, "is a directory", "a file");
    }
  }

  std::string place_;
  gzFile file_ = nullptr;
  std::size_t total_ = 0;
};

}  // namespace

ReadBlock open_trace(const std::string& path) {
  const auto file = std::make_shared<PackedFile>(path);
  return [file](char* into, std::size_t most) { return file->read(into, most); };
}

ReadBlock blocks_of(std::string_view text) {
  return [text](char* into, std::size_t most) mutable {
    const std::size_t size = std::min(most, text.size());
    std::memcpy(into, text.data(), size);
    text.remove_prefix(size);
    return size;
  };
}

}  // namespace breakeven
