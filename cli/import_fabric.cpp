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

constexpr Importer kImporters[] = {
    {"nccl-tests", collectives<read_nccl_tests>},
    {"osu", collectives<read_osu>},
    {"imb", collectives<read_imb>},
    {"gloo", collectives<read_gloo>},
    {"deepspeed", collectives<read_deepspeed_comm>},
    {"collectives-csv", collectives<read_collectives_csv>},
    {"perftest", link<read_perftest>},
    {"iperf3", link<read_iperf3>},
};

}  // namespace

std::span<const Importer> fabric_importers() {
  return kImporters;
}

}  // namespace breakeven::cli
