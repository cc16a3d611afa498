// Scheme specs: any text is a scheme whose plans hold finite numbers, or an error.
#include <array>

#include "compressors/builtin.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

const Registry& registry() {
  static const Registry all = [] {
    Registry made;
    add_builtin(made);
    return made;
  }();
  return all;
}

void check_work(const Work& work) {
  require_amount(work.touched, "touched bytes");
  require_amount(work.flops, "flops");
  require_amount(work.launches, "launches");
  require_amount(work.elements, "elements");
  require_amount(work.repeats, "repeats");
  require_amount(work.known.value_or(Seconds{}), "known time");
}

double payload(const Plan& plan) {
  double sum = 0;
  for (const Round& round : plan) {
    sum += round.payload.base();
  }
  return sum;
}

void check_plans(const Candidate& candidate, const Candidate& again) {
  const std::vector<std::vector<Shape>> messages = {{},
                                                    {{0, 1}},
                                                    {{1, 1}},
                                                    {{1000, 1}},
                                                    {{256, 128}, {64, 147}, {2000, 1}, {7, 3}},
                                                    {{512, 512, Element::bf16}, {512, 1, Element::bf16}},
                                                    {{1'000'000, 1'000'000}, {1'000'000'000, 1}}};
  for (const auto& message : messages) {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{1} << 20}) {
      const Plan plan = candidate.compressor->plan(message, workers);
      for (const Round& round : plan) {
        check_work(round.encode);
        check_work(round.decode);
        require_above_zero(round.payload, "payload");
      }
      require_amount(candidate.compressor->state(message, workers), "state");
      require(payload(plan) == payload(again.compressor->plan(message, workers)),
              "the canonical spec is the same scheme:", again.spec);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view spec = text_of(data, size);
  Candidate candidate;
  try {
    candidate = registry().make(spec);
  } catch (const Error& error) {
    require(error.fault() == Fault::value, "a refused spec is the value's fault:", error.what());
    return 0;
  }
  require_amount(candidate.encode.value_or(Seconds{}), "encode");
  require_amount(candidate.decode.value_or(Seconds{}), "decode");
  const Candidate again = registry().make(candidate.spec);
  require(again.spec == candidate.spec, "the canonical spec reads back:", candidate.spec);
  require(again.encode == candidate.encode && again.decode == candidate.decode,
          "given times read back:", candidate.spec);
  check_plans(candidate, again);
  return 0;
}
