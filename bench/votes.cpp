#include "bench/votes.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "bench/yardsticks.h"
#include "compressors/random.h"
#include "compressors/simd/majority.h"

namespace breakeven::bench {
namespace {

constexpr std::size_t kVotes = 8;

struct Ballot {
  Buffer<std::uint64_t> words;
  Buffer<std::byte> result;
  std::vector<const std::byte*> votes;
  std::size_t bytes;  // of a vote

  explicit Ballot(std::size_t elements)
      : words(kVotes * ((elements + 63) / 64)), result((elements + 7) / 8), bytes((elements + 7) / 8) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = random_at(1, i);
    }
    for (std::size_t i = 0; i < kVotes; ++i) {
      votes.push_back(words.bytes(words.size()).data() + i * (words.size() / kVotes) * sizeof(std::uint64_t));
    }
  }
};

}  // namespace

Group vote_group(const std::shared_ptr<Message>& message) {
  const Subject subject{.what = "majority",
                        .spec = "8 votes",
                        .elements = message->elements(),
                        .threads = 1,
                        .kind = message->kind_name()};
  const auto ballot = std::make_shared<std::unique_ptr<Ballot>>();
  Group group;
  group.rows.push_back({subject, [=](benchmark::State& state) {
                          if (!*ballot) {
                            *ballot = std::make_unique<Ballot>(subject.elements);
                          }
                          Ballot& all = **ballot;
                          for (auto _ : state) {
                            majority(all.votes, all.bytes, all.result.data());
                            benchmark::ClobberMemory();
                          }
                          state.counters["moved"] =
                              benchmark::Counter(static_cast<double>((kVotes + 1) * all.bytes),
                                                 benchmark::Counter::kIsIterationInvariantRate);
                        }});
  group.yardsticks = yardsticks(message, subject.spec, {1});
  return group;
}

}  // namespace breakeven::bench
