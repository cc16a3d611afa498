#include "compressors/trial/exchange.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "compressors/half.h"

namespace breakeven {
namespace {

template <class T>
void store(Payload& to, std::size_t at, T value) {
  std::memcpy(to.data() + at * sizeof(T), &value, sizeof(T));
}
template <class T>
T load(const Payload& from, std::size_t at) {
  T value;
  std::memcpy(&value, from.data() + at * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Add>
void add_all(Payload& sum, const Payload& more, Add add) {
  for (std::size_t i = 0; i < sum.size() / sizeof(T); ++i) {
    store<T>(sum, i, add(load<T>(sum, i), load<T>(more, i)));
  }
}

void accumulate(Element element, Payload& sum, const Payload& more) {
  using Half = std::uint16_t;
  switch (element) {
    case Element::f32:
      add_all<float>(sum, more, [](float a, float b) { return a + b; });
      break;
    case Element::f16:
      add_all<Half>(sum, more, [](Half a, Half b) { return to_f16(from_f16(a) + from_f16(b)); });
      break;
    case Element::bf16:
      add_all<Half>(sum, more, [](Half a, Half b) { return to_bf16(from_bf16(a) + from_bf16(b)); });
      break;
    case Element::i32:
      add_all<std::uint32_t>(sum, more, [](std::uint32_t a, std::uint32_t b) { return a + b; });
      break;
    case Element::bytes:
      add_all<std::uint8_t>(sum, more,
                            [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a + b); });
      break;
  }
}

/// Part `rank` of `workers` equal parts.
std::span<const std::byte> part(const Payload& payload, std::size_t rank, std::size_t workers) {
  if (payload.size() % workers != 0) {
    throw std::invalid_argument(std::to_string(payload.size()) + " bytes do not part among " +
                                std::to_string(workers) + " workers");
  }
  const std::size_t length = payload.size() / workers;
  return std::span(payload).subspan(rank * length, length);
}

}  // namespace

Payload exchanged(const Round& round, std::span<const Payload> payloads, std::size_t rank) {
  for (const Payload& payload : payloads) {
    if (payload.size() != payloads.front().size()) {
      throw std::invalid_argument("payloads of " + std::to_string(payloads.front().size()) + " and " +
                                  std::to_string(payload.size()) + " bytes in one exchange");
    }
  }
  Payload received;
  switch (round.exchange) {
    case Exchange::none:
      return payloads[rank];
    case Exchange::all_gather:
      for (const Payload& payload : payloads) {
        received.insert(received.end(), payload.begin(), payload.end());
      }
      return received;
    case Exchange::all_to_all:
      for (const Payload& payload : payloads) {
        const auto mine = part(payload, rank, payloads.size());
        received.insert(received.end(), mine.begin(), mine.end());
      }
      return received;
    case Exchange::broadcast:
      return payloads.front();
    case Exchange::tree_step:
      if (rank % (2 * round.distance) == 0 && rank + round.distance < payloads.size()) {
        return payloads[rank + round.distance];
      }
      return received;
    case Exchange::all_reduce:
    case Exchange::push_pull:
    case Exchange::reduce_scatter:
      break;
  }
  received = payloads.front();
  for (const Payload& payload : payloads.subspan(1)) {
    accumulate(round.element, received, payload);
  }
  if (round.exchange == Exchange::reduce_scatter) {
    const auto mine = part(received, rank, payloads.size());
    return {mine.begin(), mine.end()};
  }
  return received;
}

}  // namespace breakeven
