#include "profiles/options.h"

namespace breakeven {
namespace {

std::vector<Option> make_options() {
  const std::string w = "workload";
  const std::string c = "cluster";
  const std::string m = "method";
  const std::string v = "verdict";
  return {
      {"model", "NAME|FILE", "the network that is trained (list models)", w},
      {"gradient-bytes", "SIZE", "size of the gradient, instead of a model", w},
      {"backward-log", "FILE",
       "when each gradient appears, instead of a model: lines gap_us,bytes as backward makes them (such a "
       "head, "
       "or that of the logs of arXiv 2006.10103)",
       w},
      {"batch", "N", "samples of one worker in a step", w},
      {"grad-dtype", "fp32|bf16|fp16", "type of the gradients as they are exchanged (default fp32)", w},
      {"compute-dtype", "fp32|tf32|fp16|bf16",
       "type that forward and backward compute in (default: the gradients')", w},
      {"throughput", "RATE", "samples one worker alone trains in a second, such as \"253 /s\"", w},
      {"forward", "TIME", "time of the forward pass", w},
      {"backward", "TIME", "time of the backward pass with nothing beside it", w},
      {"other", "TIME", "time of a step's rest: optimizer, data loading", w},

      {"device", "NAME|FILE", "what one worker computes on (list devices)", c},
      {"workers", "N", "number of workers, such as GPUs", c},
      {"workers-per-node", "N", "workers that share a node and its network link (default 1, or the fabric's)",
       c},
      {"fabric", "NAME|FILE", "network or instance type (list fabrics)", c},
      {"bandwidth", "BANDWIDTH", "what one node can send across the network, such as 25Gbit/s", c, true},
      {"latency", "TIME", "time of one step across the network, without the data", c, true},
      {"efficiency", "FRACTION", "share of the bandwidth that collectives reach", c, true},
      {"intra-bandwidth", "BANDWIDTH", "what one worker can send inside its node, such as 120GB/s", c, true},
      {"intra-latency", "TIME", "time of one step inside a node, without the data", c, true},
      {"message-overhead", "TIME", "what software adds to every exchange, on top of the network (default 0)",
       c},
      {"bucket-copy", "BANDWIDTH",
       "how fast the framework copies gradients into buckets, and a hook's result back (default: at once; a "
       "CPU's "
       "memcpy where it is one)",
       c},
      {"algorithm",
       "auto|ring|tree|double-tree|recursive-doubling|halving-doubling|hierarchical|leader|direct|ps|byteps|"
       "nccl",
       "how collectives run (default auto: the cheapest that the fabric offers)", c},
      {"servers", "N",
       "parameter servers on machines of their own (algorithm ps or byteps; 0: one on every node)", c},
      {"duplex", "full|half", "whether servers send and receive at once (algorithm ps; default full)", c},

      {"schedule", "NAME:KEY=VALUE", "how gradients are grouped into messages (list schedules; default ddp)",
       m},
      {"bucket", "SIZE", "size at which a bucket closes (schedules ddp and equal; default 25MiB)", m},
      {"gamma", "FACTOR",
       "backward takes this times as long while communication runs beside it (default 1.07)", m, true},
      {"gamma-codec", "FACTOR", "backward takes this times as long beside a codec on a stream (default 1.07)",
       m},
      {"placement", "serial|hook|blocking|stream|host",
       "where the codec runs; blocking: a hook that waits for its exchanges too (default: as each scheme's "
       "implementations do; plain all-reduce in 16 bit keeps "
       "DDP's hook unless it is a --scheme itself)",
       m},
      {"host", "NAME|FILE", "the CPU that encodes and decodes under placement host (default cpu)", m},
      {"method", "timeline|closed-form", "how a step is predicted (default timeline)", m},
      {"last-bucket", "outside|inside",
       "closed form: whether the last bucket can hide behind backward (default outside)", m},

      {"codec", "NAME|FILE,...",
       "profiles of encode and decode times (list codecs; default: all of the device)", v},
      {"margin", "FRACTION", "a gain within it is too close to call (default 2%)", v, true},
      {"extra-steps", "FRACTION", "steps that training needs more with the scheme (default 0)", v, true},
  };
}

}  // namespace

const std::vector<Option>& scenario_options() {
  static const std::vector<Option> options = make_options();
  return options;
}

}  // namespace breakeven
