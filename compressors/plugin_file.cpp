#include "compressors/plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace breakeven {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#else
constexpr unsigned kMachine = EM_NONE;  // not known here: dlopen looks
#endif

constexpr auto kShort = "it is cut short";

class File {
 public:
  // A pipe must not keep us waiting for who writes to it.
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  template <class Header>
  [[nodiscard]] bool read(Header& to, std::uint64_t from) const {
    return ::pread(descriptor_, &to, sizeof(to), static_cast<off_t>(from)) ==
           static_cast<ssize_t>(sizeof(to));
  }

 private:
  int descriptor_;
};

std::string wrong_header(const Elf64_Ehdr& header) {
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.e_ident[EI_CLASS] != kClass || (kMachine != EM_NONE && header.e_machine != kMachine)) {
    return "it is made for another kind of processor";
  }
  return header.e_type == ET_DYN ? "" : "it is no shared object";
}

/// Does all that its program headers map lie in the file?
std::string wrong_segments(const File& file, const Elf64_Ehdr& header, std::uint64_t size) {
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::uint64_t at = header.e_phoff + i * sizeof(segment);
    if (at < header.e_phoff || at > size || !file.read(segment, at)) {
      return kShort;
    }
    if (segment.p_type == PT_LOAD &&
        (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz)) {
      return kShort;
    }
  }
  return {};
}

}  // namespace

std::string unloadable(const std::string& path) {
  const File file(path);
  struct stat status {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0) {
    return std::generic_category().message(errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return "it is a directory";
  }
  if (!S_ISREG(status.st_mode)) {
    return "it is no regular file";
  }
  Elf64_Ehdr header{};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!file.read(header.e_ident, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is no shared object";
  }
  if (!file.read(header, 0)) {
    return kShort;
  }
  const std::string wrong = wrong_header(header);
  return !wrong.empty() || header.e_ident[EI_CLASS] != ELFCLASS64 ? wrong
                                                                  : wrong_segments(file, header, size);
}

}  // namespace breakeven
