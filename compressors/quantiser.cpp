#include "compressors/quantiser.h"

namespace breakeven {
namespace {

/// 32-bit registers of one thread block, as CUDA's deviceQuery reports: the most that one pass can keep of a
/// block.
constexpr double kRegisters = 65536;

Work encode(const Quantiser& code, double n, double width, double sent) {
  return coding(code.traffic * width * n + sent, code.flops * n, code.launches, n);
}

}  // namespace

double Quantiser::payload(double n) const {
  if (n == 0) {
    return 0;
  }
  return round_up(std::ceil(n * bits / 8), word) + constants * (block > 0 ? std::ceil(n / block) : 1);
}

double passes(double block, double n) {
  return (block > 0 ? std::min(block, n) : n) > kRegisters ? 2 : 1;
}

Plan gathered(const Quantiser& code, const Flat& gradient, std::size_t workers) {
  const double n = gradient.elements;
  if (n == 0) {
    return {};
  }
  const double all = at_least_one(workers);
  const double sent = code.payload(n);
  const Work decode = coding(all * sent + gradient.bytes().base(), 2 * all * n, 1, n, all);
  return {
      {encode(code, n, gradient.width, sent), Exchange::all_gather, Bytes::of(sent), decode, Element::bytes}};
}

Plan scattered(const Quantiser& code, const Quantiser& server, const Flat& gradient, std::size_t workers) {
  const double n = gradient.elements;
  if (n == 0) {
    return {};
  }
  const double all = at_least_one(workers);
  const double chunk = std::ceil(n / all);  // chunks of equal size: the last is padded
  const double scattered = all * code.payload(chunk);
  const double result = server.payload(chunk);
  const double width = gradient.width;
  // One kernel adds up all chunks received: as much to decode as one payload of the whole message.
  const Work sum = coding(scattered + width * chunk, 2 * all * chunk, 1, n);
  const Work decode = coding(all * result + width * n, 2 * n, 1, n);
  return {
      {encode(code, n, width, scattered), Exchange::all_to_all, Bytes::of(scattered), sum, Element::bytes},
      {encode(server, chunk, width, result), Exchange::all_gather, Bytes::of(result), decode,
       Element::bytes}};
}

}  // namespace breakeven
