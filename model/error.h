// What a user can mend: where it is, what is wrong there, and what was expected.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

enum class Fault {
  value,  ///< a bad option or value: exit status 2
  file,   ///< a file that cannot be read, written or understood: exit status 1
};

/// Prints as "WHERE: what is wrong: what was expected".
class Error : public std::runtime_error {
 public:
  Error(Fault fault, std::string where, std::string wrong, std::string expected = {});

  [[nodiscard]] Fault fault() const { return fault_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }

  /// The same error seen from further out: `outer` is put in front of where(), and the fault becomes `fault`.
  [[nodiscard]] Error inside(const std::string& outer, Fault fault) const;

 private:
  Fault fault_;
  std::string where_, wrong_, expected_;
};

/// The name that was probably meant, or nothing when none is close.
std::string nearest(std::string_view name, std::span<const std::string> known);
/// "one of a, b, c (did you mean b?)": the `expected` of an unknown name.
std::string one_of(std::span<const std::string> known, std::string_view name = {});

}  // namespace breakeven
