// Neighbours are merged where one message costs less than two: rules that weigh the network.
#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

/// A message that may wait for the gradient `next`.
struct Waiting {
  Seconds start;             ///< from when it could be sent
  std::size_t elements = 0;  ///< of all its gradients
  Seconds next;              ///< when the next gradient exists
};

/// One pass over the gradients: `waits(Waiting)` says whether a message waits for the next gradient, which is
/// then merged into it; `exchange(Bytes)` is how long the rule believes that a message takes.
template <class Exchange, class Waits>
std::vector<Message> one_pass(const std::vector<Gradient>& gradients, Exchange exchange, Waits waits) {
  std::vector<std::size_t> begins{0};
  Seconds free;
  Bytes size;
  std::size_t elements = 0;
  for (std::size_t i = 0; i + 1 < gradients.size(); ++i) {
    size += gradients[i].shape.bytes();
    elements += gradients[i].shape.elements();
    const Seconds start = std::max(free, gradients[i].ready);
    if (!waits(Waiting{start, elements, gradients[i + 1].ready})) {
      free = start + exchange(size);
      size = {};
      elements = 0;
      begins.push_back(i + 1);
    }
  }
  return merged(gradients, begins);
}

/// MG-WFBP (arXiv 1811.11141, as its authors' code has it): a message takes the next gradient in when that
/// one exists before the message could have been sent and its start-up paid. One pass, the same groups as the
/// authors' quadratic form. A message that is still small always waits (ddl-benchmarks' copy of the code).
std::vector<Message> mgwfbp(const Workload& workload, const Params& params, const MessageCosts& costs) {
  const Seconds real = costs.exchange(Bytes{});
  const Seconds given = Seconds::of(params.number("startup"));
  const Seconds startup = given > Seconds{} ? given : real;
  const std::size_t small = params.count("small");
  return one_pass(
      in_gradient_order(workload), [&](Bytes size) { return costs.exchange(size) + (startup - real); },
      [&](const Waiting& message) {
        return message.next - message.start < startup || message.elements < small;
      });
}

/// ASC-WFBP (its authors' code): merges only while the network is still busy with earlier messages when the
/// next gradient appears.
std::vector<Message> asc(const Workload& workload, const Params& /*params*/, const MessageCosts& costs) {
  return one_pass(in_gradient_order(workload), costs.exchange,
                  [](const Waiting& message) { return message.start > message.next; });
}

/// OMGS-SGD (its authors' code): each message is encoded between two backward steps. Merges when waiting for
/// the next gradient costs less than the exchange of one message saves.
std::vector<Message> omgs(const Workload& workload, const Params& /*params*/, const MessageCosts& costs) {
  const std::vector<Gradient> gradients = in_gradient_order(workload);
  std::vector<std::size_t> begins{0};
  Seconds coded, free;  // when the codec, and the network, are done with the last message
  Seconds last;         // backward work done
  Bytes size;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Bytes more = gradients[i].shape.bytes();
    const Seconds step = gradients[i].ready - last;
    last = gradients[i].ready;
    if (i > 0) {
      const Bytes both = size + more;
      const Seconds sendable = coded + costs.encode(size);
      const Seconds waits = step + costs.encode(both) - costs.encode(size) - costs.encode(more) -
                            (std::max(free, sendable) - sendable);
      if (waits >= costs.exchange(size) + costs.exchange(more) - costs.exchange(both)) {
        free = std::max(free, sendable) + costs.exchange(size);
        coded = sendable;
        size = {};
        begins.push_back(i);
      }
    }
    coded += step;
    size += more;
  }
  return merged(gradients, begins);
}

std::vector<Message> optimal(const Workload& workload, const Params& /*params*/, const MessageCosts& costs) {
  return best_buckets(workload, costs);
}

}  // namespace

std::vector<ScheduleKind> merging_schedules() {
  return {
      {"mgwfbp",
       "MG-WFBP: a tensor is merged into the next where that saves a start-up",
       {elements_param("small", "8192",
                       "a message of fewer elements always takes the next tensor in; 0: none", 0),
        interval_param("startup", "0ms", "what the rule takes a message's start-up for; 0: what it is here",
                       false)},
       "arXiv 1811.11141 and its authors' code",
       mgwfbp,
       true,
       {}},
      {"asc",
       "ASC-WFBP without its simultaneous all-reduces: merged while the network is busy anyway",
       {},
       "the code of DeAR's authors",
       asc,
       true,
       {}},
      {"omgs",
       "OMGS-SGD: merged where the exchange saves more than waiting and coding cost; codecs in the hook",
       {},
       "its authors' code",
       omgs,
       true,
       {}},
      {"optimal",
       "the best merging of neighbours that there is, by dynamic programme; codec times, bucket copies and "
       "further "
       "rounds of a scheme are not weighed",
       {},
       "exact for one channel, first come, first served, one exchange a message",
       optimal,
       true,
       {}},
  };
}

}  // namespace breakeven
