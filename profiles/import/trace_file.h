// The bytes of a trace, plain or gzip, block by block: traces are too large to be held as text.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace breakeven {

/// Puts at most `most` further bytes at `into` and returns how many; 0: the end. Throws Error (file).
using ReadBlock = std::function<std::size_t(char* into, std::size_t most)>;

/// Opens a file that a user named ("-": standard input). What begins as gzip does is unpacked. The reader
/// refuses what is no file or cannot be read, what is cut short or damaged inside its gzip wrapping, and more
/// than 16 GiB of text. Throws Error (file) that names `path`.
ReadBlock open_trace(const std::string& path);
/// The bytes of `text`, which must outlive the reader.
ReadBlock blocks_of(std::string_view text);

}  // namespace breakeven
