// Is every bad value refused with words that say what to write?
#include "profiles/option_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

const OptionValues kBase = {{"model", "tiny"}, {"device", "gpu"},         {"batch", "8"},
                            {"workers", "8"},  {"workers-per-node", "4"}, {"bandwidth", "10Gbps"}};

std::string refused(const std::string& option, const std::string& text) {
  return failure([&] { (void)tiny(with(kBase, {{option, text}})); });
}

TEST(OptionValue, ABandwidthNeedsItsUnitAndASize) {
  const std::string unit = ": expected a number and a unit, such as 10Gbit/s or 1.25GB/s";
  EXPECT_EQ(refused("bandwidth", "10"), "value --bandwidth: \"10\" has no unit" + unit);
  EXPECT_EQ(refused("bandwidth", "10GB"), "value --bandwidth: \"10GB\" is a size, not a bandwidth" + unit);
  EXPECT_EQ(refused("bandwidth", "nan"), "value --bandwidth: \"nan\" is not a finite number" + unit);
  EXPECT_EQ(refused("bandwidth", "inf"), "value --bandwidth: \"inf\" is not a finite number" + unit);
  EXPECT_EQ(refused("bandwidth", "1e400"),
            "value --bandwidth: \"1e400\" is beyond what a number can hold" + unit);
  const std::string size = ": expected a bandwidth, such as 10Gbit/s";
  EXPECT_EQ(refused("bandwidth", "0Gbps"), "value --bandwidth: \"0Gbps\" must be above 0" + size);
  EXPECT_EQ(refused("bandwidth", "-5Gbps"), "value --bandwidth: \"-5Gbps\" must be above 0" + size);
  EXPECT_EQ(refused("bandwidth", "2e18B/s"),
            "value --bandwidth: \"2e18B/s\" must be at most 1e+18 B/s" + size);
  EXPECT_EQ(refused("bandwidth", "1e18B/s"), "nothing was thrown");
  EXPECT_EQ(refused("bandwidth", "5e-324B/s"),
            "value --bandwidth: \"5e-324B/s\" must be at least 1e-18 B/s" + size);
}

TEST(OptionValue, EveryNumberHasItsLimits) {
  EXPECT_EQ(refused("workers", "0"),
            "value --workers: \"0\" must be at least 1: expected a whole number, such as 8");
  EXPECT_EQ(refused("workers", "-8"),
            "value --workers: cannot read \"-8\" as a whole number: expected a whole number, "
            "such as 8");
  EXPECT_EQ(refused("workers", "8.5"),
            "value --workers: cannot read \"8.5\" as a whole number: expected a whole "
            "number, such as 8");
  EXPECT_EQ(refused("workers", "1048577"),
            "value --workers: \"1048577\" must be at most 1048576: expected a whole number, such as 8");
  EXPECT_EQ(refused("workers-per-node", "0"),
            "value --workers-per-node: \"0\" must be at least 1: expected a whole number, such as 8");
  EXPECT_EQ(refused("batch", "0"),
            "value --batch: \"0\" must be at least 1: expected a whole number, such as 8");
  EXPECT_EQ(refused("efficiency", "0"),
            "value --efficiency: \"0\" must be above 0: expected a fraction, such as 0.02 or 2%");
  EXPECT_EQ(refused("efficiency", "101%"),
            "value --efficiency: \"101%\" must be at most 1: expected a fraction, such as 0.02 or 2%");
  EXPECT_EQ(refused("latency", "-1us"),
            "value --latency: \"-1us\" must be at least 0: expected a time, such as 122ms");
  EXPECT_EQ(refused("latency", "1e-300s"),
            "value --latency: \"1e-300s\" must be 0 or at least 1e-18 s: expected a time, such as 122ms");
  EXPECT_EQ(refused("backward", "0s"),
            "value --backward: \"0s\" must be above 0: expected a time, such as 122ms");
  EXPECT_EQ(refused("gamma", "0.9"),
            "value --gamma: \"0.9\" must be at least 1: expected a factor, such as 1.07");
  EXPECT_EQ(refused("gamma", "11"),
            "value --gamma: \"11\" must be at most 10: expected a factor, such as 1.07");
  EXPECT_EQ(refused("margin", "-1%"),
            "value --margin: \"-1%\" must be at least 0: expected a fraction, such as 0.02 or 2%");
  EXPECT_EQ(refused("extra-steps", "lots"),
            "value --extra-steps: cannot read \"lots\" as a number: expected a number");
  EXPECT_EQ(refused("bucket", "0MiB"),
            "value --bucket: \"0MiB\" must be above 0: expected a size, such as 25MiB");
  EXPECT_EQ(refused("throughput", "0/s"),
            "value --throughput: \"0/s\" must be above 0: expected a rate, such as 253/s");
}

TEST(OptionValue, BucketsAreNoMoreThanAStepCanHave) {
  const OptionValues huge = {{"gradient-bytes", "1TB"}, {"backward", "1s"}, {"workers", "1"}};
  const auto cut = [&](const OptionValues& more) { return failure([&] { (void)tiny(with(huge, more)); }); };
  EXPECT_EQ(cut({{"schedule", "equal"}, {"bucket", "1MB"}}),
            "value --bucket: 1 TB in buckets of 1 MB are 1000000 messages: expected a size that leaves at "
            "most 100000");
  EXPECT_EQ(cut({{"schedule", "equal:cap=0.1B"}}),
            "value --bucket: 1 TB in buckets of 4 B are 250000000000 messages: expected a size that leaves "
            "at most 100000");
  EXPECT_EQ(cut({{"schedule", "equal"}, {"bucket", "10MB"}}), "nothing was thrown");
  // Of a model's own size and the size beside it, the larger one.
  const auto counted = [&](const std::string& size) {
    return cut(
        {{"model", "resnet50"}, {"gradient-bytes", size}, {"method", "closed-form"}, {"bucket", "8B"}});
  };
  EXPECT_EQ(counted("1B"),
            "value --bucket: 102 MB in buckets of 8 B are 12800000 messages: expected a size that leaves at "
            "most 100000");
  EXPECT_EQ(counted("1GB"),
            "value --bucket: 1 GB in buckets of 8 B are 125000000 messages: expected a size that leaves at "
            "most 100000");
  EXPECT_EQ(cut({{"schedule", "ddp"}, {"bucket", "1B"}}), "nothing was thrown");
}

TEST(OptionValue, EveryChoiceListsWhatThereIs) {
  EXPECT_EQ(refused("grad-dtype", "fp8"),
            "value --grad-dtype: unknown value \"fp8\": expected one of fp32, bf16, fp16");
  EXPECT_EQ(refused("placement", "stram"),
            "value --placement: unknown value \"stram\": expected one of serial, hook, stream, host, "
            "blocking (did you mean stream?)");
  EXPECT_EQ(
      refused("method", "closed_form"),
      "value --method: unknown value \"closed_form\": expected one of timeline, closed-form (did you mean "
      "closed-form?)");
  EXPECT_EQ(
      refused("schedule", "dpp"),
      "value --schedule: unknown schedule \"dpp\": expected one of ddp, equal, bsp, wfbp, fusion, horovod, "
      "mgwfbp, asc, omgs, optimal, p3, bytescheduler, byteps, dear (did you mean ddp?)");
  EXPECT_EQ(
      refused("schedule", "ddp:cup=1MiB"),
      "value --schedule: ddp: unknown parameter \"cup\": expected one of first, cap (did you mean cap?)");
  EXPECT_EQ(refused("algorithm", "rings").substr(0, 59),
            "value --algorithm: unknown algorithm \"rings\": expected one ");
}

TEST(OptionValue, ANameThatIsUnknownIsABadValueOfItsOption) {
  EXPECT_TRUE(
      refused("model", "resnet5").starts_with("value --model: unknown model \"resnet5\": expected one of "));
  EXPECT_TRUE(refused("model", "resnet5").ends_with("(did you mean resnet50?)"));
  EXPECT_TRUE(refused("device", "v10").starts_with("value --device: unknown device \"v10\": "));
  EXPECT_TRUE(refused("fabric", "bax").ends_with("(did you mean box?)"));
  EXPECT_TRUE(failure([&] {
                (void)tiny(with(kBase, {{"placement", "host"}, {"host", "cpuu"}}));
              }).starts_with("value --host: unknown device \"cpuu\": "));
  EXPECT_EQ(refused("modle", "x"),
            "value --modle: unknown option \"modle\": expected an option of query (did you mean "
            "model?)");
  EXPECT_EQ(refused("model", ""), "value --model: is empty: expected a value");
}

TEST(OptionValue, AMessageIsOneLineWhateverIsTyped) {
  EXPECT_EQ(refused("model", "a\nb\x1b[2J").substr(0, 43), "value --model: unknown model \"a?b?[2J\": exp");
  EXPECT_EQ(quote(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(quote("\xff\xfeM\xc3\xbcller\xe2\x82"), "\"??M\xc3\xbcller??\"")
      << "what is no UTF-8 is not printed";
  EXPECT_EQ(quote(std::string(59, 'x') + "\xc3\xbc"), "\"" + std::string(59, 'x') + "...\"");
}

TEST(OptionTable, EveryNumericOptionHasARuleAndEveryRuleAnOption) {
  std::size_t numeric = 0;
  for (const Option& option : scenario_options()) {
    const bool number = option.value == "N" || option.value == "SIZE" || option.value == "TIME" ||
                        option.value == "RATE" || option.value == "BANDWIDTH" || option.value == "FRACTION" ||
                        option.value == "FACTOR";
    EXPECT_EQ(option_rule(option.name) != nullptr, number) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    numeric += number ? 1 : 0;
  }
  EXPECT_EQ(numeric, 21U);
}

TEST(NumericAxis, SetsWhatResolveWouldHaveSet) {
  const OptionValues changed = {{"bandwidth", "40Gbps"},  {"latency", "7us"},
                                {"efficiency", "70%"},    {"gamma", "1.3"},
                                {"intra-latency", "1us"}, {"intra-bandwidth", "30GB/s"},
                                {"margin", "4%"},         {"extra-steps", "3%"}};
  std::size_t network_only = 0;
  for (const Option& option : scenario_options()) {
    if (!option.network_only) {
      EXPECT_NE(failure([&] { (void)numeric_axis(option.name, "1"); }), "nothing was thrown") << option.name;
      continue;
    }
    ++network_only;
    const std::string& text = changed.at(option.name);
    ScenarioSetup moved = tiny(kBase);
    const NumericAxis axis = numeric_axis(option.name, text);
    axis.set(moved.scenario, moved.judge, axis.value);
    const ScenarioSetup resolved = tiny(with(kBase, {{option.name, text}}));
    const auto numbers = [](const ScenarioSetup& setup) {
      const Fabric& fabric = setup.scenario.fabric;
      return std::vector<double>{
          fabric.across.bandwidth.base(), fabric.across.latency.base(),       fabric.across.efficiency,
          fabric.inside.bandwidth.base(), fabric.inside.latency.base(),       fabric.inside.efficiency,
          setup.scenario.overlap.gamma,   setup.scenario.overlap.gamma_codec, setup.judge.margin,
          setup.judge.extra_steps};
    };
    EXPECT_EQ(numbers(moved), numbers(resolved)) << option.name;
    EXPECT_NE(numbers(moved), numbers(tiny(kBase))) << option.name;
  }
  EXPECT_EQ(network_only, changed.size());
  EXPECT_EQ(failure([] { (void)numeric_axis("bandwidth", "0Gbps"); }),
            "value --bandwidth: \"0Gbps\" must be above 0: expected a bandwidth, such as 10Gbit/s");
  EXPECT_EQ(failure([] { (void)numeric_axis("workers", "8"); }),
            "value --workers: needs a new preparation: expected an option of the network or the verdict");
}

}  // namespace
}  // namespace breakeven
