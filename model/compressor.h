// One shape for cost and code: a scheme is rounds of encode -> exchange -> decode. Its Plan states them, its
// Kernel does them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/origin.h"
#include "model/spec.h"
#include "model/units.h"

namespace breakeven {

/// What an all-reduce adds up.
enum class Element { f32, f16, bf16, i32, bytes };
constexpr double size_of(Element element) {
  return element == Element::f16 || element == Element::bf16 ? 2.0 : element == Element::bytes ? 1.0 : 4.0;
}

/// A gradient tensor viewed as a matrix: rows = first dimension, cols = the product of the rest; 1-D: rows =
/// n, cols = 1.
struct Shape {
  std::size_t rows = 1, cols = 1;
  Element element = Element::f32;  ///< the type of the gradient itself

  [[nodiscard]] constexpr std::size_t elements() const { return rows * cols; }
  [[nodiscard]] constexpr bool is_vector() const { return rows == 1 || cols == 1; }
  [[nodiscard]] constexpr Bytes bytes() const {
    return Bytes::of(static_cast<double>(elements()) * size_of(element));
  }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};
/// Sums over the tensors of one message.
std::size_t elements(std::span<const Shape> tensors);
Bytes bytes(std::span<const Shape> tensors);

/// Encode or decode work of one round, free of any device. `elements` and `repeats` say how a measured curve
/// applies: `repeats` codings of `elements` gradient elements each (decoding n gathered payloads: repeats =
/// n); a round that does no coding of its own has elements = 0.
struct Work {
  Bytes touched;        ///< memory traffic, read and written
  double flops = 0;     ///< in 32-bit arithmetic
  double launches = 0;  ///< kernels started one after the other
  double elements = 0, repeats = 1;
  std::optional<Seconds> known;  ///< measured, published or given: replaces the roofline
  Origin origin = Origin::estimated;

  [[nodiscard]] bool none() const {
    return touched == Bytes{} && flops == 0 && launches == 0 && known.value_or(Seconds{}) == Seconds{};
  }
};

enum class Exchange {
  none,
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  push_pull,
  tree_step,  ///< one level of a tree that the scheme itself reduces: see Round::distance
  broadcast,  ///< from worker 0 to all
};
std::string_view name(Exchange exchange);

/// `payload` is what ONE worker contributes: the whole vector of an all-reduce, its own part of an
/// all-gather, all its chunks together of an all-to-all, what each sender of a tree step sends.
struct Round {
  Work encode;
  Exchange exchange = Exchange::none;
  Bytes payload;
  Work decode;  ///< of everything received
  Element element = Element::f32;
  std::optional<Bytes> summed = {};  ///< what a reduction adds up, where that is not the payload
  /// Of a tree step: worker r with r mod 2*distance = distance sends to worker r - distance.
  std::size_t distance = 0;
};
/// The rounds of one message, strictly one after the other. Rounds that send nothing are left out.
using Plan = std::vector<Round>;

/// One worker among those that exchange a message, and what it codes with.
struct Worker {
  std::size_t rank = 0, workers = 1;
  std::uint64_t seed = 0;   ///< the same at every worker
  std::size_t threads = 1;  ///< results do not depend on it
};

/// One worker's code for one message of fp32 tensors; owns its state (error feedback, warm start, random
/// generator). A step calls encode, then decode, for every round of the plan in turn, with the message's
/// tensors laid end to end in `gradient` and `mean`, which do not overlap. A call may be repeated: then the
/// kernel only does its work again.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  /// The payload of this round, as many bytes as the plan says; valid until the next call.
  virtual std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) = 0;
  /// Takes what the exchange of this round delivered: the sum (all_reduce, push_pull), this worker's part of
  /// the sum (reduce_scatter), every worker's payload by rank (all_gather), every worker's part for this one
  /// by rank (all_to_all), the sender's payload, or nothing where none sends to this worker (tree_step),
  /// worker 0's payload (broadcast). After the last round `mean` holds the mean gradient of all workers, the
  /// same bits at each of them.
  virtual void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) = 0;
};

class Compressor {
 public:
  Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  virtual ~Compressor() = default;
  /// The rounds of one message of these tensors among `workers` workers.
  [[nodiscard]] virtual Plan plan(std::span<const Shape> tensors, std::size_t workers) const = 0;
  /// Steps after which a kernel's payloads repeat; the plan is the average of them.
  [[nodiscard]] virtual std::size_t period() const { return 1; }
  /// Null: the scheme is described only, or not for these tensors (kernels code fp32).
  [[nodiscard]] virtual std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                                       const Worker& worker) const;
  /// Extra memory that one worker keeps from step to step (error feedback, warm start, momentum).
  [[nodiscard]] virtual Bytes state(std::span<const Shape> tensors, std::size_t workers) const;
};

/// Where a scheme's codec runs.
enum class Placement {
  serial,    ///< after backward, the whole gradient as one message
  hook,      ///< on the compute resource as each message is ready, in front of the rest of backward
  stream,    ///< on a resource of its own, slowing backward
  host,      ///< on the CPU: backward is not slowed, the gradient crosses PCIe both ways
  blocking,  ///< a hook that waits for its exchanges too: backward stands still until the message is through
};
std::string_view name(Placement placement);

/// One row of the registry; list, help, tests and benchmarks iterate these.
struct Scheme {
  std::string name, summary;
  std::vector<Param> params;
  Placement placement =
      Placement::serial;    ///< how its implementations run it, unless the user says otherwise
  std::string source;       ///< where its wire format comes from
  bool same_steps = false;  ///< training needs no more steps than without it: a cast
  std::function<std::unique_ptr<Compressor>(const Params&)> make;
};

}  // namespace breakeven
