// Schemes in JSON: any text is a scheme whose plans can be computed with, or an error that names the file.
#include <array>
#include <cmath>

#include "model/registry.h"
#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

using Message = std::vector<Shape>;

void check_work(const Work& work) {
  require_amount(work.touched, "bytes touched");
  require_amount(work.flops, "operations");
  require_amount(work.launches, "launches");
  require_amount(work.elements, "elements coded");
  require(work.repeats >= 1, "a coding is done at least once");
  require(!work.known, "a plan states work, not time");
}

void check_round(const Round& round, double workers) {
  require_above_zero(round.payload, "payload");
  require(round.payload.base() == std::floor(round.payload.base()), "a payload is whole bytes");
  const bool parts = round.exchange == Exchange::all_to_all || round.exchange == Exchange::reduce_scatter;
  const double unit = size_of(round.element) * (parts ? workers : 1);
  require(std::fmod(round.payload.base(), unit) == 0 || round.payload.base() > 1e15,
          "a payload is cut into whole parts");
  check_work(round.encode);
  check_work(round.decode);
}

void check_plans(const Compressor& compressor) {
  const std::array<Message, 6> messages = {
      Message{},
      {{0, 7}},
      {{1, 1}},
      {{64, 147}, {64, 1}, {1000, 512}, {10, 3}},
      {{33, 5, Element::f16}, {1, 9, Element::f16}},
      {{1'000'000, 1'000'000}, {1000, 1}},
  };
  for (const Message& message : messages) {
    for (const std::size_t workers : {1U, 3U, 64U, 1'000'000U}) {
      try {
        for (const Round& round : compressor.plan(message, workers)) {
          check_round(round, static_cast<double>(workers));
        }
        require_amount(compressor.state(message, workers), "state");
      } catch (const Error& error) {
        require(error.fault() == Fault::file, "an absurd plan is the file's fault:", error.what());
        require(error.where().starts_with("input.json: /"), "it names file and place:", error.what());
      }
    }
    require(compressor.kernel(message, {}) == nullptr, "a described scheme has no kernel");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = read_or_refuse(read_scheme, data, size);
  if (!file) {
    return 0;
  }
  Registry registry;
  registry.add(file->scheme);
  const Candidate candidate = registry.make(file->scheme.name);
  require(candidate.spec == file->scheme.name, "a scheme's name is its spec");
  check_plans(*candidate.compressor);
  for (const CodecCosts& costs : file->codec.costs) {
    require(costs.scheme == candidate.spec, "its curves are its own");
    require(!costs.encode.points.empty() && !costs.decode.points.empty(), "curves have points");
  }
  return 0;
}
