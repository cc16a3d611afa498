// Are schemes from shared objects as good as built-in ones, and is nonsense from one refused with clear
// words?
#include "compressors/plugin.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "compressors/trial/conformance.h"
#include "model/registry.h"
#include "tests/compressors/messages.h"
#include "tests/compressors/plugins.h"

namespace breakeven::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Registry with(const std::string& file) {
  Registry registry;
  for (Scheme& scheme : load_plugin(kPlugins + file)) {
    registry.add(std::move(scheme));
  }
  return registry;
}

TEST(Plugin, TheExampleOfTheDocsIsAScheme) {
  const Registry registry = with("every.so");
  const Scheme& scheme = registry.at("every");
  EXPECT_EQ(scheme.summary, "the sum of every k-th element");
  EXPECT_EQ(scheme.placement, Placement::hook);
  EXPECT_FALSE(scheme.same_steps);
  const auto payload = [&](const std::string& spec, Element element) {
    return payloads(registry.make(spec).compressor->plan(vector_of(101, element), 8));
  };
  EXPECT_THAT(payload("every", Element::f32), ElementsAre(4 * 51));
  EXPECT_THAT(payload("every:k=10", Element::bf16), ElementsAre(2 * 11));
  EXPECT_THAT(payload("every", Element::f16), ElementsAre(2 * 51));
  EXPECT_EQ(registry.make("every:k=3").compressor->state(vector_of(101), 8).base(), 0);
  EXPECT_EQ(refusal([&] { (void)registry.make("every:k=0"); }),
            "value: every: k: \"0\" is out of range: expected 1 to 1000");
}

TEST(Plugin, TheExampleOfTheDocsConforms) {
  const Registry registry = with("every.so");
  for (const char* spec : {"every", "every:k=1", "every:k=7", "every:k=1000"}) {
    ConformanceOptions options = standard_conformance();
    options.workers = {1, 3};
    std::erase_if(options.messages, [](const auto& message) { return elements(message) > 1000; });
    const Conformance result = check_conformance(*registry.make(spec).compressor, options);
    EXPECT_TRUE(result.has_kernel);
    EXPECT_THAT(result.findings, IsEmpty()) << result.findings[0].where << ": " << result.findings[0].wrong;
  }
}

TEST(Plugin, StaysLoadedAsLongAsAKernelIsThere) {
  std::unique_ptr<Kernel> kernel;
  {
    const Registry registry = with("every.so");
    kernel = registry.make("every").compressor->kernel(vector_of(4), {});
  }
  const std::array<float, 4> gradient{1, 2, 3, 4};
  std::array<float, 4> mean{};
  const auto sent = kernel->encode(0, gradient);
  kernel->decode(0, std::vector<std::byte>(sent.begin(), sent.end()), mean);
  EXPECT_THAT(mean, ElementsAre(1, 0, 3, 0));
}

TEST(Plugin, WhatIsNoPluginIsRefused) {
  const auto loading = [](const std::string& file) { return refusal([&] { load_plugin(kPlugins + file); }); };
  EXPECT_EQ(loading("absent.so"),
            "file: absent.so: cannot be loaded: No such file or directory: expected a shared object made "
            "with breakeven_plugin.h");
  EXPECT_THAT(loading(""), HasSubstr("cannot be loaded: it is a directory"));
  EXPECT_THAT(refusal([] { load_plugin(BREAKEVEN_SOURCE_DIR "/README.md"); }),
              HasSubstr("cannot be loaded: it is no shared object"));
  EXPECT_THAT(refusal([] { load_plugin(""); }), StartsWith("file: "));
  // Not among the system's libraries.
  EXPECT_THAT(refusal([] { load_plugin("libm.so.6"); }),
              StartsWith("file: libm.so.6: cannot be loaded: No such file"));
  EXPECT_EQ(loading("no_entry.so"),
            "file: no_entry.so: not a plugin: it exports no breakeven_plugin_v1: expected a shared "
            "object made with breakeven_plugin.h");
  EXPECT_EQ(loading("version_0.so"),
            "file: version_0.so: a plugin of version 0 of the interface: expected version 1");
  EXPECT_EQ(loading("version_2.so"),
            "file: version_2.so: a plugin of version 2 of the interface: expected version 1");
  EXPECT_EQ(loading("null_table.so"),
            "file: null_table.so: breakeven_plugin_v1 gives NULL: expected a table");
  EXPECT_EQ(loading("null_name.so"),
            "file: null_name.so: the name of a scheme is NULL: expected a line of text");
}

TEST(Plugin, WhatDlopenWouldDieOfIsRefused) {
  const std::string copy = testing::TempDir() + "breakeven_cut.so";
  std::ifstream in(kPlugins + "none.so", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto loading = [&](const std::string& content) {
    std::ofstream(copy, std::ios::binary) << content;
    const std::string said = refusal([&] { load_plugin(copy); });
    std::remove(copy.c_str());
    return said;
  };
  EXPECT_EQ(loading(whole), "nothing");
  for (const std::size_t size : {20UL, 100UL, 2000UL}) {
    EXPECT_THAT(loading(whole.substr(0, size)), HasSubstr("cannot be loaded: it is cut short")) << size;
  }
  EXPECT_THAT(loading(""), HasSubstr("cannot be loaded: it is no shared object"));
  std::string foreign = whole;
  foreign[18] = 2;  // e_machine: SPARC
  EXPECT_THAT(loading(foreign), HasSubstr("cannot be loaded: it is made for another kind of processor"));
  ASSERT_EQ(::mkfifo(copy.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { load_plugin(copy); }), HasSubstr("cannot be loaded: it is no regular file"));
  std::remove(copy.c_str());
  EXPECT_EQ(refusal([] { load_plugin(kPlugins + "data_entry.so"); }),
            "file: data_entry.so: breakeven_plugin_v1 is data: expected a function");
}

TEST(Plugin, WhatItsFunctionsReturnIsChecked) {
  const auto checking = [](const std::string& file) {
    return refusal([&] {
      const Registry registry = with(file);
      const auto compressor = registry.make("plain").compressor;
      const auto kernel = compressor->kernel(vector_of(4), {});
      const std::array<float, 4> gradient{1, 2, 3, 4};
      std::array<float, 4> mean{};
      kernel->decode(0, kernel->encode(0, gradient), mean);
    });
  };
  EXPECT_EQ(checking("none.so"), "nothing");
  EXPECT_EQ(checking("make.so"), "value: plain: make.so: it does not like you: expected other values");
  EXPECT_EQ(checking("plan.so"),
            "file: plan.so: scheme \"plain\": plan fails with status -7: expected the number of rounds");
  EXPECT_EQ(checking("overflowing_plan.so"),
            "file: overflowing_plan.so: scheme \"plain\": payload_bytes of round 1 is 1.6e+301: expected 0 "
            "to 1e+24");
  EXPECT_EQ(checking("encode.so"),
            "file: encode.so: scheme \"plain\": encode of round 1 fails with status 3: expected 0");
  EXPECT_EQ(checking("decode.so"),
            "file: decode.so: scheme \"plain\": decode of round 1 fails with status -2: expected 0");
  EXPECT_EQ(checking("null_data.so"),
            "file: null_data.so: scheme \"plain\": encode of round 1 gives 16 bytes at NULL: expected their "
            "address");
  EXPECT_EQ(checking("other_bytes.so"),
            "file: other_bytes.so: scheme \"plain\": encode of round 1 gives 18 bytes: expected 16, as its "
            "plan says");
  EXPECT_EQ(checking("overflowing_bytes.so"),
            "file: overflowing_bytes.so: scheme \"plain\": encode of round 1 gives "
            "18446744073709551612 bytes: expected 16, as its plan says");
}

TEST(Plugin, ItsFaultsAreFindingsOfConformance) {
  const Registry registry = with("other_bytes.so");
  ConformanceOptions options;
  options.messages = {vector_of(4)};
  options.workers = {1};
  const auto findings = check_conformance(*registry.make("plain").compressor, options).findings;
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].where, "4 elements, 1 worker, normal, step 1, round 1 of 1");
  EXPECT_THAT(findings[0].wrong, StartsWith("encode at rank 0 throws: "));
  EXPECT_THAT(findings[0].wrong, EndsWith("gives 18 bytes: expected 16, as its plan says"));
}

}  // namespace
}  // namespace breakeven::test
