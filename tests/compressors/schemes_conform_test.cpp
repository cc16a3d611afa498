// Does every scheme keep to its plan, whatever the message, the workers and the gradient?
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "compressors/simd/target.h"
#include "compressors/trial/conformance.h"
#include "model/error.h"
#include "model/schedule.h"
#include "profiles/catalogue.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {
namespace {

/// What has no code: a ratio that no scheme reaches, and vectors that no worker hears of.
bool described_only(const std::string& spec) {
  return spec.starts_with("ideal") ||
         (spec.starts_with("powersgd") && spec.find("vectors=skip") != std::string::npos);
}

void expect_conforms(const std::string& spec, const ConformanceOptions& options) {
  const Conformance result = check_conformance(*registry().make(spec).compressor, options);
  EXPECT_EQ(result.has_kernel, !described_only(spec)) << spec;
  for (const Finding& finding : result.findings) {
    ADD_FAILURE() << spec << ": " << finding.where << ": " << finding.wrong;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, scheme] : registry().all()) {
    all.push_back(name);
  }
  return all;
}

/// Values of a parameter that tests of one scheme try, each choice among them.
std::vector<std::string> values(const Param& param) {
  if (param.kind == Param::Kind::choice) {
    return param.choices;
  }
  const double fallback =
      param.kind == Param::Kind::fraction ? parse_fraction(param.fallback) : parse_number(param.fallback);
  std::set<double> tried = {param.low, fallback / 2, 2 * fallback + 1, 3, 64};
  if (param.kind == Param::Kind::fraction) {
    tried = {0.001, 0.3, param.high};
  }
  std::vector<std::string> all;
  for (const double value : tried) {
    const bool fits = value <= param.high && (param.above_low ? value > param.low : value >= param.low);
    if (fits &&
        (param.kind != Param::Kind::integer || value == static_cast<double>(static_cast<int>(value)))) {
      all.push_back(exact(value));
    }
  }
  return all;
}

/// What must stand beside a parameter for it to have an effect.
std::string beside(const std::string& name, const std::string& param) {
  return name + ":" + param == "topk:rounds" ? ",select=threshold" : "";
}

/// The scheme with each parameter at each of its values, and with every pair of choices.
std::vector<std::string> variants(const Scheme& scheme) {
  std::set<std::string> all;
  for (const Param& one : scheme.params) {
    for (const std::string& value : values(one)) {
      const std::string spec = scheme.name + ":" + one.name + "=" + value + beside(scheme.name, one.name);
      all.insert(spec);
      for (const Param& other : scheme.params) {
        if (one.kind == Param::Kind::choice && other.kind == Param::Kind::choice && one.name < other.name) {
          for (const std::string& choice : other.choices) {
            all.insert(scheme.name + ":" + one.name + "=" + value + "," + other.name + "=" + choice);
          }
        }
      }
    }
  }
  return {all.begin(), all.end()};
}

/// Some choices do not go together.
bool can_be_made(const std::string& spec) {
  try {
    return registry().make(spec).scheme != nullptr;
  } catch (const Error&) {
    return false;
  }
}

class Schemes : public testing::TestWithParam<std::string> {};

TEST_P(Schemes, ConformByDefault) {
  expect_conforms(GetParam(), standard_conformance());
}

TEST_P(Schemes, ConformForAnyNumberOfWorkers) {
  ConformanceOptions options;
  options.messages = {{{1, 1}}, {{33, 1}}, {{24, 40}, {9, 1}}};
  options.workers = {1, 2, 3, 4, 5, 6, 7, 8};
  options.kinds = {GradientKind::normal, GradientKind::with_inf};
  options.steps = 3;
  expect_conforms(GetParam(), options);
}

TEST_P(Schemes, ConformWithEveryParameter) {
  ConformanceOptions options;
  options.messages = {{{7, 1}}, {{40, 33}}, {{0, 1}, {130, 1}, {16, 24}, {16, 24}, {3, 3}}};
  options.workers = {1, 3};
  options.kinds = {GradientKind::normal, GradientKind::zero, GradientKind::with_nan};
  for (const std::string& spec : variants(registry().at(GetParam()))) {
    if (can_be_made(spec)) {
      expect_conforms(spec, options);
    }
  }
}

TEST_P(Schemes, ConformOnEveryVectorTarget) {
  ConformanceOptions options;
  options.messages = {{{1, 1}}, {{33, 1}}, {{300, 1}, {37, 45}, {64, 64}}};
  options.workers = {2};
  options.kinds = {GradientKind::normal, GradientKind::with_nan, GradientKind::denormal};
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    expect_conforms(GetParam(), options);
  }
  use_simd_target("");
}

INSTANTIATE_TEST_SUITE_P(All, Schemes, testing::ValuesIn(names()),
                         [](const auto& scheme) { return scheme.param; });

/// The bucket of the tensors next to the input (many of all kinds), and the one of the last layer.
std::vector<Message> resnet_buckets() {
  const Workload workload = Catalogue().model("resnet50").workload;
  const auto sent = make_schedule("ddp").messages(workload, {});
  return {sent.front().tensors, sent.back().tensors};
}

TEST(RealMessages, OfResNet50AreCoded) {
  ConformanceOptions options;
  options.messages = resnet_buckets();
  options.workers = {2};
  options.kinds = {GradientKind::heavy_tailed};
  options.steps = 1;
  EXPECT_GT(options.messages.back().size(), 20U);
  for (const char* spec : {"topk", "powersgd:rank=4", "int8"}) {
    expect_conforms(spec, options);
  }
}

}  // namespace
}  // namespace breakeven::test
