// All profiles by kind and name: what is embedded in the binary, plus directories and single files that the
// user adds.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/codec.h"
#include "model/device.h"
#include "model/fabric.h"
#include "model/workload.h"

namespace breakeven {

/// Compute times that somebody measured or published for a model.
struct Timing {
  std::string device;
  Precision precision = Precision::fp32;
  double batch = 0;
  Seconds forward, backward, other;
  /// From each gradient to the next as backward makes them, last tensor first, and, where backward goes on
  /// behind the last of them, its rest; adds up to `backward`. Empty: not known.
  std::vector<Seconds> gaps;
  std::optional<Seconds> busy;  ///< the device runs kernels so long in the step; it idles the rest
  std::optional<double> gamma;  ///< how much backward slows down beside communication; 1: its time holds that
  Origin origin = Origin::measured;
  std::string source;
};
/// The gradients of one backward pass, in the order in which they appeared.
struct BackwardLog {
  struct Row {
    Seconds gap;  ///< since the gradient before, or since backward began
    std::size_t bytes = 0;
  };
  std::vector<Row> rows;
};
struct ModelProfile {
  std::string name, summary, source;
  Workload workload;  ///< without times
  std::vector<Timing> timings;
};
struct DeviceProfile {
  std::string summary;
  Device device;
  std::map<std::string, std::string> sources;  ///< key of the number -> where it comes from
};
struct FabricProfile {
  std::string summary, source;
  Fabric fabric;
  std::size_t workers_per_node = 0;   ///< of an instance type; 0: the user says
  std::string device;                 ///< of an instance type; empty: the user says
  bool has_inside = false;            ///< the profile states the links inside a node
  BytesPerSecond flow;                ///< what one TCP connection carries at most; zero: no limit
  std::size_t flows = 0;              ///< connections at a time; flow x flows bounds across.bandwidth
  Origin origin = Origin::published;  ///< of its numbers
  std::map<std::string, std::string> sources;  ///< key of the number -> where it comes from
};
struct CodecProfile {
  std::string name, summary, source;
  std::vector<std::pair<std::string, std::string>> conditions;  ///< under which the times were taken
  std::vector<CodecCosts> costs;
};

/// One row of `list`.
struct Listing {
  std::string name, summary, source;
};

class Catalogue {
 public:
  Catalogue();  ///< the embedded profiles
  /// Adds DIR/models/*.json, DIR/devices/*.json, ...; later names replace earlier ones. Throws Error (file).
  void add_directory(const std::filesystem::path& directory);
  /// Adds the profiles that only the cases of a published source need: those in the folder of its name beside
  /// it, published/NAME/fabrics/*.json, ...; nothing where there is none. Throws Error (file).
  void add_source(const std::string& name_or_file);
  /// Adds curves that came with something else, a scheme's file; nothing where there are none. Throws Error
  /// (value) when the name is taken.
  void add_codec(CodecProfile profile);

  /// A name in the catalogue, else a path to a file ("-": standard input). Throws Error with the nearest
  /// name.
  [[nodiscard]] ModelProfile model(const std::string& name_or_file) const;
  [[nodiscard]] DeviceProfile device(const std::string& name_or_file) const;
  [[nodiscard]] FabricProfile fabric(const std::string& name_or_file) const;
  [[nodiscard]] CodecProfile codec(const std::string& name_or_file) const;
  [[nodiscard]] BackwardLog backward_log(const std::string& file) const;
  /// The text of a grid and the place to name in errors about it.
  struct Text {
    std::string json, where;
  };
  [[nodiscard]] Text sweep(const std::string& name_or_file) const;
  /// The same of published cases.
  [[nodiscard]] Text published(const std::string& name_or_file) const;

  /// Every codec curve of the catalogue that was taken on `device`.
  [[nodiscard]] std::vector<CodecCosts> codecs_for(std::string_view device) const;
  [[nodiscard]] std::vector<std::string> names(std::string_view kind) const;
  /// kind: models, devices, fabrics, codecs, sweeps, published.
  [[nodiscard]] std::vector<Listing> list(std::string_view kind) const;

 private:
  [[nodiscard]] Text find(std::string_view kind, const std::string& name_or_file) const;
  // What was added: kind -> name -> file, read when it is asked for. The embedded profiles stay where they
  // are.
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> files_;
  std::vector<std::string> sources_;  // embedded folders that were added: "published/NAME"
  std::map<std::string, CodecProfile, std::less<>> added_codecs_;
  // What was read once is not read again: a sweep asks for the same model a million times, and standard input
  // can be read only once. Shared by threads.
  struct Cache;
  std::shared_ptr<Cache> cache_;
};

/// Reads a whole file that a user named ("-": standard input), refusing what cannot be a profile: a
/// directory, an unreadable, empty or binary file, more than 64 MiB. Throws Error (file).
std::string read_text(const std::string& path);
/// The place that errors about this path name: the path itself, or "<stdin>".
std::string place_of(const std::string& path);

}  // namespace breakeven
