// Writes a fabric profile, as short as its values allow.
#include <array>
#include <cmath>

#include "model/error.h"
#include "profiles/json_reader.h"
#include "profiles/write.h"
#include "profiles/write_text.h"

namespace breakeven {
namespace {

/// A whole number of the largest binary unit, else bytes.
std::string size_text(Bytes size) {
  struct Unit {
    const char* name;
    double bytes;
  };
  constexpr std::array<Unit, 3> units{{{" GiB", 1073741824}, {" MiB", 1048576}, {" KiB", 1024}}};
  for (const Unit& unit : units) {
    const double count = size.base() / unit.bytes;
    if (count >= 1 && count == std::floor(count)) {
      return number_text(count) + unit.name;
    }
  }
  return number_text(size.base()) + " B";
}

std::string bandwidth_text(BytesPerSecond bandwidth) {
  const std::string number = number_text(bandwidth.base() / 1e9);
  return parse<BytesPerSecond>(number + " GB/s") == bandwidth ? number + " GB/s"
                                                              : number_text(bandwidth.base()) + " B/s";
}

class Writer {
 public:
  explicit Writer(const FabricProfile& profile) : profile_(profile), fabric_(profile.fabric) {}

  std::string text() {
    add_member(json_, "  ", "schema", "1");
    add_text(json_, "  ", "name", fabric_.name);
    add_text(json_, "  ", "summary", profile_.summary);
    add_text(json_, "  ", "source", profile_.source);
    if (profile_.origin != Origin::published) {
      add_text(json_, "  ", "origin", std::string(name(profile_.origin)));
    }
    const bool across = fabric_.across.bandwidth > BytesPerSecond{};
    if (!across && !profile_.has_inside) {
      throw Error(Fault::value, "fabric profile", "has no links", "links across nodes, inside them, or both");
    }
    if (across) {
      std::string json = level(fabric_.across, "across");
      if (profile_.flows > 0) {
        add_number(json, "across", "flow", bandwidth_text(profile_.flow));
        add_sourced(json, "across", "flows", std::to_string(profile_.flows));
      }
      add_member(json_, "  ", "across", json + "\n  }");
    }
    if (profile_.has_inside) {
      add_member(json_, "  ", "inside", level(fabric_.inside, "inside") + "\n  }");
    }
    add_shape();
    add_nccl();
    add_tables();
    if (!fabric_.additions.points.empty()) {
      std::string additions = "{";
      add_text(additions, "    ", "source", other_source(fabric_.additions.source));
      add_member(additions, "    ", "points", points(fabric_.additions.points, &AdditionTable::Point::size));
      add_member(json_, "  ", "additions", additions + "\n  }");
    }
    return json_ + "\n}\n";
  }

 private:
  [[nodiscard]] std::string other_source(const std::string& source) const {
    return source == profile_.source ? std::string() : source;
  }
  [[nodiscard]] const std::string* source_of(const std::string& key) const {
    const auto found = profile_.sources.find(key);
    return found == profile_.sources.end() ? nullptr : &found->second;
  }
  /// A value in JSON, alone, or with its source where that is not the whole profile's.
  void add_sourced(std::string& json, const std::string& prefix, const std::string& key,
                   const std::string& value) const {
    const std::string* source = source_of(prefix + "/" + key);
    const std::string other = source == nullptr ? std::string() : other_source(*source);
    add_member(json, "    ", key,
               other.empty() ? value : "{\"value\": " + value + ", \"source\": " + json_text(other) + "}");
  }
  void add_number(std::string& json, const std::string& prefix, const std::string& key,
                  const std::string& value) const {
    add_sourced(json, prefix, key, json_text(value));
  }

  /// Without its end.
  [[nodiscard]] std::string level(const Level& level, const std::string& prefix) const {
    std::string json = "{";
    add_text(json, "    ", "name", level.name);
    add_number(json, prefix, "bandwidth", bandwidth_text(level.bandwidth));
    if (level.latency > Seconds{} || source_of(prefix + "/latency") != nullptr) {
      add_number(json, prefix, "latency", time_text(level.latency));
    }
    if (level.efficiency != 1 || source_of(prefix + "/efficiency") != nullptr) {
      add_number(json, prefix, "efficiency", percentage(level.efficiency));
    }
    return json;
  }

  void add_shape() {
    if (profile_.workers_per_node > 0) {
      add_member(json_, "  ", "workers_per_node", std::to_string(profile_.workers_per_node));
    }
    add_text(json_, "  ", "device", profile_.device);
    if (fabric_.servers > 0) {
      add_member(json_, "  ", "servers", std::to_string(fabric_.servers));
    }
    if (!fabric_.full_duplex) {
      add_member(json_, "  ", "full_duplex", "false");
    }
    std::string algorithms;
    for (const Algorithm algorithm : fabric_.offered) {
      algorithms += (algorithms.empty() ? "" : ", ") + json_text(name(algorithm));
    }
    add_member(json_, "  ", "algorithms", "[" + algorithms + "]");
  }

  void add_nccl() {
    const NcclTopology& nccl = fabric_.nccl;
    const std::string* source = source_of("nccl");
    if (nccl == NcclTopology{} && source == nullptr) {
      return;
    }
    std::string json = "{";
    const auto add = [&](const char* key, bool stated, const std::string& value) {
      if (stated) {
        add_member(json, "    ", key, value);
      }
    };
    add("architecture", nccl.architecture.has_value(),
        nccl.architecture ? json_text(name(*nccl.architecture)) : std::string());
    add("peers", nccl.peers.has_value(), nccl.peers ? json_text(name(*nccl.peers)) : std::string());
    add("cpu", nccl.cpu != CpuVendor::intel, json_text(name(nccl.cpu)));
    add("channels", nccl.channels > 0, std::to_string(nccl.channels));
    add("latency", nccl.latency > Seconds{}, json_text(time_text(nccl.latency)));
    add("gpudirect", nccl.gpudirect, "true");
    add("collnet", nccl.collnet, "true");
    add_text(json, "    ", "source", source == nullptr ? std::string() : *source);
    add_member(json_, "  ", "nccl", json + "\n  }");
  }

  template <class Point>
  static std::string points(const std::vector<Point>& points, Bytes Point::*size) {
    std::string text;
    for (const Point& point : points) {
      text += (text.empty() ? "[" : ", [") + json_text(size_text(point.*size)) + ", " +
              json_text(time_text(point.time)) + "]";
    }
    return "[" + text + "]";
  }

  void add_tables() {
    std::string tables;
    for (const Table& table : fabric_.tables) {
      tables += (tables.empty() ? "\n" : ",\n") + std::string("    {\"exchange\": ") +
                json_text(name(table.exchange)) + ", \"workers\": " + std::to_string(table.workers) +
                ", \"points\": " + points(table.points, &Table::Point::payload) + "}";
    }
    if (!tables.empty()) {
      add_member(json_, "  ", "tables", "[" + tables + "\n  ]");
    }
  }

  const FabricProfile& profile_;
  const Fabric& fabric_;
  std::string json_ = "{";
};

}  // namespace

std::string write_fabric(const FabricProfile& profile) {
  return Writer(profile).text();
}

}  // namespace breakeven
