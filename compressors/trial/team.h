// All workers' kernels of one message, taken through whole steps under watch.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "compressors/trial/exchange.h"
#include "compressors/trial/guarded.h"
#include "model/compressor.h"

namespace breakeven {

/// What a kernel did that it must not.
class Breach : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// call(), whose exceptions become breaches: "encode throws: why".
template <class Call>
auto watched(const std::string& what, Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {  // nobody's fault but the machine's
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (const std::exception& error) {
    throw Breach(what + " throws: " + error.what());
  } catch (...) {
    throw Breach(what + " throws what is no std::exception");
  }
}

class Team {
 public:
  struct Options {
    std::size_t threads = 1;
    bool twice = false;  ///< every call is repeated
    bool tight = false;  ///< inputs end where their memory ends, and what else lies around them differs
  };
  /// Throws Breach where only some workers have a kernel, or one throws.
  Team(const Compressor& compressor, std::span<const Shape> tensors, std::size_t workers,
       const Options& options);

  [[nodiscard]] bool has_kernels() const { return !members_.empty() && members_.front().kernel != nullptr; }
  /// One step on the gradient of each worker. Throws Breach at the first; then where() says where.
  void step(std::span<const std::vector<float>> gradients, bool finite);
  /// ", step 1, round 2 of 3"
  [[nodiscard]] std::string where() const;
  /// Throws Breach at the first step or round, then where() says which, where `other` sent other bytes or
  /// came to another mean: `why` is put in front.
  void expect_as(const Team& other, const std::string& why);

 private:
  struct Member {
    std::unique_ptr<Kernel> kernel;
    Guarded gradient, mean;
    std::span<const std::byte> sent;
    Payload payload;  // a copy of it
  };
  void encode(std::size_t rank, std::span<const float> gradient);
  void exchange();
  void decode(std::size_t rank, const Payload& delivered);
  void check_size(std::size_t rank, std::size_t size) const;
  void check_period() const;
  void check_gradient(std::size_t rank, std::span<const float> gradient) const;
  void check_means(bool finite) const;
  void check_mean(std::size_t rank, std::size_t i, bool finite) const;

  Plan plan_;
  std::size_t period_, elements_;
  Options options_;
  std::vector<Member> members_;
  std::vector<double> sent_;            // bytes of rank 0 in this period, by round
  std::vector<std::uint64_t> digests_;  // of each round's payloads and, last, the mean: step by step
  std::size_t step_ = 0, round_ = 0;    // from 1; 0: none
};

}  // namespace breakeven
