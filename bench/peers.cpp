#include "bench/peers.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <functional>

#include "bench/peers_eigen.h"
#include "bench/yardsticks.h"

namespace breakeven::bench {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Selection works in place: it is given a fresh copy outside the time each time.
template <class T, class Fill>
void select(benchmark::State& state, Buffer<T>& pool, std::size_t k, Fill fill) {
  for (auto _ : state) {
    fill();
    const double begin = cpu_seconds();
    std::nth_element(pool.data(), pool.data() + k, pool.data() + pool.size(), std::greater<>());
    benchmark::ClobberMemory();
    state.SetIterationTime(cpu_seconds() - begin);
  }
}

void select_values(benchmark::State& state, Message& message, double share) {
  const std::span<const float> gradient = message.gradient().span();
  Buffer<float>& pool = message.scratch();
  select(state, pool, static_cast<std::size_t>(share * static_cast<double>(gradient.size())), [&] {
    std::transform(gradient.begin(), gradient.end(), pool.data(), [](float x) { return std::abs(x); });
  });
}

/// Magnitudes with their positions: what top-k needs.
void select_entries(benchmark::State& state, Message& message, Buffer<std::uint64_t>& pool, double share) {
  const std::span<const float> gradient = message.gradient().span();
  if (pool.size() != gradient.size()) {
    pool = Buffer<std::uint64_t>(gradient.size());
  }
  select(state, pool, static_cast<std::size_t>(share * static_cast<double>(gradient.size())), [&] {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      pool[i] = std::uint64_t{std::bit_cast<std::uint32_t>(std::abs(gradient[i]))} << 32U | i;
    }
  });
}

/// The matrices that PowerSGD factors with this rank, as its default settings choose them.
struct LowRank {
  std::vector<Factored> matrices;
  std::vector<Buffer<float>> factors;

  LowRank(Message& message, std::size_t rank) {
    const float* gradient = message.gradient().data();
    float* product = message.scratch().data();
    for (const Shape& shape : message.tensors()) {
      constexpr std::size_t kWorthIt = 2;
      if (!shape.is_vector() && (shape.rows + shape.cols) * rank * kWorthIt < shape.elements()) {
        float* const p = factors.emplace_back(shape.rows * rank).data();
        float* const q = factors.emplace_back(shape.cols * rank).data();
        std::fill_n(q, shape.cols * rank, 1.0F / static_cast<float>(rank));
        matrices.push_back({shape.rows, shape.cols, gradient, p, q, product});
      }
      gradient += shape.elements();
      product += shape.elements();
    }
  }
};

Group group_of(const std::shared_ptr<Message>& message, const std::string& name,
               std::function<void(benchmark::State&)> run, bool own_clock) {
  const Subject subject{.what = "peer",
                        .spec = name,
                        .elements = message->elements(),
                        .threads = 1,
                        .kind = message->kind_name()};
  Group group;
  group.rows.push_back({subject, std::move(run), own_clock});
  group.yardsticks = yardsticks(message, name, {1});
  return group;
}

void add_eigen(std::vector<std::function<Group()>>& groups, const std::shared_ptr<Message>& message,
               std::size_t rank) {
  groups.emplace_back([=] {
    const auto made = std::make_shared<std::unique_ptr<LowRank>>();
    const auto run = [=](benchmark::State& state) {
      if (!*made) {
        *made = std::make_unique<LowRank>(*message, rank);
      }
      for (auto _ : state) {
        // Every P is sent before the first Q: Q does not find its matrix where P has left it.
        for (const auto product : {eigen_left, eigen_right, eigen_decode}) {
          for (const Factored& matrix : (*made)->matrices) {
            product(matrix, rank);
          }
        }
        benchmark::ClobberMemory();
      }
    };
    return group_of(message, "Eigen P+Q+decode:rank=" + std::to_string(rank), run, false);
  });
}

}  // namespace

std::vector<std::function<Group()>> peer_groups(const std::shared_ptr<Message>& message) {
  std::vector<std::function<Group()>> groups;
  for (const char* percent : {"0.1", "1", "10"}) {
    const double share = std::stod(percent) / 100;
    const std::string suffix = ":ratio=" + std::string(percent) + "%";
    groups.emplace_back([=] {
      return group_of(
          message, "std::nth_element values" + suffix,
          [=](benchmark::State& state) { select_values(state, *message, share); }, true);
    });
    groups.emplace_back([=] {
      const auto pool = std::make_shared<Buffer<std::uint64_t>>();
      return group_of(
          message, "std::nth_element entries" + suffix,
          [=](benchmark::State& state) { select_entries(state, *message, *pool, share); }, true);
    });
  }
  if (eigen_runs_here()) {
    for (const std::size_t rank : {1U, 4U, 8U, 16U}) {
      add_eigen(groups, message, rank);
    }
  }
  return groups;
}

}  // namespace breakeven::bench
