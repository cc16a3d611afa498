#include "bench/yardsticks.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>

#include "bench/read_pass.h"
#include "compressors/threads.h"

namespace breakeven::bench {
namespace {

constexpr std::size_t kGrain = 16384;

void count_bytes(benchmark::State& state, std::size_t bytes, double moved) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["moved"] = benchmark::Counter(moved, benchmark::Counter::kIsIterationInvariantRate);
}

void read(benchmark::State& state, Message& message, std::size_t count) {
  const std::span<const float> data = message.gradient().span();
  Threads threads(count);
  for (auto _ : state) {
    threads.ranges(data.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      float sum = read_pass(data.subspan(begin, end - begin));
      benchmark::DoNotOptimize(sum);
    });
  }
  count_bytes(state, data.size_bytes(), static_cast<double>(data.size_bytes()));
}

void copy(benchmark::State& state, Message& message, std::size_t count) {
  const std::span<const float> from = message.gradient().span();
  const std::span<float> to = message.scratch().span();
  Threads threads(count);
  for (auto _ : state) {
    threads.ranges(from.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(float));
    });
    benchmark::ClobberMemory();
  }
  count_bytes(state, from.size_bytes(), 2 * static_cast<double>(from.size_bytes()));
}

}  // namespace

std::vector<Row> yardsticks(const std::shared_ptr<Message>& message, const std::string& beside,
                            const std::vector<std::size_t>& threads) {
  std::vector<Row> rows;
  for (const std::size_t count : threads) {
    const Subject subject{.what = "read",
                          .spec = beside,
                          .elements = message->elements(),
                          .threads = count,
                          .kind = message->kind_name()};
    rows.push_back({subject, [=](benchmark::State& state) { read(state, *message, count); }});
    rows.push_back({subject, [=](benchmark::State& state) { copy(state, *message, count); }});
    rows.back().subject.what = "memcpy";
  }
  return rows;
}

}  // namespace breakeven::bench
