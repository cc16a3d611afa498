// What several suites of this folder need: the text of an error, files that go away, small profiles.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "model/error.h"
#include "profiles/setup.h"

namespace breakeven {

/// "FAULT what()", so that a test pins the exit status together with the words.
inline std::string failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return (error.fault() == Fault::file ? "file " : "value ") + std::string(error.what());
  }
  return "nothing was thrown";
}

/// A directory of its own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "breakeven-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes `text` to the file `name` and returns its path.
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

/// Two layers with shapes, FLOPs and times: 110 elements, forward 30 FLOP, backward 50 FLOP a sample.
inline const char* const kTinyModel =
    R"({"schema": 1, "name": "tiny", "summary": "two layers", "source": "made up",
  "tensors": [["a.weight", "2x5", 10], ["b.weight", "10x10", 20]],
  "timings": [
    {"device": "gpu", "precision": "fp32", "batch": 8, "forward": "10 ms", "backward": "20 ms", "other": "5 ms",
     "origin": "measured", "source": "a stopwatch"},
    {"device": "gpu", "precision": "fp32", "batch": 64, "forward": "70 ms", "backward": "150 ms",
     "origin": "published", "source": "a paper"},
    {"device": "gpu", "precision": "fp16", "batch": 8, "throughput": "1000 /s", "origin": "published"}]})";

inline const char* const kTinyDevice = R"({"schema": 1, "name": "gpu", "summary": "a device",
  "memory": {"value": "1 TB/s", "source": "data sheet"}, "capacity": "8 GB", "launch": "10 us",
  "peak": {"fp32": "10 GFLOP/s", "bf16": "40 GFLOP/s"}, "efficiency": {"fp32": {"value": "50%", "source": "a run"}},
  "host_link": "12 GB/s", "peer": {"name": "wire", "bandwidth": "100 GB/s", "latency": "3 us"}})";

inline const char* const kTinyFabric =
    R"({"schema": 1, "name": "box", "summary": "an instance", "source": "vendor",
  "across": {"name": "NIC", "bandwidth": {"value": "40 Gbit/s", "source": "spec"}, "latency": "20 us",
             "efficiency": {"value": "80%", "source": "a run"}},
  "inside": {"name": "bus", "bandwidth": "50 GB/s", "latency": "2 us"},
  "workers_per_node": 4, "device": "gpu", "algorithms": ["ring", "ps"], "servers": 2, "full_duplex": false})";

inline const char* const kTinyCodec = R"({"schema": 1, "name": "times", "source": "a bench", "device": "gpu",
  "origin": "measured", "costs": [
    {"scheme": "topk:ratio=0.05", "encode": [[1000, "1 ms"], [2000, "2 ms"]], "decode": [[1000, "0.5 ms"]],
     "spread": "5%"}]})";

/// A catalogue that also has the profiles above.
class TinyCatalogue {
 public:
  TinyCatalogue() {
    write("models/tiny.json", kTinyModel);
    write("devices/gpu.json", kTinyDevice);
    write("fabrics/box.json", kTinyFabric);
    write("codecs/times.json", kTinyCodec);
    catalogue_.add_directory(directory_.path());
  }
  [[nodiscard]] const Catalogue& get() const { return catalogue_; }
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }

 private:
  void write(const std::string& name, const char* text) const { EXPECT_NE(directory_.file(name, text), ""); }

  TemporaryDirectory directory_;
  Catalogue catalogue_;
};

/// resolve() over the tiny profiles.
inline ScenarioSetup tiny(const OptionValues& values) {
  static const TinyCatalogue catalogue;
  return resolve(values, catalogue.get());
}

/// `base` with further options in place of or beside its own.
inline OptionValues with(OptionValues base, const OptionValues& more) {
  for (const auto& [option, text] : more) {
    base[option] = text;
  }
  return base;
}

inline const Input& input(const ScenarioSetup& setup, const std::string& name) {
  for (const Input& input : setup.inputs) {
    if (input.name == name) {
      return input;
    }
  }
  ADD_FAILURE() << "no input " << name;
  static const Input none;
  return none;
}

/// "text, origin, source"
inline std::string stated(const ScenarioSetup& setup, const std::string& input_name) {
  const Input& found = input(setup, input_name);
  return found.text + ", " + std::string(name(found.origin)) + ", " + found.source;
}

}  // namespace breakeven
