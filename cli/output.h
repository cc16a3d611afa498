// Where a command's data goes: standard output, or a file that appears whole or not at all.
#pragma once

#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven::cli {

/// Writes to a file descriptor that it does not own. Remembers the first failure.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor);
  [[nodiscard]] int failure() const { return errno_; }  ///< errno, or 0

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  int descriptor_;
  int errno_ = 0;
  std::vector<char> buffer_;
};

class Output {
 public:
  /// `path`: "-" or empty for `standard`. Throws Error (file) when the file cannot be made.
  Output(const std::string& path, std::ostream& standard);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();  ///< without commit(): the file is as it was

  std::ostream& stream() { return stream_ ? *stream_ : standard_; }
  /// Everything was written: on disk first, then under its name. Throws Error (file).
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void open_beside(const std::string& target);
  void give_name();

  std::ostream& standard_;
  std::string path_, target_,
      temporary_;  // temporary_ is empty for what is no regular file: a device, a pipe
  int descriptor_ = -1;
  std::unique_ptr<DescriptorBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Throws Error (file) when something that was written to `standard` did not arrive.
void flush_standard(std::ostream& standard);
/// All of `text` at once through an Output.
void write_all(const std::string& path, std::ostream& standard, std::string_view text);

}  // namespace breakeven::cli
