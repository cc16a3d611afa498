// Quantities with their dimension in the type: a sum of bytes and seconds does not compile.
// The one place where text and units meet: parse() reads what people write, to_string() writes what people
// read.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace breakeven {

/// A double in bytes^Data * s^Time. Bandwidths are bytes per second; only text knows bits.
template <int Data, int Time>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity of(double base) { return Quantity(base); }
  [[nodiscard]] constexpr double base() const { return base_; }

  constexpr Quantity& operator+=(Quantity other) {
    base_ += other.base_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    base_ -= other.base_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    base_ *= factor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.base_ + b.base_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.base_ - b.base_); }
  friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.base_ * b); }
  friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.base_); }
  friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.base_ / b); }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;  // NOLINT(modernize-use-nullptr)

 private:
  explicit constexpr Quantity(double base) : base_(base) {}
  double base_ = 0;
};

/// Exponents add up; what has no dimension left is a plain double.
template <int D1, int T1, int D2, int T2>
constexpr auto operator*(Quantity<D1, T1> a, Quantity<D2, T2> b) {
  if constexpr (D1 + D2 == 0 && T1 + T2 == 0) {
    return a.base() * b.base();
  } else {
    return Quantity<D1 + D2, T1 + T2>::of(a.base() * b.base());
  }
}
template <int D1, int T1, int D2, int T2>
constexpr auto operator/(Quantity<D1, T1> a, Quantity<D2, T2> b) {
  if constexpr (D1 == D2 && T1 == T2) {
    return a.base() / b.base();
  } else {
    return Quantity<D1 - D2, T1 - T2>::of(a.base() / b.base());
  }
}

using Bytes = Quantity<1, 0>;
using Seconds = Quantity<0, 1>;
using BytesPerSecond = Quantity<1, -1>;
using PerSecond = Quantity<0, -1>;  // samples or floating-point operations

/// Reads "25 MiB", "10 Gbit/s", "1.6 us", "253 /s", "15.7 TFLOP/s". Strict: a number without its unit, a unit
/// of another dimension, nan, inf and what a double cannot hold throw Error, which says what to write. Sign
/// and zero are the caller's business.
template <class Q>
Q parse(std::string_view text);
template <>
Bytes parse<Bytes>(std::string_view text);
template <>
Seconds parse<Seconds>(std::string_view text);
template <>
BytesPerSecond parse<BytesPerSecond>(std::string_view text);
template <>
PerSecond parse<PerSecond>(std::string_view text);

/// "0.01", "1e-3" or "1%" -> 0.01.
double parse_fraction(std::string_view text);
/// A finite number without a unit.
double parse_number(std::string_view text);
/// A whole number that is not negative.
std::size_t parse_count(std::string_view text);

/// Three significant digits in the unit people use: "452 ms", "1.34 GB", "25 MiB", "10 Gbit/s", "253 /s".
std::string to_string(Bytes value);
std::string to_string(Seconds value);
std::string to_string(BytesPerSecond value);
std::string to_string(PerSecond value);
/// `value` with `digits` significant digits and no exponent where that stays readable.
std::string significant(double value, int digits = 3);
/// The shortest text that reads back as the same double.
std::string exact(double value);

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes::of(static_cast<double>(n));
}
constexpr Bytes operator""_MB(unsigned long long n) {
  return Bytes::of(static_cast<double>(n) * 1e6);
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes::of(static_cast<double>(n) * 1048576.0);
}
constexpr BytesPerSecond operator""_Gbps(unsigned long long n) {
  return BytesPerSecond::of(static_cast<double>(n) * 1e9 / 8);
}
constexpr BytesPerSecond operator""_GBps(unsigned long long n) {
  return BytesPerSecond::of(static_cast<double>(n) * 1e9);
}
constexpr Seconds operator""_s(unsigned long long n) {
  return Seconds::of(static_cast<double>(n));
}
constexpr Seconds operator""_ms(unsigned long long n) {
  return Seconds::of(static_cast<double>(n) * 1e-3);
}
constexpr Seconds operator""_us(unsigned long long n) {
  return Seconds::of(static_cast<double>(n) * 1e-6);
}
}  // namespace literals

}  // namespace breakeven
