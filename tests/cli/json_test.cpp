// Does what programs read hold together: JSON that parses, parts that add up, CSV and JSON that agree, tracks
// that do not overlap?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using nlohmann::json;

std::vector<std::string> asked() {
  return joined(
      {"query", "-q", "-s", "powersgd:rank=4", "-s", "topk:ratio=1%", "-s", "signsgd", "-s", "int8"},
      resnet_setup());
}

json answer(const std::vector<std::string>& more = {}) {
  const Result result = invoke(joined(joined(asked(), {"--format", "json"}), more));
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}

void expect_parts_add_up(const json& row) {
  const json& parts = row.at("parts");
  const double sum = parts.at("forward_s").get<double>() + parts.at("backward_s").get<double>() +
                     parts.at("other_s").get<double>() + parts.at("slowdown_s").get<double>() +
                     parts.at("exposed_codec_s").get<double>() +
                     parts.at("exposed_communication_s").get<double>();
  EXPECT_NEAR(sum / row.at("step_s").get<double>(), 1, 1e-12) << row.at("scheme");
  EXPECT_NEAR(row.at("step_s").get<double>() - parts.at("forward_s").get<double>() -
                  parts.at("other_s").get<double>(),
              row.at("backward_and_sync_s").get<double>(), 1e-12);
}

TEST(QueryJson, PartsAddUpUnderEveryPlacementAndMethod) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{},
                                             {"--placement", "serial"},
                                             {"--placement", "hook"},
                                             {"--placement", "blocking", "--bucket-copy", "15GB/s"},
                                             {"--placement", "stream"},
                                             {"--placement", "host"},
                                             {"--method", "closed-form", "--schedule", "equal"},
                                             {"--schedule", "wfbp"},
                                             {"--schedule", "bsp"}}) {
    const json found = answer(more);
    expect_parts_add_up(found.at("plain"));
    ASSERT_EQ(found.at("schemes").size(), 5U);
    for (const json& row : found.at("schemes")) {
      expect_parts_add_up(row);
      EXPECT_NEAR(row.at("speedup").get<double>(),
                  found.at("plain").at("step_s").get<double>() / row.at("step_s").get<double>(), 1e-12);
    }
  }
}

TEST(QueryJson, HasTheKeysOfItsSchema) {
  const json found = answer();
  EXPECT_EQ(found.at("schema"), "breakeven.query");
  EXPECT_EQ(found.at("schema_version"), 1);
  EXPECT_GT(found.at("bound").at("max_speedup").get<double>(), 1);
  EXPECT_NEAR(
      found.at("bound").at("max_speedup").get<double>() * found.at("bound").at("step_s").get<double>(),
      found.at("plain").at("step_s").get<double>(), 1e-12);
  EXPECT_GE(found.at("bound").at("near_linear_ratio").get<double>(), 1);
  EXPECT_EQ(found.at("plain").at("scheme"), "none");
  const json& bandwidth = found.at("scenario").at("inputs").at("bandwidth");
  EXPECT_EQ(bandwidth.at("value"), 1.25e9);
  EXPECT_EQ(bandwidth.at("unit"), "B/s");
  EXPECT_EQ(bandwidth.at("text"), "10 Gbit/s");
  EXPECT_EQ(bandwidth.at("origin"), "given");
  for (const auto& [name, input] : found.at("scenario").at("inputs").items()) {
    for (const char* key : {"value", "text", "unit", "origin", "source"}) {
      EXPECT_TRUE(input.contains(key)) << name << " " << key;
    }
  }
  for (const json& row : found.at("schemes")) {
    for (const char* key : {"scheme", "verdict", "speedup", "speedup_range", "step_s", "backward_and_sync_s",
                            "scaling", "parts", "placement", "payload_bytes", "wire_bytes_per_worker",
                            "state_bytes", "codec_origin", "pays"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
    for (const char* key : {"bandwidth_bytes_per_s", "codec_s_below", "workers", "extra_steps_below"}) {
      EXPECT_TRUE(row.at("pays").contains(key)) << key;
    }
    EXPECT_LE(row.at("speedup_range").at(0).get<double>(), row.at("speedup").get<double>());
    EXPECT_GE(row.at("speedup_range").at(1).get<double>(), row.at("speedup").get<double>());
    const json& parts = row.at("parts");
    const double alone = parts.at("forward_s").get<double>() + parts.at("backward_s").get<double>() +
                         parts.at("other_s").get<double>();
    EXPECT_NEAR(row.at("scaling").get<double>(), alone / row.at("step_s").get<double>(), 1e-12);
    EXPECT_LT(row.at("speedup").get<double>(), found.at("bound").at("max_speedup").get<double>());
  }
}

TEST(QueryJson, IntensityIsFlopsOverParameters) {
  const auto asked = [](const std::vector<std::string>& setup) {
    const Result result = invoke(joined({"query", "-q", "--format", "json"}, setup));
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out);
  };
  const json found = asked(resnet_setup());
  const json& intensity = found.at("intensity");
  // 3 x 4.089 G multiply-adds of 2 FLOP each.
  EXPECT_NEAR(intensity.at("flop_per_sample").get<double>() / (2 * 3 * 4.089e9), 1, 5e-3);
  EXPECT_EQ(intensity.at("parameters"), 25557032);
  EXPECT_NEAR(intensity.at("flop_per_parameter").get<double>(),
              intensity.at("flop_per_sample").get<double>() / 25557032, 1e-9);
  const json& parts = found.at("plain").at("parts");
  const double forward = parts.at("forward_s").get<double>();
  const double backward = parts.at("backward_s").get<double>();
  const double sending = parts.at("communication_s").get<double>();
  EXPECT_NEAR(intensity.at("communication_to_backward").get<double>(), sending / backward, 1e-12);
  EXPECT_NEAR(intensity.at("max_overlap_speedup").get<double>(),
              (forward + backward + sending) / (forward + std::max(backward, sending)), 1e-12);
  const json bytes_alone = asked(given_setup());
  EXPECT_TRUE(bytes_alone.at("intensity").at("flop_per_sample").is_null());
  EXPECT_TRUE(bytes_alone.at("intensity").at("flop_per_parameter").is_null());
}

TEST(QueryJson, OpenEndsOfIntervalsAreNull) {
  const json found = answer();
  bool open = false;
  for (const json& row : found.at("schemes")) {
    for (const json& interval : row.at("pays").at("bandwidth_bytes_per_s")) {
      ASSERT_EQ(interval.size(), 2U);
      open = open || interval.at(0).is_null();
      if (!interval.at(0).is_null() && !interval.at(1).is_null()) {
        EXPECT_LT(interval.at(0).get<double>(), interval.at(1).get<double>());
      }
    }
  }
  EXPECT_TRUE(open);  // every scheme pays on a network that is slow enough
}

TEST(QueryJson, LinesAndCsvSayTheSame) {
  const json found = answer();
  std::vector<json> rows = {found.at("plain")};
  rows.insert(rows.end(), found.at("schemes").begin(), found.at("schemes").end());
  std::istringstream lines(invoke(joined(asked(), {"--format", "jsonl"})).out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_LT(count, rows.size());
    EXPECT_EQ(json::parse(line), rows[count]);
  }
  EXPECT_EQ(count, rows.size());
  std::istringstream csv(invoke(joined(asked(), {"--format", "csv"})).out);
  std::string header;
  std::getline(csv, header);
  std::vector<std::string> columns;
  std::istringstream names(header);
  for (std::string name; std::getline(names, name, ',');) {
    columns.push_back(name);
  }
  for (const json& row : rows) {
    std::string line;
    ASSERT_TRUE(std::getline(csv, line));
    std::istringstream cells(line);  // no scheme asked about has a comma in its spec
    std::map<std::string, std::string> by_name;
    for (const std::string& name : columns) {
      std::getline(cells, by_name[name], ',');
    }
    EXPECT_EQ(by_name.at("scheme"), row.at("scheme"));
    for (const char* key :
         {"step_s", "backward_and_sync_s", "payload_bytes", "wire_bytes_per_worker", "state_bytes"}) {
      EXPECT_EQ(std::stod(by_name.at(key)), row.at(key).get<double>()) << key;
    }
    for (const auto& [key, value] : row.at("parts").items()) {
      EXPECT_EQ(std::stod(by_name.at(key)), value.get<double>()) << key;
    }
  }
}

TEST(ListJson, Parses) {
  for (const char* kind :
       {"models", "devices", "fabrics", "schemes", "schedules", "codecs", "sweeps", "published"}) {
    const json found = json::parse(invoke({"list", kind, "--format", "json"}).out);
    EXPECT_EQ(found.at("schema"), "breakeven.list");
    EXPECT_EQ(found.at("kind"), kind);
    EXPECT_FALSE(found.at("rows").empty());
    EXPECT_TRUE(found.at("rows").at(0).at("name").is_string());
  }
}

TEST(TraceJson, SpansFillTheStepAndNeverOverlapOnATrack) {
  for (const char* placement : {"serial", "hook", "blocking", "stream", "host"}) {
    for (const char* scheme : {"none", "bf16", "topk", "powersgd:rank=4", "int8"}) {
      const auto question = joined({"-q", "-s", scheme, "--placement", placement}, resnet_setup());
      const json trace = json::parse(invoke(joined({"trace"}, question)).out);
      EXPECT_EQ(trace.at("displayTimeUnit"), "ms");
      std::map<int, double> end;
      std::map<int, std::string> tracks;
      double last = 0, network = 0;
      for (const json& event : trace.at("traceEvents")) {
        const int track = event.at("tid").get<int>();
        if (event.at("ph") == "M") {
          if (event.at("name") == "thread_name") {
            tracks[track] = event.at("args").at("name");
          }
          continue;
        }
        ASSERT_EQ(event.at("ph"), "X");
        ASSERT_TRUE(tracks.contains(track)) << "a track without a name";
        const double begin = event.at("ts").get<double>(), duration = event.at("dur").get<double>();
        EXPECT_GT(duration, 0);
        EXPECT_GE(begin, end[track] - 1e-7) << scheme << " " << placement << " " << event.dump();
        end[track] = begin + duration;
        last = std::max(last, end[track]);
        if (event.at("cat") == "exchange") {
          network += duration;
          for (const char* key : {"message", "round", "bytes", "wire_bytes", "algorithm"}) {
            EXPECT_TRUE(event.at("args").contains(key)) << key;
          }
        }
      }
      const json found = json::parse(invoke(joined({"query", "--format", "json"}, question)).out);
      const json* row = &found.at("plain");
      for (const json& other : found.at("schemes")) {
        row = other.at("scheme") == scheme ? &other : row;
      }
      EXPECT_NEAR(last * 1e-6, row->at("step_s").get<double>(), 1e-9) << scheme << " " << placement;
      EXPECT_NEAR(network * 1e-6, row->at("parts").at("communication_s").get<double>(), 1e-9)
          << scheme << " " << placement;
    }
  }
}

}  // namespace
}  // namespace breakeven::cli
