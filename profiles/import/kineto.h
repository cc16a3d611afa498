// PyTorch's profiler (kineto): a trace of training steps -> what they did, and a model profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/catalogue.h"
#include "profiles/import/ranges.h"
#include "profiles/import/run.h"
#include "profiles/import/trace_file.h"

namespace breakeven {

/// What a trace says, as few bytes an event as it takes. Times are microseconds of the trace's clock.
struct KinetoTrace {
  struct Kernel {
    enum class Kind : std::uint8_t { compute, all_reduce, reduce_scatter, other_exchange };
    double begin = 0, end = 0;
    double launch = 0;  ///< when the host launched it; its begin where the trace does not say
    Kind kind = Kind::compute;
    bool linked = false;        ///< the trace says when it was launched
    std::uint32_t message = 0;  ///< of an exchange: index into `messages`
  };
  struct Message {
    std::size_t elements = 0;  ///< 0: not stated
    std::size_t group = 0;     ///< 0: not stated
    std::string group_name;    ///< empty: not stated
    std::string type;          ///< as PyTorch names it: "Float"; empty: not stated
  };
  struct Span {
    enum class Kind : std::uint8_t { step, forward, backward, gradient, optimizer };
    Kind kind = Kind::step;
    double begin = 0, end = 0;  ///< on the host
  };
  /// What autograd accumulates for a parameter (record_shapes=True).
  struct Gradient {
    std::vector<std::size_t> dims;
    std::string type;  ///< "float"; empty: not stated
    bool operator<(const Gradient& other) const {
      return std::tie(dims, type) < std::tie(other.dims, other.type);
    }
  };
  struct Accumulation {
    double begin = 0;            ///< on the host
    std::uint32_t gradient = 0;  ///< index into `gradients`
  };
  std::string device;           ///< as its maker names it; empty: not stated
  Bytes memory;                 ///< of it
  std::size_t workers = 0;      ///< 0: not stated
  bool host_computes = false;   ///< no kernels: the host's spans stand for them
  bool host_waits = false;      ///< gloo: exchanges run on the host, and backward waits for them there
  std::vector<Kernel> kernels;  ///< by launch; where the host computes, its spans
  std::vector<Message> messages;
  std::vector<Span> spans;  ///< by begin
  std::vector<Gradient> gradients;
  std::vector<Accumulation> accumulations;  ///< by begin
};

/// Throws Error (file) for what is no trace, is cut short, or holds no training step.
KinetoTrace read_kineto(const ReadBlock& read, const std::string& where);

/// An all-reduce of gradients in backward.
struct KinetoBucket {
  std::size_t elements = 0;
  Element element = Element::f32;
  std::size_t group = 0;
  Seconds ready;  ///< since backward began
  Seconds time;   ///< the least of all steps: the others waited for a peer too

  [[nodiscard]] Bytes bytes() const { return Bytes::of(static_cast<double>(elements) * size_of(element)); }
};

/// A gradient that backward made.
struct KinetoGradient {
  std::vector<std::size_t> dims;
  std::optional<Element> element;  ///< nothing: none that we exchange
  Seconds ready;                   ///< since backward began

  [[nodiscard]] double elements() const;
};

/// One step, as it was traced.
struct KinetoStep {
  Seconds time, forward, backward, optimizer;  ///< backward without the stalls in it
  Seconds compute;                             ///< the device runs compute kernels
  Seconds idle;                                ///< the device runs no kernel at all
  Seconds exchange;                            ///< all-reduces in backward run
  Seconds overlapped;                          ///< of these, beside compute kernels: interval arithmetic
  Seconds stalled;                             ///< kernels of backward wait for an all-reduce
  Seconds tail;                       ///< from the end of backward's compute to the last all-reduce's
  std::size_t passes = 1;             ///< forward and backward: times are of one that exchanges
  std::vector<Range> reduces;         ///< when all-reduces run: microseconds since backward began
  std::vector<KinetoBucket> buckets;  ///< in the order of their launch
  /// In the order of backward. Empty where the trace does not state their shapes, or where they are not what
  /// the buckets hold.
  std::vector<KinetoGradient> gradients;

  /// What the network costs on the critical path.
  [[nodiscard]] Seconds exposed() const { return stalled + tail; }
  /// All-reduces run in the `first` part of backward.
  [[nodiscard]] Seconds reducing(Seconds first) const;
  /// Backward computes beside all-reduces.
  [[nodiscard]] Seconds beside() const { return reducing(backward + stalled) - stalled; }
  /// Forward and backward aside, without what the network costs.
  [[nodiscard]] Seconds other() const { return time - forward - backward - exposed(); }
};

struct KinetoFindings {
  std::size_t steps = 0;
  KinetoStep step;  ///< the one of median length; times of buckets are the least of all steps
  std::string device;
  Bytes memory;
  bool host_computes = false;
  std::size_t workers = 0;          ///< that exchange gradients; 0: not stated
  std::optional<Seconds> slowdown;  ///< of backward beside its exchange; needs a run without one
  std::optional<double> gamma;      ///< nothing: not known, or it does not explain the slowdown
  std::string instead;              ///< of all-reduces in backward, what the trace exchanges: ", but ..."
  std::vector<std::string> notes;   ///< what could not be told, and why
};

/// Throws Error (file) for a trace without backward pass.
KinetoFindings find_in(const KinetoTrace& trace, const std::string& where);
/// Fills in what a run without exchange (DDP's no_sync()) tells: of each second that all-reduces run,
/// backward does 1/gamma. Throws Error (file) where the other trace, from `where`, has an exchange.
void compare(KinetoFindings& with, const KinetoFindings& without, const std::string& where);
/// What that told, in words.
std::string gamma_line(const KinetoFindings& findings);

/// What a worker sent at the fastest bucket, were it a ring: 2(n-1)/n of its bytes in its time. Nothing where
/// the trace states no sizes or workers.
std::optional<BytesPerSecond> rate_of(const KinetoFindings& findings);

/// The findings, a line each.
std::vector<std::string> lines_of(const KinetoFindings& findings);

/// What is exchanged. Throws Error (file) where the trace does not state its sizes, or several types.
Element element_of(const KinetoFindings& findings, const std::string& where);

/// The gradients as tensors, with their times; without them the buckets. Throws as element_of() does.
ModelProfile model_of(const KinetoFindings& findings, const RunOptions& options, const std::string& where);

}  // namespace breakeven
