// What the schedules share: tensors in the order of their gradients, gathered into messages.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "model/schedule.h"

namespace breakeven {

/// Gathers tensors into one message.
class Bucket {
 public:
  void add(const Shape& shape, Seconds ready, std::size_t module) {
    message_.module = empty() ? module : std::min(message_.module, module);
    message_.tensors.push_back(shape);
    message_.ready = std::max(message_.ready, ready);
    size_ += shape.bytes();
  }
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] bool empty() const { return message_.tensors.empty(); }
  /// The message ends here. Nothing for an empty one.
  void flush(std::vector<Message>& out, Seconds delay = {}) {
    if (!empty()) {
      message_.delay = delay;
      out.push_back(std::move(message_));
    }
    message_ = {};
    size_ = {};
  }

 private:
  Message message_;
  Bytes size_;
};

/// One tensor as backward leaves it.
struct Gradient {
  Shape shape;
  Seconds ready;  ///< backward work done when it exists
  std::size_t module = 0;
};
/// In the order in which they appear: last tensor first.
std::vector<Gradient> in_gradient_order(const Workload& workload);

/// One message each of gradients [begins[i], begins[i+1]); the first begin is 0.
std::vector<Message> merged(const std::vector<Gradient>& gradients, const std::vector<std::size_t>& begins);

/// One message a tensor, cut into pieces of at most `elements`.
std::vector<Message> pieces(const Workload& workload, std::size_t elements);

/// A limit in bytes, above 0.
Param size_param(std::string name, std::string fallback, std::string help);
/// A number of elements, at least `least`.
Param elements_param(std::string name, std::string fallback, std::string help, double least = 1);
/// A time, 0 or above unless `above_zero`.
Param interval_param(std::string name, std::string fallback, std::string help, bool above_zero);

// One function a file of this folder: its rows of schedule_kinds().
std::vector<ScheduleKind> bucket_schedules();    ///< ddp, equal, bsp, wfbp
std::vector<ScheduleKind> fusion_schedules();    ///< fusion, horovod
std::vector<ScheduleKind> merging_schedules();   ///< mgwfbp, asc, omgs, optimal
std::vector<ScheduleKind> priority_schedules();  ///< p3, bytescheduler, byteps, dear

}  // namespace breakeven
