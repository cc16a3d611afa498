#include "compressors/simd/majority.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/majority.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Bits are added "sliced": plane k holds bit k of the count of each position, so one full adder on whole
// vectors adds as many positions as a vector has bits (carry-save adders: Harley, Seal).

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bits = hn::ScalableTag<std::uint8_t>;
using Vector = hn::Vec<Bits>;
constexpr std::size_t kLanes = hn::MaxLanes(Bits());

/// Bits that a count up to `votes` takes.
constexpr std::size_t planes_of(std::size_t votes) {
  return static_cast<std::size_t>(std::bit_width(votes));
}
/// Votes that count in one tree of adders.
constexpr std::size_t kTree = 15;
constexpr std::size_t kMostPlanes = 64;

/// a = a + b + carry, one plane; returns the carry of the next.
HWY_INLINE Vector full_add(Vector& a, Vector b, Vector carry) {
  const Vector differ = hn::Xor(a, b);
  const Vector next = hn::OrAnd(hn::And(a, b), differ, carry);
  a = hn::Xor(differ, carry);
  return next;
}
HWY_INLINE Vector half_add(Vector& a, Vector carry) {
  const Vector next = hn::And(a, carry);
  a = hn::Xor(a, carry);
  return next;
}

/// planes[kPlane..] = planes + more + carry, for counts up to kBig and kSmall whose sum with the carry is at
/// most kAll.
template <std::size_t kPlane, std::size_t kBig, std::size_t kSmall, std::size_t kAll>
HWY_INLINE void add_planes(Vector* planes, const Vector* more, Vector carry) {
  if constexpr (kPlane < planes_of(kSmall)) {
    carry = full_add(planes[kPlane], more[kPlane], carry);
    add_planes<kPlane + 1, kBig, kSmall, kAll>(planes, more, carry);
  } else if constexpr (kPlane < planes_of(kBig)) {
    carry = half_add(planes[kPlane], carry);
    add_planes<kPlane + 1, kBig, kSmall, kAll>(planes, more, carry);
  } else if constexpr (kPlane < planes_of(kAll)) {
    planes[kPlane] = carry;
  }
}

/// Counts kVotes votes from `first` on: two halves, and one vote more as the carry that comes in.
template <std::size_t kVotes, class Load>
HWY_INLINE void count(Load load, std::size_t first, Vector* planes) {
  if constexpr (kVotes == 1) {
    planes[0] = load(first);
  } else {
    constexpr std::size_t kSmall = (kVotes - 1) / 2, kBig = kVotes - 1 - kSmall;
    count<kBig>(load, first, planes);
    Vector more[planes_of(kTree)];
    if constexpr (kSmall > 0) {
      count<kSmall>(load, first + kBig, more);
    }
    add_planes<0, kBig, kSmall, kVotes>(planes, more, load(first + kVotes - 1));
  }
}

/// Adds kVotes votes to a count of `size` planes.
template <std::size_t kVotes, class Load>
HWY_INLINE void count_more(Load load, std::size_t first, Vector* planes, std::size_t size) {
  Vector more[planes_of(kTree)];
  count<kVotes>(load, first, more);
  Vector carry = hn::Zero(Bits());
  for (std::size_t k = 0; k < size; ++k) {
    carry = k < planes_of(kVotes) ? full_add(planes[k], more[k], carry) : half_add(planes[k], carry);
  }
}

/// Where the count is at least half of `votes`: the carry of count + 2^size - threshold.
HWY_INLINE Vector at_least_half(const Vector* planes, std::size_t size, std::size_t votes) {
  const std::size_t threshold = (votes + 1) / 2, complement = (std::size_t{1} << size) - threshold;
  Vector carry = hn::Zero(Bits());
  for (std::size_t k = 0; k < size; ++k) {
    carry = (complement >> k & 1U) != 0 ? hn::Or(planes[k], carry) : hn::And(planes[k], carry);
  }
  return carry;
}

/// The vote on one vector; load(i) is vote i's.
template <std::size_t kVotes>
struct Tree {
  template <class Load>
  HWY_INLINE Vector operator()(Load load) const {
    Vector planes[planes_of(kTree)];
    count<kVotes>(load, 0, planes);
    return at_least_half(planes, planes_of(kVotes), kVotes);
  }
};
struct AnyNumber {
  std::size_t votes;

  template <class Load>
  HWY_INLINE Vector operator()(Load load) const {
    Vector planes[kMostPlanes];
    const std::size_t size = planes_of(votes);
    for (std::size_t k = 0; k < size; ++k) {
      planes[k] = hn::Zero(Bits());
    }
    std::size_t first = 0;
    for (; first + kTree <= votes; first += kTree) {
      count_more<kTree>(load, first, planes, size);
    }
    for (; first + 3 <= votes; first += 3) {
      count_more<3>(load, first, planes, size);
    }
    for (; first < votes; ++first) {
      count_more<1>(load, first, planes, size);
    }
    return at_least_half(planes, size, votes);
  }
};

template <class Vote>
HWY_INLINE void vote_all(const std::byte* const* votes, std::size_t bytes, std::byte* to, Vote vote) {
  const Bits d;
  for (std::size_t at = 0; at + kLanes <= bytes; at += kLanes) {
    const Vector result = vote(
        [&](std::size_t i) { return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(votes[i]) + at); });
    hn::StoreU(result, d, reinterpret_cast<std::uint8_t*>(to) + at);
  }
}

/// The bytes behind the last whole vector. One code for any number: a tree of loads that fill up a vector,
/// for every number, took minutes to compile.
void vote_rest(const std::byte* const* votes, std::size_t number, std::size_t bytes, std::byte* to) {
  const std::size_t at = bytes / kLanes * kLanes, rest = bytes - at;
  if (rest == 0) {
    return;
  }
  const Vector result = AnyNumber{number}([&](std::size_t i) {
    std::uint8_t padded[kLanes] = {};
    std::memcpy(padded, votes[i] + at, rest);
    return hn::LoadU(Bits(), padded);
  });
  std::uint8_t last[kLanes];
  hn::StoreU(result, Bits(), last);
  std::memcpy(to + at, last, rest);
}

template <std::size_t kVotes>
void vote_on(const std::byte* const* votes, std::size_t number, std::size_t bytes, std::byte* to) {
  if constexpr (kVotes > kTree) {
    vote_all(votes, bytes, to, AnyNumber{number});
  } else if (number == kVotes) {
    const std::byte* copies[kVotes];  // that no store can change
    std::copy_n(votes, kVotes, copies);
    vote_all(copies, bytes, to, Tree<kVotes>());
  } else {
    vote_on<kVotes + 1>(votes, number, bytes, to);
  }
}

void majority_of(const std::byte* const* votes, std::size_t number, std::size_t bytes, std::byte* to) {
  vote_on<1>(votes, number, bytes, to);
  vote_rest(votes, number, bytes, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(majority_of);

void majority(std::span<const std::byte* const> votes, std::size_t bytes, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(majority_of)(votes.data(), votes.size(), bytes, to);
}

}  // namespace breakeven
#endif  // HWY_ONCE
