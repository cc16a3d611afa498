#include "profiles/import/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "model/error.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

[[noreturn]] void refuse(const std::string& place, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw Error(Fault::file, place,
              missing ? "no such file" : "cannot be read (" + std::generic_category().message(error) + ")",
              "a file to import");
}

/// Closes at the end what it was given, but standard input.
struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number > STDIN_FILENO) {
      close(number);
    }
  }
  int number;
};

}  // namespace

FileBytes::FileBytes(const std::string& path, std::size_t most, std::size_t most_of_a_pipe) {
  const std::string place = place_of(path);
  const Descriptor file(path);
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) {
    refuse(place, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(Fault::file, place, "is a directory", "a file");
  }
  if (S_ISREG(status.st_mode) && path != "-") {
    size_ = static_cast<std::size_t>(status.st_size);
    const std::size_t size = std::min(*size_, most);
    void* mapped = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (mapped == MAP_FAILED) {
      refuse(place, errno);
    }
    mapped_ = mapped;
    bytes_ = {static_cast<const char*>(mapped), size};
  } else {
    read_pipe(file.number, place, most_of_a_pipe);
  }
  if (bytes_.empty()) {
    throw Error(Fault::file, place, "is empty", "a file to import");
  }
}

FileBytes::~FileBytes() {
  if (mapped_ != nullptr) {
    munmap(mapped_, bytes_.size());
  }
}

void FileBytes::read_pipe(int file, const std::string& place, std::size_t most) {
  std::array<char, 65536> block{};
  while (copy_.size() <= most) {
    const ssize_t got = read(file, block.data(), block.size());
    if (got < 0 && errno != EINTR) {
      refuse(place, errno);
    }
    if (got == 0) {
      break;
    }
    copy_.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  if (copy_.size() <= most) {
    size_ = copy_.size();
  }
  bytes_ = std::string_view(copy_).substr(0, most);
}

}  // namespace breakeven
