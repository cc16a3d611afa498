// What the fuzz targets share: an invariant that ends the run, numbers that make sense, refusals of the right
// kind.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/error.h"
#include "model/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace breakeven::fuzz {

/// Ends the process when something that must hold does not: libFuzzer then keeps the input.
inline void require(bool holds, std::string_view what, std::string_view where = {}) {
  if (!holds) {
    std::fprintf(stderr, "fuzz: does not hold: %.*s %.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(where.size()), where.data());
    std::abort();
  }
}

inline void require_amount(double value, std::string_view what) {
  require(std::isfinite(value) && value >= 0, what, exact(value));
}
template <int Data, int Time>
void require_amount(Quantity<Data, Time> value, std::string_view what) {
  require_amount(value.base(), what);
}
template <class Value>
void require_above_zero(Value value, std::string_view what) {
  require_amount(value, what);
  require(value > Value{}, what);
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Other texts may be written with replacements, and then no longer be read.
inline bool is_printable_ascii(std::string_view text) {
  return text.find_first_not_of(
             " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
             "abcdefghijklmnopqrstuvwxyz{|}~\n\r") == std::string_view::npos;
}

/// What `read` makes of a file's text; nothing when it refuses it, which must be the file's fault and name
/// the file.
template <class Read>
auto read_or_refuse(Read read, const std::uint8_t* data, std::size_t size)
    -> std::optional<decltype(read(std::string_view{}, std::string{}))> {
  const std::string file = "input.json";
  try {
    return read(text_of(data, size), file);
  } catch (const Error& error) {
    require(error.fault() == Fault::file, "a refused file is the file's fault:", error.what());
    require(error.where().starts_with(file), "a refusal names the file:", error.what());
    require(!error.wrong().empty(), "a refusal says what is wrong:", error.what());
    return std::nullopt;
  }
}

}  // namespace breakeven::fuzz
