// `breakeven import`: network measurements -> a fabric profile.
#include <filesystem>
#include <ostream>

#include "cli/importers.h"
#include "profiles/import/network.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

constexpr std::size_t kMostRanks = 1 << 20;

NetworkOptions options_of(const Request& request) {
  NetworkOptions options;
  options.name = request.get("name", options.name);
  if (request.has("ranks")) {
    options.workers = count_of(request, "ranks", 1, kMostRanks);
  }
  if (request.has("ranks-per-node")) {
    options.per_node = count_of(request, "ranks-per-node", 1, kMostRanks);
  }
  return options;
}

std::string fabric_text(const Context& context, const NetworkLog& log, const std::string& file) {
  NetworkOptions options = options_of(context.request);
  const std::string place = place_of(file);
  options.source = log.program + ", " + std::filesystem::path(place).filename().string();
  std::vector<std::string> notes = log.notes;
  const FabricProfile fabric = fabric_from(log, options, place, notes);
  if (!context.request.has("quiet")) {
    for (const std::string& note : notes) {
      context.err << "breakeven: " << note << '\n';
    }
  }
  return write_fabric(fabric);
}

/// Of collectives among ranks.
template <NetworkLog (*reader)(std::string_view, const std::string&, std::optional<std::size_t>)>
std::string collectives(const Context& context, const std::string& file) {
  const NetworkOptions options = options_of(context.request);
  return fabric_text(context, reader(read_text(file), place_of(file), options.workers), file);
}
/// Of one link.
template <NetworkLog (*reader)(std::string_view, const std::string&)>
std::string link(const Context& context, const std::string& file) {
  return fabric_text(context, reader(read_text(file), place_of(file)), file);
}

}  // namespace

std::vector<Importer> fabric_importers() {
  const std::vector<std::string_view> ranks{"ranks", "ranks-per-node"};
  return {{"nccl-tests",
           "what nccl-tests and rccl-tests print, of any year, or write with -J",
           ranks,
           {"algbw", "\"bus_bw\""},
           collectives<read_nccl_tests>},
          {"osu", "the OSU micro-benchmarks' collectives", ranks, {"# OSU "}, collectives<read_osu>},
          {"imb", "the Intel MPI benchmarks' collectives", ranks, {"#repetitions"}, collectives<read_imb>},
          {"gloo", "gloo's benchmark", ranks, {"p50 (us)", "p50 (ns)"}, collectives<read_gloo>},
          {"deepspeed",
           "the communication benchmarks of DeepSpeed and of EleutherAI's cookbook",
           ranks,
           {"---- Performance of"},
           collectives<read_deepspeed_comm>},
          {"collectives-csv",
           "rows under collective,ranks,bytes,time_us (or time_ms, time_s, seconds), where bytes are what "
           "one rank "
           "contributes; without the first two they are of all-reduces, among --ranks",
           ranks,
           {"collective,ranks"},
           collectives<read_collectives_csv>},
          {"perftest", "ib_write_bw, ib_send_bw and their kin", {}, {"BW average["}, link<read_perftest>},
          {"iperf3", "iperf3 --json", {}, {"\"test_start\""}, link<read_iperf3>}};
}

}  // namespace breakeven::cli
