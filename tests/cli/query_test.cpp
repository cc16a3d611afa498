// Does `query` answer in the shape that people and scripts rely on, and does every flag do what it says?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/answer.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Result query(const std::vector<std::string>& setup, const std::vector<std::string>& more) {
  return invoke(joined(joined({"query"}, setup), more));
}

TEST(Query, FirstScreenHasItsFiveParts) {
  const Result result =
      query(resnet_setup(), {"-s", "powersgd:rank=4", "-s", "topk:ratio=1%", "-s", "signsgd", "-s", "int8"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" \u00b7 64 x v100 in 16 nodes of 4 \u00b7 10 Gbit/s a node \u00b7 fp32 "
                                    "gradients, 102 MB \u00b7 DDP buckets of 25 MiB\n\n"));
  EXPECT_THAT(result.out, HasSubstr("\nis it the network?  yes: "));
  EXPECT_THAT(result.out, HasSubstr("With an infinitely fast network no scheme gains "));
  std::vector<std::string> starts;
  std::istringstream lines(result.out.substr(result.out.find("\nscheme") + 1));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    starts.push_back(line.substr(0, line.find("  ")));
  }
  EXPECT_THAT(starts, testing::ElementsAre("scheme", "plain fp32", "plain bf16", "powersgd rank 4",
                                           "topk ratio 1%", "signsgd", "int8 block 512"));
  EXPECT_THAT(result.out, HasSubstr("\nverdict  "));
  EXPECT_THAT(result.out, HasSubstr("\nnext     "));
  EXPECT_THAT(result.err, HasSubstr("breakeven: warning: "));
}

TEST(Query, NoLineOfTheScreenIsWiderThanATerminal) {
  const Result result = query(
      resnet_setup(), {"-s", "powersgd:rank=4", "-s", "topk", "-s", "signsgd", "-s", "int8", "-s", "dgc"});
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 130U) << line;  // bytes: the title has middle dots
  }
}

TEST(Query, CastIsAlwaysARowOfFp32GradientsAndNeverOfOthers) {
  EXPECT_THAT(query(given_setup(), {}).out, AllOf(HasSubstr("plain fp32"), HasSubstr("plain bf16")));
  const std::string fp16 = query(given_setup(), {"-s", "fp16"}).out;
  EXPECT_THAT(fp16, AllOf(HasSubstr("plain fp16"), Not(HasSubstr("plain bf16"))));
  const std::string narrow = query(given_setup(), {"--grad-dtype", "bf16", "-s", "topk"}).out;
  EXPECT_THAT(narrow, AllOf(HasSubstr("plain bf16"), Not(HasSubstr("plain fp32"))));
  EXPECT_EQ(query(given_setup(), {"-s", "none"}).out.find("\nnone"), std::string::npos);
}

TEST(Query, VerdictNamesTheBestSchemeItsGainAndItsLimit) {
  const std::string out = query(given_setup(), {"-s", "topk:ratio=0.1%,encode=1ms,decode=1ms"}).out;
  EXPECT_THAT(out, HasSubstr("verdict  compress with topk:ratio=0.1%: "));
  EXPECT_THAT(out, HasSubstr("as long as training needs fewer than "));
  EXPECT_THAT(out, HasSubstr("A 16-bit cast alone gives "));
  const std::string with_steps =
      query(given_setup(), {"-s", "topk:ratio=0.1%,encode=1ms,decode=1ms", "--extra-steps", "5%"}).out;
  EXPECT_THAT(with_steps, HasSubstr("the 5 % more steps that you expect included"));
}

TEST(Query, VerdictSaysWhyNothingPays) {
  std::vector<std::string> fast = given_setup();
  fast.back() = "10000Gbps";
  const std::string idle = query(joined(fast, {"--latency", "0s"}), {"-s", "topk"}).out;
  EXPECT_THAT(idle, HasSubstr("is it the network?  no: "));
  EXPECT_THAT(idle, HasSubstr("verdict  do not compress: the step hardly waits for the network"));
  EXPECT_THAT(idle, HasSubstr("next     look elsewhere than at the network"));
  const std::string slow_codec =
      query(joined(given_setup(), {"--grad-dtype", "bf16"}), {"-s", "topk:ratio=0.1%,encode=2s,decode=1s"})
          .out;
  EXPECT_THAT(slow_codec, HasSubstr("its codec takes 3 s, it saves "));
  EXPECT_THAT(slow_codec, HasSubstr("It would pay with encode and decode under "));
  std::vector<std::string> many = joined(given_setup(), {"--grad-dtype", "bf16"});
  many[11] = "256";
  EXPECT_THAT(query(many, {"-s", "topk:ratio=10%,encode=0s,decode=0s"}).out,
              HasSubstr("all-gather grows with the workers"));
}

/// A number of the last row of `query --format csv`, by column; the upper end of an interval.
double last_row(const std::vector<std::string>& setup, const std::vector<std::string>& more,
                const std::string& column) {
  const std::string out = query(setup, joined({"-q", "--format", "csv"}, more)).out;
  std::istringstream lines(out);
  std::string header, line, row;
  std::getline(lines, header);
  while (std::getline(lines, line)) {
    row = line;
  }
  std::istringstream names(header);
  std::string name, rest = row.substr(row.front() == '"' ? row.find("\",") + 2 : row.find(',') + 1);
  std::getline(names, name, ',');  // the scheme, whose spec may hold commas
  std::istringstream cells(rest);
  std::string cell;
  while (std::getline(names, name, ',') && std::getline(cells, cell, ',')) {
    if (name == column) {
      const std::size_t range = cell.find("..");
      return std::stod(range == std::string::npos ? cell : cell.substr(range + 2));
    }
  }
  throw std::out_of_range(column);
}

TEST(Query, TooCloseSaysWhatDecides) {
  // At the bandwidth where it breaks even, a codec time that is only estimated decides.
  std::vector<std::string> setup = joined(given_setup(), {"--grad-dtype", "bf16"});
  const std::vector<std::string> scheme = {"-s", "topk:ratio=0.1%"};
  setup[13] = std::to_string(last_row(setup, scheme, "bandwidth_bytes_per_s")) + "B/s";
  const std::string out = query(setup, scheme).out;
  EXPECT_THAT(out, HasSubstr("verdict  too close to call: topk:ratio=0.1% gives "));
  EXPECT_THAT(out, HasSubstr("What decides: its codec time, "));
  EXPECT_THAT(out, HasSubstr("next     topk:ratio=0.1%'s codec time is an estimate: "));
  EXPECT_EQ(query(setup, joined(scheme, {"--exit-verdict"})).status, kTooClose);
}

TEST(Query, SchemeThatCompressesNothingIsSaidToBeSo) {
  // A gradient of unknown shape has no matrix for PowerSGD.
  const Result result = query(joined(given_setup(), {"--grad-dtype", "bf16"}), {"-s", "powersgd:rank=4"});
  EXPECT_THAT(result.out, HasSubstr("never here: it needs the tensors' shapes: give --model"));
  EXPECT_THAT(result.out,
              HasSubstr("verdict  nothing to compare with: no scheme asked about compresses anything"));
  EXPECT_THAT(result.err,
              HasSubstr("breakeven: warning: powersgd rank 4: all tensors are sent as they are; it needs the "
                        "tensors' shapes: give --model\n"));
}

TEST(Query, GainWithinTheMarginIsTooCloseEvenWhenAllIsGiven) {
  const std::vector<std::string> setup = joined(given_setup(), {"--grad-dtype", "bf16"});
  const auto scheme = [](double seconds) {
    return std::vector<std::string>{"-s",
                                    "topk:ratio=0.1%,encode=" + std::to_string(seconds) + "s,decode=0s"};
  };
  const double below = last_row(setup, scheme(0.001), "codec_s_below");  // where it gains just the margin
  EXPECT_THAT(query(setup, scheme(below + 0.001)).out, HasSubstr("The gain is within the margin of 2 %."));
  EXPECT_EQ(query(setup, joined(scheme(below + 0.001), {"--exit-verdict"})).status, kTooClose);
  EXPECT_EQ(query(setup, joined(scheme(below - 0.001), {"--exit-verdict"})).status, kAnswered);
}

TEST(Query, ASchemeThatEqualsPlainDoesNotPay) {
  const Result result = query(resnet_setup(), {"--exit-verdict", "-s", "ideal:ratio=1"});
  EXPECT_EQ(result.status, kDoesNotPay);
  EXPECT_THAT(result.out, HasSubstr("never here: it equals plain all-reduce"));
  const auto swept = [](const char* scheme) {
    return invoke(joined(joined({"sweep", "-q", "--format", "csv"}, resnet_setup()), {"-s", scheme})).out;
  };
  EXPECT_THAT(swept("none"), HasSubstr(",1,"));
  EXPECT_THAT(swept("none"), HasSubstr(",does_not_pay,none\n"));
  EXPECT_THAT(swept("ideal:ratio=1"), HasSubstr(",does_not_pay,none\n"));
}

TEST(Query, PlacementIsForTheSchemesThatWereNamed) {
  const auto row = [](const std::vector<std::string>& more, const std::string& scheme) {
    const Result result = query(resnet_setup(), joined(more, {"-q", "--format", "csv"}));
    EXPECT_EQ(result.status, 0) << result.err;
    const std::size_t begin = result.out.find("\n" + scheme + ",");
    EXPECT_NE(begin, std::string::npos) << result.out;
    return result.out.substr(begin, result.out.find('\n', begin + 1) - begin);
  };
  // The baseline in 16 bit goes bucket by bucket, wherever other codecs run.
  const std::string usual = row({"-s", "int8"}, "bf16");
  EXPECT_THAT(usual, HasSubstr(",hook,"));
  EXPECT_EQ(row({"-s", "int8", "--placement", "serial"}, "bf16"), usual);
  EXPECT_THAT(row({"-s", "int8", "--placement", "stream"}, "int8"), HasSubstr(",stream,"));
  EXPECT_THAT(row({"-s", "bf16", "--placement", "serial"}, "bf16"), HasSubstr(",serial,"));
}

TEST(Query, ExitVerdictReportsOnlyNamedSchemes) {
  const auto status = [](const std::string& scheme) {
    return query(given_setup(), {"--exit-verdict", "-s", scheme}).status;
  };
  EXPECT_EQ(status("topk:ratio=0.1%,encode=1ms,decode=1ms"), kAnswered);
  EXPECT_EQ(status("topk:ratio=0.1%,encode=2s,decode=1s"),
            kDoesNotPay);  // the cast pays, but nobody named it
  EXPECT_EQ(query(given_setup(), {"--exit-verdict", "-s", "topk:encode=2s,decode=1s", "-s", "bf16"}).status,
            kAnswered);
  EXPECT_EQ(query(given_setup(), {"-s", "topk:ratio=0.1%,encode=2s,decode=1s"}).status, kAnswered);
}

TEST(Query, EveryFlagChangesWhatItSays) {
  const std::vector<std::string> scheme = {"-s", "topk"};
  const Result base = query(resnet_setup(), scheme);
  EXPECT_EQ(query(resnet_setup(), joined(scheme, {"-q"})).err, "");
  EXPECT_EQ(query(resnet_setup(), joined(scheme, {"-q"})).out, base.out);
  const Result verbose = query(resnet_setup(), joined(scheme, {"-v"}));
  EXPECT_EQ(verbose.out, base.out);
  EXPECT_THAT(verbose.err,
              AllOf(HasSubstr("breakeven: note: topk ratio 1%: 1 messages, placement serial, codec "),
                    HasSubstr("breakeven: note: bandwidth 10 Gbit/s: given")));
  EXPECT_THAT(query(resnet_setup(), joined(scheme, {"--color", "always"})).out, HasSubstr("\x1b["));
  EXPECT_EQ(base.out.find('\x1b'), std::string::npos);
  const Result explained = query(resnet_setup(), joined(scheme, {"--explain"}));
  EXPECT_THAT(explained.out, StartsWith(base.out));
  std::vector<std::string> outputs = {base.out};
  for (const char* format : {"json", "jsonl", "csv", "markdown"}) {
    const Result other = query(resnet_setup(), joined(scheme, {"--format", format}));
    EXPECT_EQ(other.status, 0);
    EXPECT_THAT(outputs, Not(testing::Contains(other.out)));
    outputs.push_back(other.out);
  }
}

TEST(Query, ColourOnATerminalFollowsTheEnvironment) {
  const auto arguments = joined({"query"}, given_setup());
  EXPECT_THAT(invoke(arguments, {true, true, {}}).out, HasSubstr("\x1b["));
  EXPECT_THAT(invoke(arguments, {true, true, {{"NO_COLOR", "1"}}}).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(invoke(arguments, {true, true, {{"TERM", "dumb"}}}).out, Not(HasSubstr("\x1b[")));
}

TEST(Query, ExplainPutsNumbersIntoEveryFormula) {
  const Result result = query(
      given_setup(), {"-q", "--explain", "-s", "topk:ratio=1%,encode=1ms,decode=2ms", "--algorithm", "ring"});
  EXPECT_THAT(result.out, HasSubstr("\ninput "));
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "bound: forward + backward + other = 50 ms + 100 ms + 10 ms = 160 ms; no scheme gains more than "));
  EXPECT_THAT(result.out, HasSubstr("all_reduce (ring) 30 x "));
  EXPECT_THAT(result.out, HasSubstr("all_gather (ring) 15 x "));
  EXPECT_THAT(result.out, HasSubstr("encode      1 ms (given)"));
  EXPECT_THAT(result.out, HasSubstr("gain = plain step / step = "));
  const std::string tree = query(given_setup(), {"-q", "--explain", "-s", "gtopk"}).out;
  for (const char* distance : {"1", "2", "4", "8"}) {
    EXPECT_THAT(tree, HasSubstr(std::string("tree_step ") + distance + " apart (tree) 1 x "));
  }
  EXPECT_THAT(tree, HasSubstr("broadcast (tree) 4 x "));
  EXPECT_THAT(result.out, HasSubstr("communication to computation: r = plain all-reduce / backward = "));
  EXPECT_THAT(result.out, HasSubstr("overlap: hiding all of it behind backward gains at most "));
  EXPECT_THAT(result.out, Not(HasSubstr("intensity: "))) << "no FLOPs are known of bytes alone";
  EXPECT_THAT(
      query(resnet_setup(), {"-q", "--explain"}).out,
      HasSubstr(
          "intensity: 3 x forward FLOPs of a sample / parameters = 24.6 GFLOP / 25557032 = 962.6 FLOP"));
  const Result closed = query(given_setup(), {"-q", "--explain", "--method", "closed-form", "--schedule",
                                              "equal", "-s", "topk:encode=1ms,decode=2ms"});
  EXPECT_THAT(closed.out, HasSubstr("closed form: max(gamma x backward + codec, all exchanges but the "
                                    "last) + the last = max(1.07 x 100 ms, "));
  EXPECT_THAT(closed.out,
              HasSubstr("closed form: backward + encode + all exchanges + decode = 100 ms + 1 ms + "));
}

TEST(Query, NcclNamesAlgorithmProtocolLatencyAndBandwidthOfEveryExchange) {
  const std::vector<std::string> setup = {
      "--model",           "resnet50",  "--device", "v100",        "--batch", "64", "--fabric",
      "aws-p3dn.24xlarge", "--workers", "64",       "--algorithm", "nccl",    "-s", "onebit"};
  const Result text = query(setup, {"--explain"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              testing::ContainsRegex("all_reduce \\(nccl\\) (Ring|Tree)/(LL|LL128|Simple): [0-9.]+ [mu]s \\+ "
                                     "[0-9.]+ MB / [0-9.]+ GB/s = [0-9.]+ ms"));
  EXPECT_THAT(text.out, HasSubstr("all_to_all (direct) ")) << "NCCL's model has no form of it";
  EXPECT_THAT(text.err, HasSubstr("breakeven: warning: onebit: NCCL's model prices no all_to_all: textbook "
                                  "formulas over the fabric's links do\n"));
  EXPECT_THAT(text.out, testing::ContainsRegex("all_gather \\(nccl\\) Ring/"));
  EXPECT_THAT(text.out, HasSubstr("volta, nvlink, 1 channel across nodes, driver's latency 150 us"));
  const Result json = query(setup, {"--format", "json"});
  EXPECT_THAT(json.out, testing::ContainsRegex("\"nccl\": \\["));
  EXPECT_THAT(json.out, HasSubstr("\"onebit: NCCL's model prices no all_to_all: textbook formulas"));
  EXPECT_THAT(json.out, HasSubstr("\"protocol\": "));
  EXPECT_THAT(query({"--model", "resnet50", "--device", "v100", "--batch", "64", "--fabric",
                     "aws-p3dn.24xlarge", "--workers", "64"},
                    {"--format", "json"})
                  .out,
              Not(HasSubstr("\"protocol\"")));
}

TEST(Query, SameQuestionSameBytes) {
  for (const char* format : {"table", "json", "csv"}) {
    const std::vector<std::string> more = {"--format", format, "-s", "topk", "-s", "powersgd"};
    EXPECT_EQ(query(resnet_setup(), more).out, query(resnet_setup(), more).out);
  }
}

TEST(Trace, NeedsExactlyOneSchemeAndPrintsWarningsUnlessQuiet) {
  const Result loud = invoke(joined({"trace", "-s", "none"}, resnet_setup()));
  EXPECT_EQ(loud.status, 0);
  EXPECT_THAT(loud.err, HasSubstr("breakeven: warning: "));
  const Result quiet = invoke(joined({"trace", "-s", "none", "-q"}, resnet_setup()));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, loud.out);
}

TEST(Query, ExplainNamesTheBucketCopies) {
  const std::vector<std::string> copies = {"--bucket-copy", "10GB/s", "--explain", "-s", "topk"};
  const std::string text = invoke(joined(joined({"query", "-q"}, resnet_setup()), copies)).out;
  EXPECT_THAT(text, HasSubstr("      bucket copies: 102 MB into buckets at 80 Gbit/s = 10.2 ms\n"));
  EXPECT_THAT(text, HasSubstr("      bucket copies: 102 MB into buckets and back at 80 Gbit/s = 20.4 ms\n"));
  EXPECT_THAT(text, HasSubstr(" + exposed codec and copies + "));
  EXPECT_THAT(invoke(joined(joined({"query", "-q"}, resnet_setup()), {"--explain"})).out,
              Not(HasSubstr("copies")));
}

TEST(Query, OptimalSaysWhatItDoesNotWeigh) {
  const auto said = [](const std::vector<std::string>& more) {
    return invoke(joined(joined({"query"}, resnet_setup()),
                         joined({"--schedule", "optimal", "--placement", "hook"}, more)))
        .err;
  };
  EXPECT_THAT(said({"-s", "topk"}),
              HasSubstr(": schedule optimal does not weigh codec times; plan --scheme does\n"));
  EXPECT_THAT(said({"-s", "powersgd:encode=0s,decode=0s"}),
              HasSubstr(": schedule optimal does not weigh that rounds of several messages interleave\n"));
  EXPECT_THAT(said({"-s", "ideal:ratio=4", "--bucket-copy", "10GB/s"}),
              HasSubstr(": schedule optimal does not weigh bucket copies\n"));
  EXPECT_THAT(said({"-s", "ideal:ratio=4"}), Not(HasSubstr("ideal ratio 4: schedule")));
}

}  // namespace
}  // namespace breakeven::cli
