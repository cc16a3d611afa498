// Is the JSON that nccl-tests writes understood as its text is?
#include <gmock/gmock.h>

#include "tests/profiles/nccl_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

std::string json(const std::string& results, const std::string& config = R"("nthreads":1,"ngpus":2,"devices":[
    {"rank":0,"group":0,"pid":1,"hostname":"a","device":0}, {"rank":1,"group":0,"pid":2,"hostname":"b","device":0}])") {
  return R"({"version":3,"env":["TOKEN=secret","BASH_FUNC_x%%=() {\n}"],"nccl_version":22903,"config":{)" +
         config + R"(,"blocking_collectives":"false"},"results":[)" + results +
         R"(],"out_of_bounds":{"count":0,"okay":"unchecked"},"errors":[],"end_time":"x"})";
}
std::string json_row(const std::string& in_place, const std::string& size = "8000000") {
  return R"({"size":)" + size + R"(,"count":2000000,"type":"float","redop":"sum","root":"    -1",
    "out_of_place":{"time":1100.000000,"alg_bw":7.272727,"bus_bw":10.909091,"nwrong":0.0},"in_place":)" +
         in_place + R"(,"actual_iterations":20,"experiment_name":"AllReduce"})";
}
const std::string kInPlace = R"({"time":1000.000000,"alg_bw":8.000000,"bus_bw":12.000000,"nwrong":null})";

TEST(ImportNcclJson, JsonCountsProcessesThreadsAndGpus) {
  const NetworkLog log = read(json(json_row(kInPlace)));
  ASSERT_EQ(log.rows.size(), 1U);
  expect_row(log, 0, 8e6, 1000);
  EXPECT_EQ(log.rows[0].workers, 4U);
  EXPECT_EQ(log.rows[0].per_node, 2U);
  expect_row(read(json(json_row("null"))), 0, 8e6, 1100);
  EXPECT_EQ(notes(log).find("secret"), std::string::npos);
  // Without devices the bandwidths tell.
  EXPECT_EQ(read(json(json_row(kInPlace), R"("nthreads":1)")).rows[0].workers, 4U);
}

TEST(ImportNcclJson, JsonThatReportsATroubleIsTakenWithAWarning) {
  const std::string good = json(json_row(kInPlace));
  EXPECT_THAT(notes(read(good)), testing::Not(HasSubstr("warning")));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return notes(read(text.replace(text.find(from), from.size(), to)));
  };
  EXPECT_THAT(with("\"nwrong\":0.0", "\"nwrong\":7"), HasSubstr("wrong results in 1 row"));
  EXPECT_THAT(with("unchecked", "false"), HasSubstr("warning: the run computed wrong results: "));
  EXPECT_THAT(with("\"errors\":[]", "\"errors\":[\"x\"]"), HasSubstr("warning: the run reports 1 error\n"));
  EXPECT_THAT(with(",\"end_time\":\"x\"", ""), HasSubstr("warning: the run has no end_time"));
  EXPECT_THAT(with("\"version\":3", "\"version\":99"), HasSubstr("warning: version 99 of nccl-tests' JSON"));
}

TEST(ImportNcclJson, JsonThatMakesNoSenseIsRefusedWithItsPlace) {
  const auto half = [](const std::string& time) {
    return R"({"time":)" + time + R"(,"alg_bw":8.0,"bus_bw":12.0})";
  };
  EXPECT_EQ(refused(json(json_row(half("\"nan\"")))),
            "file log: /results/0/in_place/time: \"nan\" is no number: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(half("-1")))),
            "file log: /results/0/in_place/time: -1 cannot be: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(half("0")))),
            "file log: /results/0/in_place/time: 0 cannot be: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(R"({"cpu_time":1.0,"alg_bw":8.0,"bus_bw":12.0})"))),
            "file log: /results/0/in_place: the times are the CPU's, which only starts a collective: "
            "expected a run "
            "without -C 1");
  EXPECT_EQ(refused(json(json_row(kInPlace), R"("nthreads":1,"ngpus":8,"devices":[{"rank":0}])")),
            "file log: 1 process of 8 ranks, but busbw / algbw is that of 4: expected --ranks 4");
  EXPECT_THAT(refused(json("")), HasSubstr("file log: has no rows to use"));
  EXPECT_EQ(refused("{\"identifier\":\"nccl-tests structured output\"}"),
            "file log: the key \"results\" is missing: expected what nccl-tests writes with -J");
  const std::string cut = json(json_row(kInPlace));
  EXPECT_THAT(refused(cut.substr(0, cut.size() - 40)), HasSubstr("file log:"));
}

}  // namespace
}  // namespace breakeven
