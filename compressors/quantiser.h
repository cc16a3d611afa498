// Codes of fixed length (signs, levels) and the two ways to exchange them.
#pragma once

#include "compressors/plan.h"

namespace breakeven {

/// Every element takes `bits`, every block of elements its constants (scale, norm, zero point).
struct Quantiser {
  double bits = 8;
  double word = 1;       ///< bytes that the packed elements of a payload are rounded up to
  double block = 0;      ///< elements that share constants; 0: all of a payload
  double constants = 4;  ///< bytes of a block's constants
  // encoding
  double traffic = 1;  ///< elements of the gradient's type that are read or written for one element
  double flops = 4;    ///< for one element; random numbers come on top, but memory is what bounds it
  double launches = 1;

  [[nodiscard]] double payload(double n) const;
};

/// Passes over the gradient until the constants are known and the elements are coded: one where a block stays
/// in registers, else two.
double passes(double block, double n);

/// All-gather: every worker decodes and adds all payloads in one pass.
Plan gathered(const Quantiser& code, const Flat& gradient, std::size_t workers);
/// All-to-all of chunks, each worker adds up its own and codes the sum with `server`; all-gather of the
/// results.
Plan scattered(const Quantiser& code, const Quantiser& server, const Flat& gradient, std::size_t workers);

}  // namespace breakeven
