// Two traces of a step, with its exchange and without -> how much backward slows down beside the exchange.
#include <cmath>

#include "model/error.h"
#include "profiles/import/kineto.h"

namespace breakeven {
namespace {

constexpr double kMost = 10;   // that a query takes
constexpr double kFine = 1e4;  // two runs tell no more digits

}  // namespace

Seconds KinetoStep::reducing(Seconds first) const {
  return Seconds::of(overlap(reduces, {{0, first.base() * 1e6}}) * 1e-6);
}

/// Backward that takes t beside all-reduces does t / gamma of its work then: it loses t (1 - 1/gamma).
void compare(KinetoFindings& with, const KinetoFindings& without, const std::string& where) {
  if (!without.step.buckets.empty()) {
    throw Error(Fault::file, where, "has all-reduces in backward", "the same run under DDP's no_sync()");
  }
  const Seconds slowdown = with.step.backward - without.step.backward;
  const Seconds beside = with.step.beside();
  with.slowdown = slowdown;
  if (stated(slowdown) == Seconds{}) {
    with.gamma = 1;
  } else if (slowdown <= beside * (1 - 1 / kMost)) {
    with.gamma = std::round(beside / (beside - slowdown) * kFine) / kFine;
  }
}

std::string gamma_line(const KinetoFindings& findings) {
  if (!findings.slowdown) {
    return "gamma: not known; a second trace under no_sync() tells it (--no-sync TRACE)";
  }
  const std::string longer =
      "backward takes " + to_string(*findings.slowdown) + " longer than under no_sync()";
  const std::string beside = to_string(findings.step.beside());
  if (!findings.gamma) {
    return "gamma: not known; " + longer + ", but all-reduces run beside no more than " + beside +
           " of it: that cannot come from overlap, the traces differ by more; times are written as traced";
  }
  if (stated(*findings.slowdown) == Seconds{}) {
    return "gamma: 1, backward takes no longer than under no_sync()";
  }
  return "gamma: " + significant(*findings.gamma, 4) + ", " + longer +
         " (--no-sync), and all-reduces run beside " + beside + " of it";
}

}  // namespace breakeven
