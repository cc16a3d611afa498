#include "model/codec.h"

#include <algorithm>
#include <utility>

namespace breakeven {
namespace {

/// Passes everything on to another compressor, but for the times in its plan.
class Timed : public Compressor {
 public:
  explicit Timed(std::shared_ptr<const Compressor> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::size_t period() const override { return inner_->period(); }
  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    return inner_->kernel(tensors, worker);
  }
  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t workers) const override {
    return inner_->state(tensors, workers);
  }

 protected:
  [[nodiscard]] const Compressor& inner() const { return *inner_; }

 private:
  std::shared_ptr<const Compressor> inner_;
};

class WithCosts final : public Timed {
 public:
  WithCosts(std::shared_ptr<const Compressor> inner, CodecCosts costs)
      : Timed(std::move(inner)), costs_(std::move(costs)) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    Plan plan = inner().plan(tensors, workers);
    for (Round& round : plan) {
      apply(round.encode, costs_.encode, costs_.encode);
      apply(round.decode, costs_.decode,
            costs_.decode_next.points.empty() ? costs_.decode : costs_.decode_next);
    }
    return plan;
  }

 private:
  void apply(Work& work, const Curve& first, const Curve& next) const {
    work.known =
        work.elements > 0 ? first.at(work.elements) + (work.repeats - 1) * next.at(work.elements) : Seconds{};
    work.origin = costs_.origin;
  }

  CodecCosts costs_;
};

class WithGiven final : public Timed {
 public:
  WithGiven(std::shared_ptr<const Compressor> inner, Seconds encode, Seconds decode, std::size_t total)
      : Timed(std::move(inner)), encode_(encode), decode_(decode), total_(static_cast<double>(total)) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    Plan plan = inner().plan(tensors, workers);
    const double share = total_ > 0 ? static_cast<double>(elements(tensors)) / total_ : 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].encode.known = i == 0 ? encode_ * share : Seconds{};
      plan[i].decode.known = i + 1 == plan.size() ? decode_ * share : Seconds{};
      plan[i].encode.origin = plan[i].decode.origin = Origin::given;
    }
    return plan;
  }

 private:
  Seconds encode_, decode_;
  double total_;
};

}  // namespace

Seconds Curve::at(double elements) const {
  const auto above = std::lower_bound(points.begin(), points.end(), elements,
                                      [](const Point& point, double x) { return point.elements < x; });
  if (above == points.begin()) {
    return points.front().time;
  }
  if (points.size() == 1) {
    return points.front().time * (elements / points.front().elements);
  }
  const auto right = above == points.end() ? above - 1 : above;
  const auto left = right - 1;
  const double part = (elements - left->elements) / (right->elements - left->elements);
  const Seconds time = left->time + (right->time - left->time) * part;
  // Noise can make a larger message look faster: beyond the curve nothing is faster than its end.
  return above == points.end() ? std::max(right->time, time) : time;
}

bool Curve::covers(double elements) const {
  return elements >= points.front().elements && elements <= points.back().elements;
}

std::shared_ptr<const Compressor> with_costs(std::shared_ptr<const Compressor> inner, CodecCosts costs) {
  return std::make_shared<WithCosts>(std::move(inner), std::move(costs));
}

std::shared_ptr<const Compressor> with_given(std::shared_ptr<const Compressor> inner, Seconds encode,
                                             Seconds decode, std::size_t total_elements) {
  return std::make_shared<WithGiven>(std::move(inner), encode, decode, total_elements);
}

}  // namespace breakeven
