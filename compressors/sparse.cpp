#include "compressors/sparse.h"

#include <cstdint>
#include <limits>

#include "compressors/dense.h"

namespace breakeven {

double kept(double ratio, double n) {
  const double product = ratio * n;
  const double nearest = std::round(product);
  const double slack = 4 * std::numeric_limits<double>::epsilon() * product;
  const double whole = std::abs(product - nearest) <= slack ? nearest : std::floor(product);
  return std::min(std::max(whole, 1.0), n);
}

Param index_param() {
  return choice_param("index", {"u64", "u32"},
                      "positions as sent: 64 bit as torch.topk returns them, or 32 bit");
}

double index_bytes(const Params& params) {
  return params.is("index", "u64") ? 8 : 4;
}

bool codable(std::span<const Shape> tensors) {
  return all_f32(tensors) && elements(tensors) <= std::numeric_limits<std::uint32_t>::max();
}

Param feedback_param() {
  return choice_param("feedback", {"on", "off"}, "keep what is not sent and add it to the next gradient");
}

Work select(const Flat& all, double passes, double k, double entry, double selections) {
  return coding(passes * all.bytes().base() + k * entry, 2 * passes * all.elements, passes * selections,
                all.elements);
}

double radix_passes(const Flat& all) {
  return all.width + 1;
}

Work with_feedback(Work encode, const Flat& gradient) {
  encode.touched += 3 * gradient.bytes();
  encode.flops += gradient.elements;
  encode.launches += 1;
  return encode;
}

Plan gathered_entries(const Work& encode, double k, double value, double index, const Work& decode) {
  return {{encode, Exchange::all_gather, Bytes::of(k * value), {}, Element::bytes},
          {{}, Exchange::all_gather, Bytes::of(k * index), decode, Element::bytes}};
}

Work scatter(const Flat& gradient, double k, double entry, double repeats) {
  const double touched = gradient.bytes().base() + repeats * k * (entry + 2 * gradient.width);
  return coding(touched, repeats * k, 2, gradient.elements, repeats);
}

}  // namespace breakeven
