// Traces of runs: any text is a model that can be written and read back, or an error.
#include "profiles/import/kineto.h"
#include "profiles/import/run.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

void check_profile(const ModelProfile& profile) {
  require(!profile.workload.tensors.empty(), "a model has tensors");
  for (const Timing& timing : profile.timings) {
    require_amount(timing.forward, "forward");
    require_above_zero(timing.backward, "backward");
    require_amount(timing.other, "other");
  }
  const std::string text = write_model(profile);
  require(write_model(read_model(text, "written")) == text, "a profile reads back as it was written");
}

void check_step(const KinetoStep& step) {
  for (const Seconds time : {step.time, step.forward, step.backward, step.optimizer, step.compute, step.idle,
                             step.exchange, step.overlapped, step.stalled, step.tail}) {
    require_amount(time, "a time of a step");
  }
  require(step.overlapped <= step.exchange * (1 + 1e-9), "no more overlaps than there is");
}

void try_kineto(std::string_view text, const std::string& where) {
  const KinetoFindings findings = find_in(read_kineto(blocks_of(text), where), where);
  require(findings.steps > 0 && !lines_of(findings).empty(), "something was found");
  check_step(findings.step);
  check_profile(model_of(findings, {}, where));
}

template <class Try>
void attempt(Try&& read, const std::uint8_t* data, std::size_t size) {
  (void)read_or_refuse(
      [&](std::string_view text, const std::string& where) {
        read(text, where);
        return 0;
      },
      data, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attempt(try_kineto, data, size);
  attempt([](std::string_view text,
             const std::string& where) { check_profile(import_horovod(blocks_of(text), where, {}).profile); },
          data, size);
  attempt([](std::string_view text,
             const std::string& where) { check_profile(import_chakra(text, where, {}).profile); },
          data, size);
  attempt([](std::string_view text,
             const std::string& where) { check_profile(import_pytorch_et(text, where, {}).profile); },
          data, size);
  return 0;
}
