#include "compressors/sign_code.h"

#include <algorithm>
#include <cstring>

#include "compressors/simd/majority.h"
#include "compressors/simd/sign.h"

namespace breakeven {
namespace {

/// Elements whose magnitudes are added up by themselves, whatever the threads.
constexpr std::size_t kPiece = 16384;

constexpr std::size_t pieces_of(std::size_t elements, std::size_t piece) {
  return (elements + piece - 1) / piece;
}

}  // namespace

std::size_t SignFormat::signs(std::size_t elements) const {
  const std::size_t unpadded = bytes ? elements : (elements + 7) / 8;
  return (unpadded + word - 1) / word * word;
}

std::size_t SignFormat::size(std::size_t elements) const {
  return signs(elements) + (scale ? sizeof(float) : 0);
}

float SignFormat::scale_of(const std::byte* code, std::size_t elements) const {
  float value = 1;
  if (scale) {
    std::memcpy(&value, code + signs(elements), sizeof(value));
  }
  return value;
}

void SignFormat::set_scale(std::byte* code, std::size_t elements, float value) const {
  if (scale) {
    std::memcpy(code + signs(elements), &value, sizeof(value));
  }
}

Parts Parts::of(std::size_t elements, std::size_t count) {
  return {elements, (elements + count - 1) / count, count};
}

std::size_t Parts::first(std::size_t part) const {
  return std::min(elements, part * length);
}

std::size_t Parts::size(std::size_t part) const {
  return std::min(elements, (part + 1) * length) - first(part);
}

SignEncoder::SignEncoder(const Parts& parts, SignFormat format, bool feedback)
    : parts_(parts),
      format_(format),
      pieces_(pieces_of(parts.length, kPiece)),
      magnitudes_(parts.count * pieces_),
      scales_(parts.count),
      kept_(feedback ? parts.elements : 0),
      codes_(parts.count * format.size(parts.length)) {}

double SignEncoder::code_piece(std::span<const float> values, std::size_t part, std::size_t first,
                               std::size_t count) {
  const std::size_t at = parts_.first(part) + first;
  std::byte* const code = codes_.data() + part * format_.size(parts_.length);
  std::byte local[kPiece / 8];
  std::byte* const bits = format_.bytes ? local : code + first / 8;
  const auto piece = values.subspan(at, count);
  const double sum =
      kept_.size() > 0 ? pack_signs(piece, scales_[part], kept_.data() + at, bits) : pack_signs(piece, bits);
  if (format_.bytes) {
    bits_to_bytes(bits, {code + first, count});
  }
  return sum;
}

std::span<const std::byte> SignEncoder::encode(std::span<const float> values, Threads& threads) {
  auto code = [&](std::size_t i) {
    const std::size_t part = i / pieces_, first = i % pieces_ * kPiece, all = parts_.size(part);
    if (first < all) {
      magnitudes_[i] = code_piece(values, part, first, std::min(kPiece, all - first));
    }
  };
  if (parts_.elements <= kPiece) {
    for (std::size_t i = 0; i < magnitudes_.size(); ++i) {
      code(i);
    }
  } else {
    threads.run(magnitudes_.size(), code);
  }
  for (std::size_t part = 0; part < parts_.count; ++part) {
    double sum = 0;
    for (std::size_t i = 0; i < pieces_; ++i) {
      sum += magnitudes_[part * pieces_ + i];
    }
    const auto all = static_cast<double>(std::max<std::size_t>(parts_.size(part), 1));
    scales_[part] = format_.scale ? static_cast<float>(sum / all) : 1.0F;
    format_.set_scale(codes_.data() + part * format_.size(parts_.length), parts_.length, scales_[part]);
  }
  return codes_.bytes(codes_.size());
}

void decode_signs(const std::byte* code, SignFormat format, float scale, std::span<float> to,
                  Threads& threads) {
  threads.ranges(to.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    if (!format.bytes) {
      unpack_signs(code + begin / 8, scale, to.subspan(begin, end - begin), to.size());
      return;
    }
    std::byte bits[kPiece / 8];
    for (std::size_t first = begin; first < end; first += kPiece) {
      const std::size_t count = std::min(kPiece, end - first);
      bytes_to_bits({code + first, count}, bits);
      unpack_signs(bits, scale, to.subspan(first, count), to.size());
    }
  });
}

SignVote::SignVote(std::size_t elements, std::size_t length, SignFormat format, std::size_t workers,
                   std::size_t threads)
    : elements_(elements),
      length_(length),
      workers_(workers),
      pieces_(pieces_of(elements, kVotePiece)),
      slots_(std::max<std::size_t>(1, std::min(threads, pieces_))),
      format_(format),
      votes_(slots_ * workers),
      bits_(slots_ * (1 + (format.bytes ? workers : 0)) * (kVotePiece / 8)) {}

const std::byte* SignVote::vote(std::span<const std::byte> codes, std::size_t slot, std::size_t first,
                                std::size_t count) {
  constexpr std::size_t kBits = kVotePiece / 8;
  std::byte* const result = bits_.data() + slot * (1 + (format_.bytes ? workers_ : 0)) * kBits;
  const std::span<const std::byte*> votes = std::span(votes_).subspan(slot * workers_, workers_);
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    const std::byte* const code = codes.data() + worker * format_.size(length_);
    if (format_.bytes) {
      std::byte* const bits = result + (1 + worker) * kBits;
      bytes_to_bits({code + first, count}, bits);
      votes[worker] = bits;
    } else {
      votes[worker] = code + first / 8;
    }
  }
  majority(votes, (count + 7) / 8, result);
  return result;
}

float SignVote::scale(std::span<const std::byte> codes) const {
  double sum = 0;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    sum += static_cast<double>(format_.scale_of(codes.data() + worker * format_.size(length_), length_));
  }
  return static_cast<float>(sum / static_cast<double>(workers_));
}

}  // namespace breakeven
