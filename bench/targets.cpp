#include "bench/targets.h"

#include "cli/table.h"

namespace breakeven::bench {
namespace {

// The design: "speed" (9) binds, "kernels, targets" (6) has the rest and the peers, which were measured in
// 2026 on one core of an AMD EPYC of the Zen 5 kind, each beside a read pass of the same vector.
constexpr const char* kSpeed = "design 9";
constexpr const char* kKernels = "kernels 6";

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"encode", "topk:ratio=0.1%,index=u32,feedback=off", 1.15, 6.3, "x86-simd-sort", kKernels},
      {"encode", "topk:ratio=1%,index=u32,feedback=off", 1.25, 6.3, "x86-simd-sort", kSpeed},
      {"encode", "topk:ratio=10%,index=u32,feedback=off", 1.6, 5.6, "Highway VQSelect", kKernels},
      // 8 us where a read pass from the second-level cache takes 1.6 us.
      {"encode", "topk:ratio=1%,index=u32,feedback=off", 5.0, 12.4, "x86-simd-sort", kKernels, 65536},
      {"decode", "topk:ratio=1%,index=u32,feedback=off", 1.05, 0.98, "torch scatter", kKernels},
      {"decode_next", "topk:ratio=1%,index=u32,feedback=off", 0.22, 0, "", kKernels},
      {"encode", "randomk:ratio=0.1%,feedback=off", 0.10, 0, "", kKernels},
      {"encode", "randomk:ratio=1%,feedback=off", 0.30, 2.45, "GRACE", kKernels},
      {"encode", "randomk:ratio=10%,feedback=off", 1.3, 0, "", kKernels},
      {"encode", "signsgd", 1.05, 1.28, "numpy packbits", kSpeed},
      {"encode", "signsgd:scale=mean", 1.05, 1.28, "numpy packbits", kKernels},
      {"decode", "signsgd", 1.05, 3.6, "numpy unpackbits", kKernels},
      {"encode", "signsgd:feedback=on", 1.8, 3.9, "GRACE", kKernels},
      {"majority", "8 votes", 0.25, 7.3, "numpy", kSpeed},
      {"encode", "fp16", 1.20, 1.32, "FBGEMM", kSpeed},
      {"encode", "bf16", 1.20, 1.23, "torch", kSpeed},
      {"decode", "fp16", 1.15, 1.30, "FBGEMM", kKernels},
      {"decode", "bf16", 1.15, 1.20, "torch", kKernels},
      {"encode", "int8", 1.15, 1.21, "FBGEMM", kSpeed},
      {"encode", "int8:block=1000000000", 2.05, 2.36, "FBGEMM", kKernels},
      {"encode", "qsgd:bucket=512", 1.35, 49, "GRACE", kSpeed},
      {"encode", "int4", 1.15, 1.78, "FBGEMM", kSpeed},
      {"decode", "int4", 1.15, 1.26, "FBGEMM", kKernels},
      {"encode", "terngrad:pack=2bit", 2.1, 37, "GRACE", kSpeed},
      {"both", "powersgd:rank=1,feedback=off", 2.2, 4.0, "Eigen", kSpeed},
      {"both", "powersgd:rank=4,feedback=off", 2.8, 8.4, "torch", kSpeed},
      {"both", "powersgd:rank=8,feedback=off", 3.8, 9.4, "torch", kSpeed},
      {"both", "powersgd:rank=16,feedback=off", 4.8, 17, "torch", kSpeed},
  };
  return all;
}

std::string targets_text(const std::vector<Target>& targets) {
  cli::Rows rows;
  rows.columns = {"side", "scheme", "elements", "reads", "peer", "peer_reads", "source"};
  for (const Target& target : targets) {
    cli::Value peer, peer_ratio;
    if (target.peer_ratio > 0) {
      peer = target.peer;
      peer_ratio = target.peer_ratio;
    }
    rows.rows.push_back({target.what, target.spec, static_cast<double>(target.elements), target.ratio, peer,
                         peer_ratio, target.source});
  }
  return to_jsonl(rows);
}

const std::vector<TimeTarget>& time_targets() {
  static const std::vector<TimeTarget> all = {
      {"step/timeline_plain", 20e-6, kSpeed},
      {"process_query/real_time", 10e-3, kSpeed},
      {"process_sweep_million/iterations:1/real_time", 1, kSpeed},
  };
  return all;
}

}  // namespace breakeven::bench
