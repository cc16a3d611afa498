// The table of commands: what the program can do.
#include <algorithm>
#include <stdexcept>

#include "cli/command.h"
#include "cli/importers.h"

namespace breakeven::cli {
namespace {

constexpr std::string_view kQueryDetails =
    "Says first what an infinitely fast network would bring, since no scheme can gain more. Then for each "
    "scheme: the step, the "
    "gain over plain all-reduce, the network time that stays exposed, the codec time and where it comes "
    "from, and where the "
    "scheme pays. Plain all-reduce in 16 bit is always a row when the gradients are fp32.";

constexpr std::string_view kSweepDetails =
    "GRID is a name (list sweeps) or a JSON file. Every scenario option takes a list (8,16,32) or a range "
    "(1Gbps..100Gbps*2 by a "
    "factor, 10Gbps..50Gbps+10Gbps by a step); rows are every combination, and what the command line says "
    "replaces what the grid says (cases that then no longer differ are one). "
    "Rows are streamed in the order of the grid, so that memory does not grow with them; the count of setups "
    "in which compression "
    "pays goes to standard error.";

constexpr std::string_view kSolveDetails =
    "bandwidth: with --scaling the effective bandwidth that explains what was measured, with "
    "--target-scaling the bandwidth that is needed, with --scheme the bandwidths at which the scheme pays. "
    "ratio: what compression must reach, were it free. codec-time: under which encode and decode time "
    "together each scheme pays. workers, batch: where plain all-reduce and each scheme scale as wanted, or "
    "where a scheme pays. extra-steps: how many more steps training may need with each scheme. A scheme pays "
    "where it gains more than --margin. What is asked for need not be given (--fabric or --bandwidth, "
    "--workers, --batch); where it is, the answer also says what the setup reaches there. Looked at are "
    "1 Mbit/s to "
    "100 Tbit/s, ratios up to a million, up to 4096 workers and batches up to 65536; compute times grow with "
    "the batch as a query's do.";

constexpr std::string_view kPlanDetails =
    "Divides the gradient of plain all-reduce into the buckets of whole tensors that end the step soonest, "
    "by an exact search, and compares them with DDP's, MG-WFBP's, one bucket and one a tensor. Then the "
    "settings of frameworks that come nearest: PyTorch DDP's bucket_cap_mb (in MiB; given one, recent "
    "releases size the first bucket by it too), Horovod's buffer and cycle, and DeepSpeed's bucket sizes in "
    "elements, for ZeRO 1 and 2 (priced as all-reduces). With --scheme each bucket is sent plain or by one "
    "of the schemes, whichever ends the step soonest; a codec under placement serial waits for the end of "
    "backward, bucket by bucket. That search is exact where no scheme takes codec time or more than one "
    "exchange and tensors are few (the JSON says so); otherwise buckets "
    "choose in turn, the largest first (as Espresso does), from many divisions, and boundaries move while "
    "that helps. --format csv and jsonl write the buckets.";

constexpr std::string_view kMeasureDetails =
    "Runs the code of each scheme (default: every one that has code) on made-up gradients of several sizes "
    "and "
    "writes what encode and decode took as a codec profile, which a query takes with --codec. The table of "
    "what was measured goes to standard error; --format table, csv, jsonl or markdown writes that instead of "
    "the profile. Times are by the wall clock, since that is what a step waits for: leave the machine alone "
    "meanwhile. Times with emptied caches are in the table too.";

/// Lives as long as the table of commands.
std::string_view import_details() {
  static const std::string text =
      importers_text() + "What was understood goes to standard error, the profile to standard output.";
  return text;
}

constexpr std::string_view kCheckDetails =
    "Runs each scheme among 1 to 8 workers, on messages of awkward sizes and on normal, heavy-tailed, "
    "constant, zero, NaN, infinite "
    "and denormal gradients: payloads must be as long as planned, all workers must end with the same bits, "
    "and nothing may be "
    "written beside the buffers. Of a scheme without code the plans are checked. Exit status 1 when "
    "something "
    "failed.";

constexpr std::string_view kValidateDetails =
    "Predicts every case of the sources (list published; default: all) and says how far off it is. A CASES "
    "is a "
    "name or a JSON file. Without names the cases outside their tolerance are shown, the furthest first, "
    "with "
    "what their setup or the model likely lacks; with names every case. Exit status 1 when a source no "
    "longer "
    "keeps the bound that its file states.";

constexpr std::size_t kAny = 1 << 16;  // arguments

std::vector<Command> table() {
  return {
      {.name = "query",
       .summary = "one setup, every scheme, a verdict",
       .usage = "",
       .scenario = true,
       .flags = {"scheme", "format", "output", "explain", "exit-verdict", "scheme-file", "plugin", "profiles",
                 "color", "quiet", "verbose", "help"},
       .details = kQueryDetails,
       .examples =
           {{"ResNet-50 on 64 V100 behind a 10 Gbit/s network, four schemes",
             "breakeven query --model resnet50 --device v100 --batch 64 --workers 64 --workers-per-node 4 "
             "--bandwidth 10Gbps --scheme powersgd:rank=4 --scheme topk:ratio=1% --scheme signsgd --scheme "
             "int8"},
            {"with your own step times and nothing but the gradient's size",
             "breakeven query --gradient-bytes 97.5MiB --forward 33ms --backward 65ms --workers 16 "
             "--bandwidth 25Gbps --scheme topk:ratio=1%,encode=8ms,decode=1ms"}},
       .run = query},
      {.name = "sweep",
       .summary = "many setups at once: a grid becomes a table",
       .usage = "[GRID]",
       .most = 1,
       .scenario = true,
       .flags = {"scheme", "format", "output", "threads", "progress", "dry-run", "scheme-file", "plugin",
                 "profiles", "color", "quiet", "verbose", "help"},
       .details = kSweepDetails,
       .examples = {{"the grid of \"On the Utility of Gradient Compression\"",
                     "breakeven sweep agarwal2022 --format csv"},
                    {"your own: every combination of two lists",
                     "breakeven sweep --model resnet50 --device v100 --batch 64 --workers 8,16,32,64 "
                     "--bandwidth 1Gbps..100Gbps*2 --scheme powersgd:rank=4 --scheme signsgd"}},
       .run = sweep},
      {.name = "solve",
       .summary = "the value of one input that gives what is wanted",
       .usage = "bandwidth|ratio|codec-time|workers|batch|extra-steps",
       .least = 1,
       .most = 1,
       .scenario = true,
       .flags = {"scheme", "scaling", "target-scaling", "format", "output", "scheme-file", "plugin",
                 "profiles", "color", "quiet", "verbose", "help"},
       .details = kSolveDetails,
       .examples =
           {{"how much compression makes ResNet-50 scale on 64 V100 behind 10 Gbit/s",
             "breakeven solve ratio --model resnet50 --device v100 --batch 32 --workers 64 --bandwidth "
             "10Gbps"},
            {"which part of the network a measured run used",
             "breakeven solve bandwidth --scaling 71.4% --model resnet50 --device v100 --batch 32 --workers "
             "64 --bandwidth 100Gbps"}},
       .run = solve},
      {.name = "plan",
       .summary = "the best gradient buckets, a scheme for each, and settings that come near",
       .usage = "",
       .scenario = true,
       .flags = {"scheme", "format", "output", "scheme-file", "plugin", "profiles", "color", "quiet",
                 "verbose", "help"},
       .details = kPlanDetails,
       .examples =
           {{"ResNet-50 on 64 V100 behind 10 Gbit/s",
             "breakeven plan --model resnet50 --device v100 --batch 64 --workers 64 "
             "--workers-per-node 4 --bandwidth 10Gbps"},
            {"and which of them to compress, with which scheme",
             "breakeven plan --model bert-large --device v100 --batch 16 --workers 16 --bandwidth 25Gbps "
             "--scheme powersgd:rank=4 --scheme bf16"}},
       .run = plan},
      {.name = "trace",
       .summary = "one step's timeline, for Perfetto or chrome://tracing",
       .usage = "",
       .scenario = true,
       .flags = {"scheme", "output", "scheme-file", "plugin", "profiles", "quiet", "help"},
       .details = "One track a resource: compute, codec, host, copy, network. Times are in microseconds from "
                  "the start of the step. "
                  "Open the file on https://ui.perfetto.dev.",
       .examples =
           {{"a step with PowerSGD",
             "breakeven trace --model resnet50 --device v100 --batch 64 --workers 64 --bandwidth 10Gbps "
             "--scheme powersgd:rank=4 -o step.json"}},
       .run = trace},
      {.name = "measure",
       .summary = "time the schemes' kernels on this machine: a codec profile",
       .usage = "[SCHEME...]",
       .most = kAny,
       .flags = {"elements", "threads", "repeats", "gradients", "cold", "name", "device", "format", "output",
                 "progress", "scheme-file", "plugin", "color", "quiet", "verbose", "help"},
       .details = kMeasureDetails,
       .examples = {{"two schemes, for what a query takes with --codec",
                     "breakeven measure topk:ratio=1% powersgd:rank=4 -o costs.json"}},
       .run = measure},
      {.name = "import",
       .summary = "what another program measured: a profile",
       .usage = "FORMAT FILE",
       .least = 2,
       .most = 2,
       .flags = {"ranks", "ranks-per-node", "sequence", "batch", "compute-dtype", "map", "threads", "device",
                 "no-sync", "name", "output", "scheme-file", "plugin", "profiles", "quiet", "help"},
       .details = import_details(),
       .examples =
           {{"benchmarks of your own, named as you like",
             "breakeven import google-benchmark bench.json --map 'BM_Pack/{n}=encode:signsgd' --map "
             "'BM_Unpack/{n}=decode:signsgd' -o costs.json"},
            {"your network, as nccl-tests measured it",
             "breakeven import nccl-tests all_reduce.txt -o mine.json && breakeven query --fabric mine.json "
             "--model resnet50 --device a100 --batch 64 --workers 16 --scheme signsgd"},
            {"a language model from its configuration, for sequences of 4096 tokens",
             "breakeven import huggingface config.json --sequence 4096 --name mine -o mine.json"}},
       .run = import_profile},
      {.name = "check",
       .summary = "whether schemes do what their plans say",
       .usage = "SCHEME|FILE.json|FILE.so...",
       .least = 1,
       .most = kAny,
       .flags = {"format", "output", "scheme-file", "plugin", "color", "quiet", "help"},
       .details = kCheckDetails,
       .examples = {{"every scheme of a shared object", "breakeven check ./mine.so"}},
       .run = check},
      {.name = "validate",
       .summary = "how close predictions come to what was published and measured",
       .usage = "[CASES...]",
       .most = kAny,
       .flags = {"format", "output", "profiles", "color", "quiet", "verbose", "help"},
       .details = kValidateDetails,
       .examples = {{"all sources", "breakeven validate"},
                    {"every case of one", "breakeven validate ddl-benchmarks --format csv"}},
       .run = validate},
      {.name = "list",
       .summary = "what there is to choose from, and each one in detail",
       .usage = "models|devices|fabrics|schemes|schedules|codecs|sweeps|published [NAME]",
       .least = 1,
       .most = 2,
       .flags = {"format", "output", "names", "scheme-file", "plugin", "profiles", "color", "quiet", "help"},
       .details =
           "Without NAME one row each; with NAME everything that is known about that one, with its source.",
       .examples = {{"all schemes", "breakeven list schemes"},
                    {"one scheme's parameters", "breakeven list schemes powersgd"}},
       .run = list},
      {.name = "help",
       .summary = "help on a command or a topic",
       .usage = "[COMMAND|exit-codes|units|schemes]",
       .most = 1,
       .flags = {"help"},
       .details = "",
       .examples = {},
       .run = help},
      {.name = "man",
       .summary = "the manual page, in roff",
       .usage = "",
       .flags = {"output", "help"},
       .details = "",
       .examples = {{"read it", "breakeven man -o breakeven.1 && man ./breakeven.1"}},
       .run = man},
      {.name = "completion",
       .summary = "the completion script of a shell",
       .usage = "bash|zsh|fish",
       .least = 1,
       .most = 1,
       .flags = {"output", "help"},
       .details = "",
       .examples = {{"for this bash session", "source <(breakeven completion bash)"}},
       .run = completion},
  };
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> rows = table();
  return rows;
}

const Command& command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const Command& row) { return row.name == name; });
  if (found == commands().end()) {
    throw std::logic_error("no command named " + std::string(name));
  }
  return *found;
}

std::string usage_line(const Command& command) {
  std::string line = "breakeven ";
  line.append(command.name);
  line += command.flags.empty() ? "" : " [OPTIONS]";
  return command.usage.empty() ? line : line.append(" ").append(command.usage);
}

}  // namespace breakeven::cli
