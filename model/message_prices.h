// What messages cost on the network by their size, for schedules that ask thousands of times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/collectives.h"
#include "model/compressor.h"

namespace breakeven {

/// Of a message as one vector, coded as the scheme codes it. What the scheme sends is found out once a size
/// and remembered from fabric to fabric. `compressor` must outlive it; not thread-safe.
class MessagePrices {
 public:
  /// `software`: its share of every exchange.
  MessagePrices(const Compressor& compressor, Element gradient, const Group& group, Algorithm algorithm,
                Seconds software);

  /// From here on over `fabric`, which must live as long as prices are asked.
  void use(const Fabric& fabric);
  /// All rounds on the network; of nothing: their start-ups.
  [[nodiscard]] Seconds exchange(Bytes size);
  [[nodiscard]] Plan plan(Bytes size) const;

 private:
  struct Sent {  // in one round
    Exchange exchange = Exchange::none;
    double payload = 0;
  };
  struct Known {  // an entry of an open hash table: rounds_[first] to [first + count]
    std::size_t elements = 0;
    std::uint32_t first = 0, count = 0;
  };
  /// One algorithm: every formula of transfer() is a start-up and a time a byte.
  struct Line {
    double startup = 0, per_byte = 0;
  };
  /// The cheapest counts. None: ask transfer().
  using Lines = std::vector<Line>;

  /// Exchanges whose formulas know nothing but the payload.
  static constexpr std::size_t kLined = static_cast<std::size_t>(Exchange::push_pull) + 1;

  [[nodiscard]] Lines lines(Exchange exchange) const;
  [[nodiscard]] Seconds by_plan(Bytes size) const;
  const Known& known(std::size_t elements);
  [[nodiscard]] Known& slot(std::size_t elements);
  void grow();

  const Compressor& compressor_;
  Element gradient_;
  Group group_;
  Algorithm algorithm_;
  Seconds software_;
  const Fabric* fabric_ = nullptr;
  std::array<Lines, kLined> lines_;
  std::vector<Sent> rounds_;
  std::vector<Known> table_;
  std::size_t used_ = 0;
};

}  // namespace breakeven
