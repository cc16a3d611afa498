#include "profiles/described_scheme.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/error.h"
#include "profiles/limits.h"

namespace breakeven {
namespace {

/// Sums over the tensors that are coded.
struct Coded {
  double tensors = 0, elements = 0, rows = 0, columns = 0, bytes = 0;

  void add(const Shape& shape) {
    tensors += 1;
    elements += static_cast<double>(shape.elements());
    rows += static_cast<double>(shape.rows);
    columns += static_cast<double>(shape.cols);
    bytes += shape.bytes().base();
  }
  [[nodiscard]] double of(const Linear& amount) const {
    return amount.fixed + amount.per_tensor * tensors + amount.per_element * elements +
           amount.per_row * rows + amount.per_column * columns;
  }
};

/// The next multiple of `unit`, or `value` itself where only rounding lifts it above one.
double whole(double value, double unit) {
  const double units = value / unit;
  const double nearest = std::round(units);
  const double slack = 8 * std::numeric_limits<double>::epsilon() * units;
  return unit * (std::abs(units - nearest) <= slack ? nearest : std::ceil(units));
}

bool scatters(Exchange exchange) {
  return exchange == Exchange::all_to_all || exchange == Exchange::reduce_scatter;
}

class Described final : public Compressor {
 public:
  explicit Described(std::shared_ptr<const Description> description) : described_(std::move(description)) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    Coded coded;
    Coded dense;
    divide(tensors, coded, dense);
    Plan plan;
    if (dense.bytes > 0) {
      plan.push_back({{}, Exchange::all_reduce, Bytes::of(dense.bytes), {}, tensors.front().element});
    }
    if (coded.elements > 0) {
      const auto all = static_cast<double>(std::max<std::size_t>(workers, 1));
      for (std::size_t r = 0; r < described_->rounds.size(); ++r) {
        plan.push_back(round(r, coded, all));
      }
    }
    return plan;
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Coded coded;
    Coded dense;
    divide(tensors, coded, dense);
    return coded.elements > 0 ? Bytes::of(bounded(whole(coded.of(described_->state), 1), coded, "/state"))
                              : Bytes{};
  }

 private:
  void divide(std::span<const Shape> tensors, Coded& coded, Coded& dense) const {
    for (const Shape& shape : tensors) {
      if (shape.elements() > 0) {
        (described_->dense_vectors && shape.is_vector() ? dense : coded).add(shape);
      }
    }
  }

  [[nodiscard]] double bounded(double value, const Coded& coded, const std::string& path) const {
    if (!(value <= kMostStated)) {
      throw Error(Fault::file, described_->file + ": " + path,
                  "comes to " + significant(value) + " for a message of " + significant(coded.elements, 15) +
                      " elements",
                  "at most " + exact(kMostStated));
    }
    return value;
  }

  [[nodiscard]] Round round(std::size_t r, const Coded& coded, double workers) const {
    const DescribedRound& row = described_->rounds[r];
    const std::string path = "/rounds/" + std::to_string(r);
    const bool last = r + 1 == described_->rounds.size();
    const Exchange before = r == 0 ? Exchange::none : described_->rounds[r - 1].exchange;
    const double unit = size_of(row.element) * (scatters(row.exchange) ? workers : 1);
    const double payload = bounded(whole(coded.of(row.payload), unit), coded, path + "/payload");
    // Between a scattering exchange and the next one a worker has its share of the gradient only.
    const double share = std::ceil(coded.elements / workers);
    const double share_bytes = share * coded.bytes / coded.elements;

    Round result;
    result.exchange = row.exchange;
    result.element = row.element;
    result.payload = Bytes::of(payload);
    const bool of_share = scatters(before);
    if (row.encode || r == 0 || before == Exchange::all_to_all) {
      const double read = of_share ? share_bytes : coded.bytes;
      result.encode = work(row.encode, read + payload, 1, coded, path + "/encode");
      result.encode.elements = r == 0 ? coded.elements : of_share ? share : 0;
    }
    if (row.decode || last || row.exchange == Exchange::all_to_all) {
      const bool gathers = row.exchange == Exchange::all_gather;
      // The shares of all workers together are as much to decode as one payload of the whole message.
      const bool by_worker = gathers && last && !of_share;
      const double repeats =
          (row.decode ? row.decode->by_worker.value_or(by_worker) : by_worker) ? workers : 1;
      const double received = payload * (gathers ? workers : 1);
      const double written = scatters(row.exchange) ? share_bytes : coded.bytes;
      result.decode = work(row.decode, received + written, repeats, coded, path + "/decode");
      result.decode.elements = last || row.exchange == Exchange::all_to_all ? coded.elements
                               : scatters(row.exchange)                     ? share
                                                                            : 0;
    }
    return result;
  }

  /// What is stated is done `repeats` times over; else one kernel moves all the bytes in one pass.
  [[nodiscard]] Work work(const std::optional<DescribedWork>& stated, double moved, double repeats,
                          const Coded& coded, const std::string& path) const {
    Work result;
    result.repeats = repeats;
    result.touched = Bytes::of(bounded(moved, coded, path));
    result.launches = 1;
    if (stated) {
      if (stated->touched) {
        result.touched =
            Bytes::of(bounded(repeats * whole(coded.of(*stated->touched), 1), coded, path + "/touched"));
      }
      result.flops = bounded(repeats * coded.of(stated->flops), coded, path + "/flops");
      result.launches = bounded(repeats * coded.of(stated->launches), coded, path + "/launches");
    }
    return result;
  }

  std::shared_ptr<const Description> described_;
};

}  // namespace

std::unique_ptr<Compressor> described(std::shared_ptr<const Description> description) {
  return std::make_unique<Described>(std::move(description));
}

}  // namespace breakeven
