#include "compressors/block_code.h"

#include <algorithm>
#include <array>
#include <bit>

#include "compressors/simd/blocks.h"
#include "compressors/simd/pack.h"

namespace breakeven {
namespace {

/// Constants are found for a tile of blocks, then its codes: it stays in the first cache meanwhile, and is
/// short enough for the machine to fetch the next one in time. Larger tiles were slower.
constexpr std::size_t kTile = 1024;
constexpr std::size_t kBlocks = 128;   // of a tile at most
constexpr std::size_t kGrain = 16384;  // elements of one thread
/// Blocks above this are gone from the caches when their constants are known: these are found before, by
/// pieces of this size.
constexpr std::size_t kPiece = 65536;

/// Results above this do not stay in the caches until they are read.
constexpr std::size_t kCached = std::size_t{16} << 20;

/// Of codes that are written past the caches.
constexpr std::size_t kLine = 64;

std::size_t above(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit;
}

Decode setting(std::size_t elements) {
  return elements * sizeof(float) > kCached ? Decode::stream : Decode::set;
}

}  // namespace

BlockCode::BlockCode(const BlockFormat& format, std::size_t elements)
    : format_(format),
      constants_(format),
      elements_(elements),
      block_(std::max<std::size_t>(1, format.block == 0 ? elements : std::min(format.block, elements))),
      tile_(std::min(kTile, kBlocks * block_)),
      even_(tile_ % block_ == 0),
      shift_(std::has_single_bit(block_) ? static_cast<unsigned>(std::countr_zero(block_)) : 0),
      codes_(constants_.bytes() * above(elements, block_)) {
  const bool given = format.constants == BlockFormat::Constants::given;
  const std::size_t unit = large() ? tile_ : block_;
  unit_ = (large() || even_) && encodes_blocks(format, unit) ? unit : 0;
  bytes_ = codes_ + above(packed_bytes(elements, format.bits), format.word) * format.word;
  if (large() && !given) {
    pieces_ = Buffer<BlockSummary>(above(elements, block_) * above(block_, kPiece));
  }
}

bool BlockCode::large() const {
  return block_ > kPiece || format_.constants == BlockFormat::Constants::given;
}

BlockSummary BlockCode::summary(const Part<const float>& from, std::size_t begin, std::size_t end) const {
  BlockSummary all;
  bool none = true;
  from.joined.each(from.first + begin, from.first + end,
                   [&](std::size_t place, std::size_t, std::size_t count) {
                     BlockSummary part;
                     constants_.summarise({from.message + place, count}, count, &part.first, &part.second);
                     all = none ? part : constants_.join(all, part);
                     none = false;
                   });
  return all;
}

void BlockCode::find_constants(const Part<const float>& from, std::byte* payload, Threads& threads) {
  const std::size_t blocks = above(from.count, block_), pieces = above(block_, kPiece);
  threads.run(blocks * pieces, [&](std::size_t piece) {
    const std::size_t first = piece / pieces * block_, stop = std::min(first + block_, from.count);
    const std::size_t begin = std::min(stop, first + piece % pieces * kPiece);
    pieces_[piece] = summary(from, begin, std::min(stop, begin + kPiece));
  });
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t size = std::min(block_, from.count - block * block_);
    BlockSummary all = pieces_[block * pieces];
    for (std::size_t piece = 1; piece < above(size, kPiece); ++piece) {
      all = constants_.join(all, pieces_[block * pieces + piece]);
    }
    constants_.settle(all, payload + block * constants_.bytes());
  }
}

/// work(place, at, count, unit) for the parts of a tile: `count` elements from `at` of the payload lie at
/// `place` of the message. They are blocks of `unit` from the start of one, or part of a single block.
template <class Float, class F>
void BlockCode::each_piece(const Part<Float>& part, Tile tile, F&& work) const {
  part.joined.each(part.first + tile.begin, part.first + tile.end,
                   [&](std::size_t place, std::size_t from, std::size_t count) {
                     const std::size_t begin = from - part.first, end = begin + count;
                     for (std::size_t at = begin; at < end;) {
                       const bool start = block_of(at) * block_ == at;
                       const std::size_t stop = start ? end : std::min(end, (block_of(at) + 1) * block_);
                       work(place + (at - begin), at, stop - at, start ? block_ : stop - at);
                       at = stop;
                     }
                   });
}

/// What coding a tile needs room for.
struct BlockCode::Workspace {
  std::array<float, kBlocks> firsts = {}, seconds = {};  // of block summaries
  std::array<Scaling, kBlocks + 1> scalings;
  std::array<Levels, kBlocks + 1> levels;
  alignas(64) std::array<std::uint16_t, kTile> codes = {};
};

/// Blocks that start at or after `fresh` are this thread's to settle, when their first tile comes. One that
/// starts before that is another thread's, and is looked at twice.
void BlockCode::settle_tile(const Part<const float>& from, Tile tile, std::size_t fresh, std::byte* payload,
                            Workspace& work) const {
  const std::size_t first = block_of(tile.begin), count = block_of(tile.end - 1) + 1 - first,
                    size = constants_.bytes();
  const std::size_t elements = tile.end - tile.begin;
  const bool whole =
      even_ && from.joined.together(from.first + tile.begin, from.first + tile.end) == elements;
  if (whole && !large()) {
    from.joined.each(from.first + tile.begin, from.first + tile.end,
                     [&](std::size_t place, std::size_t, std::size_t) {
                       constants_.summarise({from.message + place, elements}, block_, work.firsts.data(),
                                            work.seconds.data());
                     });
    for (std::size_t i = 0; i < count; ++i) {
      work.scalings[i] = constants_.scaling(
          constants_.settle({work.firsts[i], work.seconds[i]}, payload + (first + i) * size));
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = (first + i) * block_, end = std::min(start + block_, from.count);
    std::byte* const here = payload + (first + i) * size;
    if (large() || (start >= fresh && start < tile.begin)) {
      work.scalings[i] = constants_.scaling(constants_.receive(here));
    } else {
      std::array<std::byte, 2 * sizeof(float)> nowhere = {};
      work.scalings[i] = constants_.scaling(
          constants_.settle(summary(from, start, end), start >= fresh ? here : nowhere.data()));
    }
  }
}

template <class Code>
void BlockCode::quantise(std::span<const float> values, std::size_t block, const Scaling* scalings,
                         Dither dither, Code* codes) const {
  if constexpr (sizeof(Code) == 1) {
    if (format_.rounding == BlockFormat::Rounding::nearest) {
      const std::uint32_t top = format_.zero > 0 ? 2 * format_.zero : (1U << format_.bits) - 1;
      quantise_nearest(values, block, scalings, format_.zero, top, codes);
    } else {
      const bool clip = format_.rounding == BlockFormat::Rounding::clipped_chance;
      quantise_by_chance(values, block, scalings, format_.zero, clip, dither, codes);
    }
  } else {
    quantise_by_chance(values, block, scalings, format_.zero, dither, codes);
  }
}

/// The first of these tiles, as long as they lie in one run, are whole and, if large, of one block. How many
/// elements that was.
std::size_t BlockCode::encode_run(const Part<const float>& from, std::uint64_t key, Tile tiles,
                                  std::byte* payload) const {
  const std::size_t first = from.first + tiles.begin;
  if (unit_ == 0 || (format_.rounding != BlockFormat::Rounding::nearest && first % 64 != 0)) {
    return 0;
  }
  const std::size_t block = block_of(tiles.begin),
                    end = large() ? std::min(tiles.end, (block + 1) * block_) : tiles.end;
  const std::size_t whole = from.joined.together(first, from.first + end) / tile_ * tile_;
  std::byte* const codes = payload + codes_ + tiles.begin / 8 * format_.bits;
  const bool stream = setting(from.joined.elements()) == Decode::stream &&
                      reinterpret_cast<std::uintptr_t>(codes) % kLine == 0;
  from.joined.each(first, first + whole, [&](std::size_t place, std::size_t, std::size_t) {
    encode_blocks(constants_, {from.message + place,
                               whole / unit_,
                               unit_,
                               payload + block * constants_.bytes(),
                               codes,
                               {key, first},
                               large(),
                               stream});
  });
  return whole;
}

template <class Code>
void BlockCode::encode_tiles(const Part<const float>& from, std::uint64_t key, Tile tiles,
                             std::byte* payload) const {
  Workspace work;
  for (std::size_t begin = tiles.begin; begin < tiles.end;) {
    begin += encode_run(from, key, {begin, tiles.end}, payload);
    const Tile tile = {begin, std::min(begin + tile_, tiles.end)};
    if (tile.begin == tile.end) {
      break;
    }
    settle_tile(from, tile, tiles.begin, payload, work);
    std::byte* const packed = payload + codes_ + begin / 8 * format_.bits;
    const bool direct = format_.bits == 8;
    Code* const codes = direct ? reinterpret_cast<Code*>(packed) : reinterpret_cast<Code*>(work.codes.data());
    each_piece(from, tile, [&](std::size_t place, std::size_t at, std::size_t count, std::size_t unit) {
      quantise({from.message + place, count}, unit, work.scalings.data() + (block_of(at) - block_of(begin)),
               {key, from.first + at}, codes + (at - begin));
    });
    if (!direct) {
      pack(codes, tile.end - begin, format_.bits, packed);
    }
    begin = tile.end;
  }
}

void BlockCode::encode(const Joined& from, const float* gradient, std::uint64_t key,
                       std::span<std::byte> payloads, Threads& threads) {
  if (elements_ == 0) {
    return;
  }
  const std::size_t count = payloads.size() / bytes_, tiles = above(elements_, tile_);
  const auto part = [&](std::size_t payload) {
    const std::size_t first = std::min(payload * elements_, from.elements());
    return Part<const float>{from, gradient, first, std::min(elements_, from.elements() - first)};
  };
  if (pieces_.size() > 0) {
    for (std::size_t payload = 0; payload < count; ++payload) {
      find_constants(part(payload), payloads.data() + payload * bytes_, threads);
    }
  }
  threads.ranges(count * tiles, above(kGrain, tile_), [&](std::size_t begin, std::size_t end) {
    for (std::size_t payload = begin / tiles; payload * tiles < end; ++payload) {
      const Part<const float> mine = part(payload);
      const std::size_t first = std::max(begin, payload * tiles) - payload * tiles,
                        last = std::min(end, (payload + 1) * tiles) - payload * tiles;
      const Tile range = {std::min(first * tile_, mine.count), std::min(last * tile_, mine.count)};
      if (format_.bits <= 8) {
        encode_tiles<std::uint8_t>(mine, key, range, payloads.data() + payload * bytes_);
      } else {
        encode_tiles<std::uint16_t>(mine, key, range, payloads.data() + payload * bytes_);
      }
    }
  });
}

template <class Code>
void BlockCode::decode_tile(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode,
                            float share, Workspace& work) const {
  const std::size_t first = block_of(tile.begin), last = block_of(tile.end - 1);
  for (std::size_t block = first; block <= last; ++block) {
    const Levels one = constants_.receive(payload + block * constants_.bytes());
    work.levels[block - first] = {one.low * share, one.step * share};
  }
  const std::byte* const packed = payload + codes_ + tile.begin / 8 * format_.bits;
  const Code* codes = reinterpret_cast<const Code*>(packed);
  if (format_.bits != 8) {
    auto* const unpacked = reinterpret_cast<Code*>(work.codes.data());
    unpack(packed, tile.end - tile.begin, format_.bits, unpacked);
    codes = unpacked;
  }
  each_piece(to, tile, [&](std::size_t place, std::size_t at, std::size_t count, std::size_t unit) {
    dequantise(mode, codes + (at - tile.begin), unit, work.levels.data() + (block_of(at) - first),
               format_.zero, {to.message + place, count});
  });
}

void BlockCode::decode(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode, float share,
                       Workspace& work) const {
  if (format_.bits <= 8) {
    decode_tile<std::uint8_t>(payload, tile, to, mode, share, work);
  } else {
    decode_tile<std::uint16_t>(payload, tile, to, mode, share, work);
  }
}

void BlockCode::decode_mean(std::span<const std::byte> payloads, const Joined& to, float* mean,
                            Threads& threads) const {
  if (elements_ == 0) {
    return;
  }
  const std::size_t count = payloads.size() / bytes_, n = to.elements();
  const float share = 1.0F / static_cast<float>(count);
  const Decode first = count == 1 ? setting(n) : Decode::set;
  threads.ranges(above(n, tile_), above(kGrain, tile_), [&](std::size_t begin, std::size_t end) {
    Workspace work;
    for (std::size_t tile = begin; tile < end; ++tile) {
      for (std::size_t payload = 0; payload < count; ++payload) {
        decode(payloads.data() + payload * bytes_, {tile * tile_, std::min(n, (tile + 1) * tile_)},
               {to, mean, 0, n}, payload == 0 ? first : Decode::add, share, work);
      }
    }
    end_stream();
  });
}

void BlockCode::decode_parts(std::span<const std::byte> payloads, const Joined& to, float* mean,
                             Threads& threads) const {
  if (elements_ == 0) {
    return;
  }
  const std::size_t count = payloads.size() / bytes_, tiles = above(elements_, tile_);
  const Decode mode = setting(to.elements());
  threads.ranges(count * tiles, above(kGrain, tile_), [&](std::size_t begin, std::size_t end) {
    Workspace work;
    for (std::size_t tile = begin; tile < end; ++tile) {
      const std::size_t payload = tile / tiles, first = std::min(payload * elements_, to.elements()),
                        n = std::min(elements_, to.elements() - first);
      const Tile here = {std::min(n, tile % tiles * tile_), std::min(n, (tile % tiles + 1) * tile_)};
      if (here.begin < here.end) {
        decode(payloads.data() + payload * bytes_, here, {to, mean, first, n}, mode, 1, work);
      }
    }
    end_stream();
  });
}

}  // namespace breakeven
