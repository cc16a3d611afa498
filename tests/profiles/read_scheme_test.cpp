// Does a scheme that a JSON file describes send what the file says, and is everything else refused?
#include <gtest/gtest.h>

#include "compressors/builtin.h"
#include "profiles/read.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using Message = std::vector<Shape>;

const Message kMixed = {{64, 32}, {10, 3}, {7, 1}, {0, 5}};  // 2085 elements, 2078 of them in matrices

/// A scheme with these members, which may replace the round.
std::string scheme_text(const std::string& members) {
  const std::string rounds = R"("rounds": [{"exchange": "all_gather", "payload": {"per_element": "1 B"}}])";
  const std::string rest = members.find("\"rounds\"") == std::string::npos
                               ? rounds + (members.empty() ? "" : ", ") + members
                               : members;
  return R"({"schema": 1, "name": "mine", )" + rest + "}";
}
std::string one_round(const std::string& members) {
  return scheme_text("\"rounds\": [{" + members + "}]");
}

std::unique_ptr<Compressor> compressor(const std::string& text) {
  const Scheme scheme = read_scheme(text, "s.json").scheme;
  return scheme.make(Params(scheme.params, {}));
}
Plan plan(const std::string& text, const Message& message = kMixed, std::size_t workers = 4) {
  return compressor(text)->plan(message, workers);
}
std::string refusal(const std::string& text) {
  return failure([&] { (void)read_scheme(text, "s.json"); });
}

/// "touched flops launches elements repeats"
std::string shown(const Work& work) {
  return exact(work.touched.base()) + " " + exact(work.flops) + " " + exact(work.launches) + " " +
         exact(work.elements) + " " + exact(work.repeats);
}

TEST(ReadScheme, ReadsWhatTheFormatSays) {
  const Scheme plain = read_scheme(scheme_text(""), "s.json").scheme;
  EXPECT_EQ(plain.name, "mine");
  EXPECT_EQ(plain.placement, Placement::serial);
  EXPECT_FALSE(plain.same_steps);
  EXPECT_TRUE(plain.params.empty());
  const Scheme full = read_scheme(scheme_text(R"("summary": "a", "source": "b", "placement": "stream",
                                                 "same_steps": true)"),
                                  "s.json")
                          .scheme;
  EXPECT_EQ(full.summary + full.source, "ab");
  EXPECT_EQ(full.placement, Placement::stream);
  EXPECT_TRUE(full.same_steps);
}

TEST(ReadScheme, HasNoKernel) {
  EXPECT_EQ(compressor(scheme_text(""))->kernel(kMixed, Worker{}), nullptr);
}

TEST(DescribedPlan, SumsUpTheCoefficientsOverTheCodedTensors) {
  const auto payload = [](const std::string& size) {
    return plan(one_round(R"("exchange": "all_gather", "payload": )" + size)).front().payload.base();
  };
  EXPECT_EQ(payload(R"({"fixed": "5 B"})"), 5);
  EXPECT_EQ(payload(R"({"per_tensor": "5 B"})"), 15);
  EXPECT_EQ(payload(R"({"per_element": "1 B"})"), 2085);
  EXPECT_EQ(payload(R"({"per_row": "1 B"})"), 64 + 10 + 7);
  EXPECT_EQ(payload(R"({"per_column": "1 B"})"), 32 + 3 + 1);
  EXPECT_EQ(payload(R"({"fixed": "1 KiB", "per_tensor": "1 B", "per_element": "2 bit"})"), 1024 + 3 + 522);
}

TEST(DescribedPlan, RoundsPayloadsUpToWhatCanBeSent) {
  const auto payload = [](const std::string& round, std::size_t n) {
    const std::string gather = R"(, {"exchange": "all_gather", "payload": {"fixed": "1 B"}})";
    return plan(scheme_text("\"rounds\": [{" + round + "}" + gather + "]"), {{n, 1}}, 4)
        .front()
        .payload.base();
  };
  const std::string one_bit = R"("payload": {"per_element": "1 bit"}, "exchange": )";
  EXPECT_EQ(payload(one_bit + "\"all_gather\"", 1), 1);
  EXPECT_EQ(payload(one_bit + "\"all_gather\"", 9), 2);
  EXPECT_EQ(payload(one_bit + "\"all_gather\", \"element\": \"i32\"", 33), 8);
  EXPECT_EQ(payload(one_bit + "\"all_reduce\"", 33), 8);
  EXPECT_EQ(payload(one_bit + "\"all_reduce\", \"element\": \"f16\"", 33), 6);
  EXPECT_EQ(payload(one_bit + "\"all_to_all\"", 33), 8);
  EXPECT_EQ(payload(one_bit + "\"reduce_scatter\"", 33), 16);
  // 0.07 x 100 is above 7 only by rounding.
  EXPECT_EQ(payload(R"("payload": {"per_element": "0.07 B"}, "exchange": "all_gather")", 100), 7);
}

TEST(DescribedPlan, SendsVectorsAsTheyAreWhereTheSchemeDoes) {
  const Plan dense = plan(scheme_text(R"("vectors": "dense")"));
  ASSERT_EQ(dense.size(), 2U);
  EXPECT_EQ(dense[0].exchange, Exchange::all_reduce);
  EXPECT_EQ(dense[0].payload.base(), 28);
  EXPECT_TRUE(dense[0].encode.none() && dense[0].decode.none());
  EXPECT_EQ(dense[1].payload.base(), 2078);
  EXPECT_EQ(plan(scheme_text(R"("vectors": "dense")"), {{7, 1, Element::f16}}).size(), 1U);
  EXPECT_EQ(plan(scheme_text(R"("vectors": "code")")).size(), 1U);
  EXPECT_TRUE(plan(scheme_text(""), {}).empty());
  EXPECT_TRUE(plan(scheme_text(""), {{0, 5}}).empty());
}

TEST(DescribedPlan, WorkThatIsNotStatedIsOnePass) {
  const Plan gathered = plan(scheme_text(""), {{100, 1}}, 4);
  EXPECT_EQ(shown(gathered[0].encode), "500 0 1 100 1");
  EXPECT_EQ(shown(gathered[0].decode), "800 0 1 100 4");
  const Plan summed = plan(one_round(R"("exchange": "all_reduce", "element": "f16",
                                        "payload": {"per_element": "2 B"})"),
                           {{100, 1}}, 4);
  EXPECT_EQ(shown(summed[0].encode), "600 0 1 100 1");
  EXPECT_EQ(shown(summed[0].decode), "600 0 1 100 1");
}

TEST(DescribedPlan, OnlyTheOuterRoundsCodeUnlessTheFileSaysSo) {
  const std::string inner = R"({"exchange": "all_gather", "payload": {"per_element": "1 B"}})";
  const Plan three = plan(scheme_text("\"rounds\": [" + inner + ", " + inner + ", " + inner + "]"));
  EXPECT_FALSE(three[0].encode.none());
  EXPECT_TRUE(three[0].decode.none());
  EXPECT_TRUE(three[1].encode.none() && three[1].decode.none());
  EXPECT_TRUE(three[2].encode.none());
  EXPECT_FALSE(three[2].decode.none());
}

TEST(DescribedPlan, AfterAScatterEachWorkerCodesItsShare) {
  const Plan both = plan(scheme_text(R"("rounds": [
      {"exchange": "all_to_all", "payload": {"per_element": "1 bit"}},
      {"exchange": "all_gather", "payload": {"fixed": "8 B"}}])"),
                         {{200, 1}}, 4);
  EXPECT_EQ(both[0].payload.base(), 28);
  EXPECT_EQ(shown(both[0].decode), "228 0 1 200 1");  // 50 elements added up
  EXPECT_EQ(shown(both[1].encode), "208 0 1 50 1");
  EXPECT_EQ(shown(both[1].decode), "832 0 1 200 1");  // four shares are one payload
  const Plan scattered = plan(scheme_text(R"("rounds": [
      {"exchange": "reduce_scatter", "payload": {"per_element": "4 B"}, "decode": {"launches": 2}},
      {"exchange": "all_gather", "payload": {"fixed": "8 B"}, "encode": {"launches": 3}}])"),
                              {{200, 1}}, 4);
  EXPECT_EQ(shown(scattered[0].decode), "1000 0 2 50 1");
  EXPECT_EQ(shown(scattered[1].encode), "208 0 3 50 1");
}

TEST(DescribedPlan, StatedWorkIsDoneOnceForEachPayload) {
  const auto decode = [](const std::string& work) {
    return shown(
        plan(one_round(R"("exchange": "all_gather", "payload": {"per_element": "1 B"}, "decode": )" + work),
             {{100, 1}}, 4)
            .front()
            .decode);
  };
  EXPECT_EQ(decode(R"({"touched": {"per_element": "2 B"}, "flops": {"per_element": 3, "fixed": 1}})"),
            "800 1204 4 100 4");
  EXPECT_EQ(decode(R"({"touched": {"per_element": "2 B"}, "repeats": "once"})"), "200 0 1 100 1");
  EXPECT_EQ(decode(R"({"launches": 0, "touched": {}})"), "0 0 0 100 4");
  EXPECT_EQ(decode(R"({"launches": 2, "repeats": "workers"})"), "800 0 8 100 4");
  EXPECT_EQ(decode(R"({"launches": {"fixed": 1, "per_tensor": 2}, "repeats": "once"})"), "800 0 3 100 1");
}

TEST(DescribedPlan, CountsItsState) {
  const auto described = compressor(scheme_text(R"("state": {"per_element": "0.5 B"}, "vectors": "dense")"));
  EXPECT_EQ(described->state(kMixed, 4).base(), 1039);
  EXPECT_EQ(described->state(Message{{7, 1}}, 4).base(), 0);
  EXPECT_EQ(compressor(scheme_text(""))->state(kMixed, 4).base(), 0);
}

TEST(DescribedPlan, RefusesSizesThatAMessageMakesAbsurd) {
  const auto on_large = [](const std::string& text) {
    const auto described = compressor(text);
    const Message large = {{1'000'000'000, 1'000'000}};
    return failure([&] {
      (void)described->plan(large, 1'000'000);
      (void)described->state(large, 1);
    });
  };
  EXPECT_EQ(on_large(one_round(R"("exchange": "all_gather", "payload": {"per_element": "1e24 B"})")),
            "file s.json: /rounds/0/payload: comes to 1.00e+39 for a message of 1000000000000000 elements: "
            "expected at most 1e+24");
  EXPECT_TRUE(on_large(one_round(R"("exchange": "all_gather", "payload": {"fixed": "1 B"},
                                    "encode": {"flops": {"per_element": 1e24}})"))
                  .starts_with("file s.json: /rounds/0/encode/flops: comes to 1.00e+39 "));
  EXPECT_TRUE(on_large(one_round(R"("exchange": "all_gather", "payload": {"fixed": "1 B"},
                                    "decode": {"touched": {"per_element": "1e4 B"}})"))
                  .starts_with("file s.json: /rounds/0/decode/touched: comes to 1.00e+25 "));
  EXPECT_TRUE(on_large(scheme_text(R"("state": {"per_row": "1e20 B"})"))
                  .starts_with("file s.json: /state: comes to 1.00e+29 "));
}

TEST(ReadScheme, ItsTimesBecomeACodecProfileOfItsName) {
  const SchemeFile file = read_scheme(scheme_text(R"("source": "a paper", "costs": [
      {"device": "gpu", "origin": "measured", "source": "a bench", "encode": [[1000, "1 ms"]],
       "decode": [[1000, "2 ms"]], "decode_next": [[1000, "1 ms"]], "spread": "3%"},
      {"device": "v100", "origin": "published", "encode": [[1, "1 s"]], "decode": [[1, "1 s"]]}])"),
                                      "s.json");
  EXPECT_EQ(file.codec.name, "mine");
  ASSERT_EQ(file.codec.costs.size(), 2U);
  EXPECT_EQ(file.codec.costs[0].scheme, "mine");
  EXPECT_EQ(file.codec.costs[0].source, "a bench");
  EXPECT_EQ(file.codec.costs[0].spread, 0.03);
  EXPECT_EQ(file.codec.costs[0].decode_next.points.front().time, 1_ms);
  EXPECT_EQ(file.codec.costs[1].source, "a paper");
  EXPECT_EQ(file.codec.costs[1].origin, Origin::published);

  Registry registry;
  registry.add(file.scheme);
  const TinyCatalogue tiny;
  Catalogue catalogue = tiny.get();
  catalogue.add_codec(file.codec);
  ScenarioSetup setup;
  setup.codecs = catalogue.codecs_for("gpu");
  const Message message = {{1000, 1}};
  const Plan priced_plan = priced(registry.make("mine"), setup).compressor->plan(message, 4);
  EXPECT_EQ(*priced_plan.front().encode.known, 1_ms);
  EXPECT_EQ(*priced_plan.front().decode.known, 5_ms);  // one payload, and three further ones
}

TEST(ReadScheme, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(R"({"schema": 1, "name": "mine"})"),
            "file s.json: the key \"rounds\" is missing: expected a list of rounds");
  EXPECT_EQ(refusal(R"({"schema": 1, "nam": "mine"})").substr(0, 34), "file s.json: unknown key \"nam\": ex");
  EXPECT_EQ(refusal(scheme_text("\"rounds\": []")),
            "file s.json: /rounds: is an empty list: expected 1 to 64");
  EXPECT_EQ(refusal(one_round(R"("exchange": "allgather", "payload": {"fixed": "1 B"})")),
            "file s.json: /rounds/0/exchange: unknown exchange \"allgather\": expected one of all_reduce, "
            "reduce_scatter, all_gather, all_to_all, push_pull (did you mean all_gather?)");
  EXPECT_EQ(
      refusal(one_round(R"("exchange": "all_to_all", "payload": {"fixed": "1 B"})")),
      "file s.json: /rounds/0/exchange: leaves every worker with its share of the gradient: expected an "
      "all_gather after it");
  EXPECT_EQ(refusal(one_round(R"("exchange": "all_gather")")),
            "file s.json: /rounds/0: the key \"payload\" is missing: expected what one worker sends, such as "
            "{\"per_element\": \"2 bit\"}");
  EXPECT_EQ(
      refusal(one_round(R"("exchange": "all_gather", "payload": {"fixed": "1 B"},
                                 "encode": {"repeats": "workers"})")),
      "file s.json: /rounds/0/encode: unknown key \"repeats\": expected one of touched, flops, launches");
  EXPECT_EQ(refusal(scheme_text(R"("vectors": "skip")")),
            "file s.json: /vectors: unknown way with vectors \"skip\": expected one of code, dense");
  EXPECT_EQ(refusal(scheme_text(R"("costs": [
      {"device": "a", "origin": "measured", "encode": [[1, "1 s"]], "decode": [[1, "1 s"]]},
      {"device": "a", "origin": "measured", "encode": [[1, "1 s"]], "decode": [[1, "1 s"]]}])")),
            "file s.json: /costs/1/device: the device \"a\" is there twice: expected each device once");
}

TEST(ReadScheme, NamesWhatIsWrongWithASize) {
  const auto size = [](const std::string& text) {
    return refusal(one_round(R"("exchange": "all_gather", "payload": )" + text));
  };
  EXPECT_EQ(size("{}"), "file s.json: /rounds/0/payload: is nothing: expected a size above 0");
  EXPECT_EQ(size(R"({"fixed": "0 B", "per_row": "0 bit"})"),
            "file s.json: /rounds/0/payload: is nothing: expected a size above 0");
  EXPECT_EQ(size(R"({"per_element": "-1 B"})"),
            "file s.json: /rounds/0/payload/per_element: \"-1 B\" must not be negative: expected 0 or more");
  EXPECT_EQ(size(R"({"per_element": 0.25})"),
            "file s.json: /rounds/0/payload/per_element: \"0.25\" has no unit: expected a number and a unit, "
            "such as 25MiB or 97.5MB");
  EXPECT_EQ(size(R"({"per_element": "nan B"})"),
            "file s.json: /rounds/0/payload/per_element: \"nan B\" is not a finite number: expected a number "
            "and a unit, such as 25MiB or 97.5MB");
  EXPECT_EQ(size(R"({"per_element": "1e300 B"})").substr(0, 70),
            "file s.json: /rounds/0/payload/per_element: \"1e300 B\" is out of range:");
  EXPECT_EQ(size(R"({"per_col": "1 B"})"),
            "file s.json: /rounds/0/payload: unknown key \"per_col\": expected one of fixed, per_tensor, "
            "per_element, per_row, per_column (did you mean per_row?)");
  EXPECT_EQ(refusal(one_round(R"("exchange": "all_gather", "payload": {"fixed": "1 B"},
                                 "encode": {"flops": {"fixed": -1}})")),
            "file s.json: /rounds/0/encode/flops/fixed: \"-1\" must not be negative: expected 0 or more");
}

TEST(ReadScheme, TakesOnlyNamesThatASpecCanHold) {
  for (const auto* name : {"Mine", "a:b", "a,b", "a=b", "2bit", "-a", "a b", "a/b", "\u00e4"}) {
    EXPECT_EQ(
        refusal(R"({"schema": 1, "name": ")" + std::string(name) + R"(", "rounds": []})"),
        "file s.json: /name: \"" + std::string(name) +
            "\" cannot name a scheme: expected a lower-case letter, then at most 63 lower-case letters, "
            "digits, - and _");
  }
  EXPECT_TRUE(refusal(R"({"schema": 1, "name": ")" + std::string(65, 'a') + R"("})").ends_with("- and _"));
}

/// An example of docs/.
SchemeFile example(const std::string& name) {
  const std::string path = std::string(BREAKEVEN_SOURCE_DIR) + "/docs/schemes/" + name + ".json";
  SchemeFile file = read_scheme(read_text(path), path);
  EXPECT_EQ(file.scheme.name, name);
  return file;
}

/// Everything that a plan states.
std::string shown(const Plan& plan) {
  std::string text;
  for (const Round& round : plan) {
    text += std::string(name(round.exchange)) + " " + exact(round.payload.base()) + " " +
            exact(size_of(round.element)) + " (" + shown(round.encode) + ") (" + shown(round.decode) + ")\n";
  }
  return text;
}

TEST(SchemeExamples, StateWhatTheBuiltInSchemesOfTheirKindDo) {
  Registry registry;
  add_builtin(registry);
  registry.add(example("two-bit").scheme);
  registry.add(example("low-rank-4").scheme);
  const Message message = {{64, 147}, {256, 128}, {64, 1}};
  const auto sent = [&](const std::string& spec) {
    const Plan plan = registry.make(spec).compressor->plan(message, 8);
    return std::string(name(plan.front().exchange)) + " " + exact(plan.front().payload.base());
  };
  EXPECT_EQ(sent("two-bit"), sent("terngrad:pack=2bit"));
  const auto all = [&](const std::string& spec) {
    return shown(registry.make(spec).compressor->plan(message, 8));
  };
  EXPECT_EQ(all("low-rank-4"), all("powersgd:rank=4,min_ratio=0"));
}

}  // namespace
}  // namespace breakeven
