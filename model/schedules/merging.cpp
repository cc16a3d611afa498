// Neighbours are merged where one message costs less than two: rules that weigh the network.
#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

/// One pass over the gradients: `waits(i, start)` says whether gradient i, with which a message could be sent
/// from `start` on, waits for the next one and is merged into it.
template <class Waits>
std::vector<Message> one_pass(const std::vector<Gradient>& gradients, const MessageCosts& costs,
                              Waits waits) {
  std::vector<std::size_t> begins{0};
  Seconds free;
  Bytes size;
  for (std::size_t i = 0; i + 1 < gradients.size(); ++i) {
    size += gradients[i].shape.bytes();
    const Seconds start = std::max(free, gradients[i].ready);
    if (!waits(i, start)) {
      free = start + costs.exchange(size);
      size = {};
      begins.push_back(i + 1);
    }
  }
  return merged(gradients, begins);
}

/// MG-WFBP (arXiv 1811.11141, as its authors' code has it): a gradient is merged into the next one when that
/// one exists before the message could have been sent and its start-up paid. One pass, the same groups as the
/// authors' quadratic form. Small tensors always merge.
std::vector<Message> mgwfbp(const Workload& workload, const Params& params, const MessageCosts& costs) {
  const std::vector<Gradient> gradients = in_gradient_order(workload);
  const Seconds startup = costs.exchange(Bytes{});
  const std::size_t small = params.count("small");
  return one_pass(gradients, costs, [&](std::size_t i, Seconds start) {
    return gradients[i + 1].ready - start < startup || gradients[i].shape.elements() < small;
  });
}

/// ASC-WFBP (its authors' code): merges only while the network is still busy with earlier messages when the
/// next gradient appears.
std::vector<Message> asc(const Workload& workload, const Params& /*params*/, const MessageCosts& costs) {
  const std::vector<Gradient> gradients = in_gradient_order(workload);
  return one_pass(gradients, costs,
                  [&](std::size_t i, Seconds start) { return start > gradients[i + 1].ready; });
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
       {elements_param("small", "8192", "tensors with fewer elements always merge into the next; 0: none",
                       0)},
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
       "the best merging of neighbours that there is, by dynamic programme; codec times are not weighed",
       {},
       "exact for one channel, first come, first served",
       optimal,
       true,
       {}},
  };
}

}  // namespace breakeven
