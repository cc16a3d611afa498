#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "model/error.h"

namespace breakeven::cli {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

mode_t file_mode_of_process() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void flush_standard(std::ostream& standard) {
  if (!standard.flush()) {
    const auto* buffer = dynamic_cast<const DescriptorBuffer*>(standard.rdbuf());
    const int error = buffer != nullptr && buffer->failure() != 0 ? buffer->failure() : EIO;
    throw Error(Fault::file, "<stdout>", std::string("cannot write: ") + std::strerror(error),
                "a place that takes it");
  }
}

DescriptorBuffer::DescriptorBuffer(int descriptor) : descriptor_(descriptor), buffer_(kBuffer) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

int DescriptorBuffer::sync() {
  const char* from = pbase();
  while (errno_ == 0 && from != pptr()) {
    const ssize_t written = write(descriptor_, from, static_cast<std::size_t>(pptr() - from));
    if (written >= 0) {
      from += written;
    } else if (errno != EINTR) {
      errno_ = errno;
    }
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return errno_ == 0 ? 0 : -1;
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
  if (sync() != 0) {
    return traits_type::eof();
  }
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(c);
    pbump(1);
  }
  return traits_type::not_eof(c);
}

Output::Output(const std::string& path, std::ostream& standard) : standard_(standard), path_(path) {
  if (path.empty() || path == "-") {
    return;
  }
  std::error_code ignored;
  const std::filesystem::path resolved =
      std::filesystem::weakly_canonical(path, ignored);  // a link keeps being one
  const std::string target = ignored ? path : resolved.string();
  struct stat status {};
  const bool exists = stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    fail(EISDIR);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fail(errno);
    }
  } else {
    if (exists && access(target.c_str(), W_OK) != 0) {
      fail(errno);
    }
    open_beside(target);
    if (fchmod(descriptor_, exists ? status.st_mode & 07777 : file_mode_of_process()) != 0) {
      const int error = errno;
      close(descriptor_);
      if (!temporary_.empty()) {
        unlink(temporary_.c_str());
      }
      fail(error);
    }
  }
  buffer_ = std::make_unique<DescriptorBuffer>(descriptor_);
  stream_ = std::make_unique<std::ostream>(buffer_.get());
}

/// A file without a name, in the target's folder: whatever ends the process, nothing is left behind. Where
/// the file system has none, a named one.
void Output::open_beside(const std::string& target) {
  target_ = target;
  const std::string folder = std::filesystem::path(target).parent_path().string();
  descriptor_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) {
    return;
  }
  temporary_ = target + ".XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(errno);
  }
}

/// Gives the nameless file a name beside the target, to be renamed.
void Output::give_name() {
  constexpr int kTries = 100;
  const std::string source = "/proc/self/fd/" + std::to_string(descriptor_);
  for (int i = 0; i < kTries; ++i) {
    temporary_ = target_ + "." + std::to_string(getpid()) + "-" + std::to_string(i);
    if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  const int error = errno;
  temporary_.clear();
  fail(error);
}

Output::~Output() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    if (!temporary_.empty()) {
      unlink(temporary_.c_str());
    }
  }
}

void Output::commit() {
  if (!stream_) {
    flush_standard(standard_);
    return;
  }
  stream_->flush();
  if (buffer_->failure() != 0) {
    fail(buffer_->failure());
  }
  if (!target_.empty()) {
    if (fsync(descriptor_) != 0) {
      fail(errno);
    }
    if (temporary_.empty()) {
      give_name();
    }
    if (rename(temporary_.c_str(), target_.c_str()) != 0) {
      fail(errno);
    }
    temporary_.clear();
  }
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) {
    fail(errno);
  }
}

void Output::fail(int error) const {
  throw Error(Fault::file, path_, std::string("cannot write: ") + std::strerror(error),
              "a place that takes it");
}

void write_all(const std::string& path, std::ostream& standard, std::string_view text) {
  Output output(path, standard);
  output.stream() << text;
  output.commit();
}

}  // namespace breakeven::cli
