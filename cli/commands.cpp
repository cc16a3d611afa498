// The two tables: what the program can do, and the options that are not part of a scenario.
#include <algorithm>
#include <stdexcept>

#include "cli/command.h"
#include "model/error.h"
#include "model/units.h"

namespace breakeven::cli {
namespace {

constexpr Flag kFlags[] = {
    {"scheme", 's', "SCHEME", "a scheme to judge, NAME or NAME:KEY=VALUE,... (repeatable; see list schemes)",
     true},
    {"format", 0, "table|json|jsonl|csv|markdown",
     "how the answer is written (default table); all but table and markdown use base units: seconds, bytes, "
     "bytes per second"},
    {"output", 'o', "FILE", "write to FILE, whole or not at all, instead of standard output (-)"},
    {"explain", 0, "", "also every formula with its numbers put in, and the origin of each input"},
    {"exit-verdict", 0, "",
     "exit with 0 when a named scheme pays, 10 when none does, 11 when it is too close to call"},
    {"names", 0, "", "only the names, one a line"},
    {"threads", 0, "N",
     "threads: of a sweep (default: all; its rows do not depend on it), of each kernel that is measured, or "
     "of "
     "the benchmarks to import (default: 1)"},
    {"scaling", 0, "FRACTION",
     "a measured scaling factor, such as 60%: the step of one worker alone / the step among all"},
    {"target-scaling", 0, "FRACTION",
     "the scaling factor that is wanted, 100% being linear (default: 95% and 99%; repeatable)", true},
    {"progress", 0, "auto|always|never", "a running count on standard error (default auto: on a terminal)"},
    {"dry-run", 0, "", "only the number of rows"},
    {"elements", 0, "LIST",
     "gradient elements of the messages, as a list or a range (default 1024,65536,1048576,16777216)"},
    {"repeats", 0, "N", "timings of each, of which the median counts (default 15)"},
    {"gradients", 0, "normal|heavy-tailed", "the made-up gradients that are coded (default normal)"},
    {"cold", 0, "", "the profile holds the times with emptied caches; without it, with warm ones"},
    {"map", 0, "PATTERN=SIDE:SPEC",
     "benchmarks named PATTERN time SIDE (encode, decode, decode_next) of the scheme SPEC; in PATTERN {n} is "
     "the number of gradient elements, * anything but a slash (repeatable)",
     true},
    {"name", 0, "NAME", "name of the profile (default measured or imported)"},
    {"device", 0, "NAME", "the device that the times are for, as a query names it (default cpu)"},
    {"ranks", 0, "N", "workers of a network benchmark that is imported, where its output does not say"},
    {"ranks-per-node", 0, "N", "the same: its workers on one node"},
    {"scheme-file", 0, "FILE", "also the scheme that this JSON file describes (repeatable)", true},
    {"plugin", 0, "FILE", "also the schemes of this shared object (repeatable)", true},
    {"profiles", 0, "DIR",
     "also the profiles in DIR/models, DIR/devices, DIR/fabrics, DIR/codecs, DIR/sweeps, DIR/published "
     "(repeatable)",
     true},
    {"color", 0, "auto|always|never",
     "colour (default auto: on a terminal, unless NO_COLOR is set or TERM is dumb)"},
    {"quiet", 'q', "", "no warnings"},
    {"verbose", 'v', "", "on standard error also where each figure comes from"},
    {"help", 'h', "", "this text"},
};

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
    "replaces what the grid says. "
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
    "elements, for ZeRO 1 and 2 (priced as all-reduces). --format csv and jsonl write the buckets.";

constexpr std::string_view kMeasureDetails =
    "Runs the code of each scheme (default: every one that has code) on made-up gradients of several sizes "
    "and "
    "writes what encode and decode took as a codec profile, which a query takes with --codec. The table of "
    "what was measured goes to standard error; --format table, csv, jsonl or markdown writes that instead of "
    "the profile. Times are by the wall clock, since that is what a step waits for: leave the machine alone "
    "meanwhile. Times with emptied caches are in the table too.";

constexpr std::string_view kImportDetails =
    "google-benchmark: the JSON that a program with Google Benchmark in it writes with "
    "--benchmark_format=json or --benchmark_out. Benchmarks named SIDE/SPEC/ELEMENTS are understood as they "
    "are, others by --map: a codec profile. The others make a fabric profile. nccl-tests: what nccl-tests "
    "and "
    "rccl-tests print, or write with -J. osu: osu_allreduce and the like. imb: the Intel MPI Benchmarks. "
    "gloo: "
    "its benchmark. deepspeed: its communication benchmark, and the EleutherAI cookbook's. collectives-csv: "
    "rows under collective,ranks,bytes,time_us, where bytes are what one rank contributes. These give the "
    "measured times, and links that are fitted to them for other numbers of workers. perftest: ib_write_bw "
    "and "
    "the like. iperf3: what it writes with --json. These two give one link between two machines. What was "
    "understood goes to standard error, the profile to standard output.";

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
       .summary = "the best gradient buckets, and settings that come near",
       .usage = "",
       .scenario = true,
       .flags = {"format", "output", "profiles", "color", "quiet", "verbose", "help"},
       .details = kPlanDetails,
       .examples = {{"ResNet-50 on 64 V100 behind 10 Gbit/s",
                     "breakeven plan --model resnet50 --device v100 --batch 64 --workers 64 "
                     "--workers-per-node 4 --bandwidth 10Gbps"}},
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
       .usage = "google-benchmark|nccl-tests|osu|imb|gloo|deepspeed|collectives-csv|perftest|iperf3 FILE",
       .least = 2,
       .most = 2,
       .flags = {"map", "threads", "name", "device", "ranks", "ranks-per-node", "output", "scheme-file",
                 "plugin", "quiet", "help"},
       .details = kImportDetails,
       .examples = {{"benchmarks of your own, named as you like",
                     "breakeven import google-benchmark bench.json --map 'BM_Pack/{n}=encode:signsgd' --map "
                     "'BM_Unpack/{n}=decode:signsgd' -o costs.json"},
                    {"your network, as nccl-tests measured it, for a query to rest on",
                     "breakeven import nccl-tests all_reduce.txt -o mine.json"}},
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
                    {"every case of one", "breakeven validate yu2020-methods --format csv"}},
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

template <class Range>
const auto& named(const Range& range, std::string_view name) {
  const auto found =
      std::find_if(range.begin(), range.end(), [&](const auto& row) { return row.name == name; });
  if (found == range.end()) {
    throw std::logic_error("no row named " + std::string(name));
  }
  return *found;
}

}  // namespace

std::span<const Flag> flags() {
  return kFlags;
}

const Flag& flag(std::string_view name) {
  return named(flags(), name);
}

const std::vector<Command>& commands() {
  static const std::vector<Command> rows = table();
  return rows;
}

const Command& command(std::string_view name) {
  return named(commands(), name);
}

std::vector<std::string> choices(std::string_view value) {
  std::vector<std::string> words;
  if (value.find('|') == std::string_view::npos ||
      std::any_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return words;
  }
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('|'), value.size());
    words.emplace_back(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return words;
}

std::string Request::get(std::string_view flag, std::string_view fallback) const {
  const auto found = given.find(flag);
  return found == given.end() ? std::string(fallback) : found->second.back();
}

Format Request::format() const {
  const auto names = choices(breakeven::cli::flag("format").value);
  const auto found = std::find(names.begin(), names.end(), get("format", "table"));
  return static_cast<Format>(found - names.begin());
}

std::size_t count_of(const Request& request, std::string_view flag, std::size_t fallback, std::size_t most) {
  if (!request.has(flag)) {
    return fallback;
  }
  const std::string text = request.get(flag, "");
  try {
    const std::size_t count = parse_count(text);
    if (count == 0 || count > most) {
      throw Error(Fault::value, {}, "\"" + text + "\" is out of range", "1 to " + std::to_string(most));
    }
    return count;
  } catch (const Error& error) {
    throw error.inside("--" + std::string(flag), Fault::value);
  }
}

std::string grouped(std::size_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string usage_line(const Command& command) {
  std::string line = "breakeven ";
  line.append(command.name);
  line += command.flags.empty() ? "" : " [OPTIONS]";
  return command.usage.empty() ? line : line.append(" ").append(command.usage);
}

}  // namespace breakeven::cli
