// Is a plugin's table read as it is meant, and one that makes no sense refused with clear words?
#include "compressors/plugin_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "model/registry.h"
#include "tests/compressors/messages.h"
#include "tests/compressors/plugins.h"

namespace breakeven::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

/// A sound table that is changed before it is read; functions return what stands in `says`.
struct Says {
  std::int32_t rounds = 1;
  breakeven_round round{};
  double state = 0;
  std::uint64_t period = 1;
  const char* why = "";
  bool throws = false;
} says;
char handle;

struct Table {
  std::vector<const char*> choices = {"a", "b"};
  std::vector<breakeven_param> params;
  std::vector<breakeven_scheme> schemes;
  breakeven_plugin_v1_table table{};

  Table() {
    says = {};
    says.round.exchange = BREAKEVEN_ALL_REDUCE;
    says.round.payload_bytes = 8;
    const auto param = [](const char* name, std::int32_t kind, const char* fallback, double high) {
      return breakeven_param{name, kind, 0, fallback, 0, high, nullptr, 0, "help", {}};
    };
    params = {param("integer", BREAKEVEN_INTEGER, "3", 9),     param("real", BREAKEVEN_REAL, "0.5", 1),
              param("fraction", BREAKEVEN_FRACTION, "10%", 1), param("bytes", BREAKEVEN_BYTES, "1KiB", 4096),
              param("time", BREAKEVEN_TIME, "10us", 1),        param("choice", BREAKEVEN_CHOICE, "a", 0)};
    params.back().choices = choices.data();
    params.back().choice_count = choices.size();
    breakeven_scheme scheme{};
    scheme.struct_size = sizeof(scheme);
    scheme.name = "x";
    scheme.summary = "summary";
    scheme.source = "source";
    scheme.params = params.data();
    scheme.param_count = params.size();
    scheme.make = [](const breakeven_value* values, char* error, std::uint64_t capacity) -> void* {
      std::strncpy(error, says.why, capacity);
      return *says.why != '\0' || values[0].number != 3 ? nullptr : &handle;
    };
    scheme.destroy = [](void*) {};
    scheme.plan = [](const void*, const breakeven_shape*, std::uint64_t, std::uint64_t,
                     breakeven_round* rounds, std::uint32_t) {
      if (says.throws) {
        throw std::runtime_error("oh");
      }
      rounds[0] = says.round;
      return says.rounds;
    };
    scheme.state = [](const void*, const breakeven_shape*, std::uint64_t, std::uint64_t) {
      return says.state;
    };
    scheme.period = [](const void*) { return says.period; };
    scheme.kernel_create = [](const void*, const breakeven_shape*, std::uint64_t,
                              const breakeven_worker*) -> void* { return &handle; };
    scheme.kernel_destroy = [](void*) {};
    scheme.encode = [](void*, std::uint32_t, const float* gradient, std::uint64_t n, const void** data,
                       std::uint64_t* bytes) -> std::int32_t {
      *data = gradient;
      *bytes = 4 * n;
      return 0;
    };
    scheme.decode = [](void*, std::uint32_t, const void* received, std::uint64_t bytes, float* mean,
                       std::uint64_t) -> std::int32_t {
      std::memcpy(mean, received, bytes);
      return 0;
    };
    schemes = {scheme};
    table = {sizeof(table), schemes.data(), 1, {}};
  }
  [[nodiscard]] std::vector<Scheme> read() const { return schemes_of(table, "./x.so", nullptr); }
};

using Change = std::function<void(Table&)>;
/// What is said of the table after the change.
std::string table_refusal(const Change& change) {
  Table table;
  change(table);
  return refusal([&] { (void)table.read(); });
}
std::string row_refusal(const std::function<void(breakeven_scheme&)>& change) {
  return table_refusal([&](Table& table) { change(table.schemes[0]); });
}
std::string param_refusal(std::size_t i, const std::function<void(breakeven_param&)>& change) {
  return table_refusal([&](Table& table) { change(table.params[i]); });
}

TEST(PluginTable, EveryKindOfParameterReachesTheScheme) {
  Table table;
  static std::vector<std::pair<double, std::string>> given;
  table.schemes[0].make = [](const breakeven_value* values, char*, std::uint64_t) -> void* {
    given.clear();
    for (int i = 0; i < 6; ++i) {
      given.emplace_back(values[i].number, values[i].text);
    }
    return &handle;
  };
  Registry registry;
  registry.add(table.read().front());
  (void)registry.make("x:bytes=2KiB,choice=b,time=1ms,integer=4");
  using Value = std::pair<double, std::string>;
  EXPECT_THAT(given, ElementsAre(Value(4, "4"), Value(0.5, "0.5"), Value(0.1, "10%"), Value(2048, "2KiB"),
                                 Value(1e-3, "1ms"), Value(0, "b")));
  EXPECT_EQ(registry.make("x:choice=b").spec, "x:choice=b");
}

TEST(PluginTable, RowsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(table_refusal([](Table&) {}), "nothing");
  EXPECT_THAT(table_refusal([](Table& t) { t.table.struct_size = 8; }),
              StartsWith("file: ./x.so: the table has struct_size 8: expected "));
  EXPECT_EQ(table_refusal([](Table& t) { t.table.schemes = nullptr; }),
            "file: ./x.so: schemes are NULL: expected as many as their count says");
  EXPECT_EQ(table_refusal([](Table& t) { t.table.scheme_count = 0; }),
            "file: ./x.so: no schemes: expected one at least");
  EXPECT_EQ(table_refusal([](Table& t) { t.table.scheme_count = UINT64_MAX; }),
            "file: ./x.so: 18446744073709551615 schemes: expected at most 64");
  EXPECT_EQ(table_refusal([](Table& t) { t.table.reserved[4] = 1; }),
            "file: ./x.so: a reserved field is set: expected 0");
  EXPECT_EQ(table_refusal([](Table& t) {
              t.schemes.push_back(t.schemes[0]);
              t.table.schemes = t.schemes.data();
              t.table.scheme_count = 2;
            }),
            "file: ./x.so: two schemes \"x\": expected names of their own");
}

TEST(PluginTable, SchemesThatMakeNoSenseAreRefused) {
  using Row = breakeven_scheme;
  const std::string scheme = "file: ./x.so: scheme \"x\": ";
  EXPECT_THAT(row_refusal([](Row& row) { row.struct_size = 0; }),
              StartsWith("file: ./x.so: scheme 1 has struct_size 0: "));
  EXPECT_EQ(row_refusal([](Row& row) { row.name = nullptr; }),
            "file: ./x.so: the name of a scheme is NULL: expected a line of text");
  const std::string name = " cannot be written in a spec: expected 1 to 64 of a-z 0-9 _-";
  for (const char* bad : {"Top", "a:b", "", "a b", "a,b", "a=b", "\xc3\xa9"}) {
    EXPECT_EQ(row_refusal([&](Row& row) { row.name = bad; }),
              std::string("file: ./x.so: the name of a scheme \"") + bad + "\"" + name);
  }
  for (const char* bad : {"2bit", "-", "_x"}) {
    EXPECT_EQ(row_refusal([&](Row& row) { row.name = bad; }),
              std::string("file: ./x.so: the name of a scheme \"") + bad +
                  "\" begins with no letter: expected a-z");
  }
  EXPECT_EQ(row_refusal([](Row& row) { row.summary = ""; }),
            scheme + "summary is empty: expected a line of text");
  const std::string long_name(65, 'a'), long_text(1024, 'a');
  EXPECT_THAT(row_refusal([&](Row& row) { row.name = long_name.c_str(); }), EndsWith(name));
  EXPECT_EQ(row_refusal([](Row& row) { row.summary = nullptr; }),
            scheme + "summary is NULL: expected a line of text");
  EXPECT_EQ(row_refusal([](Row& row) { row.summary = "two\nlines"; }),
            scheme + "summary is no line of text: expected at most 1023 bytes that can be printed");
  EXPECT_THAT(row_refusal([&](Row& row) { row.source = long_text.c_str(); }),
              StartsWith(scheme + "source is no line of text"));
  EXPECT_EQ(row_refusal([](Row& row) { row.placement = 4; }), scheme + "placement is 4: expected 0 to 3");
  EXPECT_EQ(row_refusal([](Row& row) { row.same_steps = -1; }), scheme + "same_steps is -1: expected 0 or 1");
  EXPECT_EQ(row_refusal([](Row& row) { row.reserved[7] = 1; }),
            scheme + "a reserved field is set: expected 0");
  EXPECT_EQ(row_refusal([](Row& row) { row.params = nullptr; }),
            scheme + "parameters are NULL: expected as many as their count says");
  EXPECT_EQ(row_refusal([](Row& row) { row.param_count = 65; }),
            scheme + "65 parameters: expected at most 64");
  EXPECT_EQ(row_refusal([](Row& row) { row.make = nullptr; }), scheme + "no function make: expected one");
  EXPECT_EQ(row_refusal([](Row& row) { row.destroy = nullptr; }),
            scheme + "no function destroy: expected one");
  EXPECT_EQ(row_refusal([](Row& row) { row.plan = nullptr; }), scheme + "no function plan: expected one");
  EXPECT_EQ(row_refusal([](Row& row) { row.decode = nullptr; }), scheme + "no function decode: expected one");
  EXPECT_EQ(row_refusal([](Row& row) { row.kernel_destroy = nullptr; }),
            scheme + "no function kernel_destroy: expected one");
  EXPECT_EQ(row_refusal([](Row& row) {
              row.kernel_create = nullptr;
              row.kernel_destroy = nullptr;
              row.encode = nullptr;
              row.decode = nullptr;
              row.state = nullptr;
              row.period = nullptr;
            }),
            "nothing");
}

TEST(PluginTable, ParametersThatMakeNoSenseAreRefused) {
  using Row = breakeven_param;
  const std::string scheme = "file: ./x.so: scheme \"x\": ", integer = scheme + "parameter \"integer\": ";
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.name = nullptr; }),
            scheme + "the name of a parameter is NULL: expected a line of text");
  EXPECT_THAT(param_refusal(0, [](Row& row) { row.name = "K"; }),
              StartsWith(scheme + "the name of a parameter \"K\" cannot be written in a spec"));
  EXPECT_EQ(
      param_refusal(0, [](Row& row) { row.name = "encode"; }),
      scheme +
          "parameter \"encode\": the name is taken: expected another: every scheme takes times of that name");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.name = "real"; }),
            scheme + "two parameters \"real\": expected names of their own");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.kind = 6; }), integer + "kind is 6: expected 0 to 5");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.above_low = 2; }),
            integer + "above_low is 2: expected 0 or 1");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.help = nullptr; }),
            integer + "help is NULL: expected a line of text");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.reserved[1] = 1; }),
            integer + "a reserved field is set: expected 0");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.fallback = nullptr; }),
            integer + "fallback is NULL: expected a line of text");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.fallback = "10"; }),
            integer + "fallback: \"10\" is out of range: expected 0 to 9");
  EXPECT_THAT(param_refusal(0, [](Row& row) { row.fallback = "many"; }), StartsWith(integer + "fallback: "));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(param_refusal(0, [&](Row& row) { row.low = nan; }),
            integer + "low is nan and high 9: expected low <= high");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.low = 10; }),
            integer + "low is 10 and high 9: expected low <= high");
  EXPECT_EQ(param_refusal(0, [](Row& row) { row.high = HUGE_VAL; }),
            integer + "low is 0 and high inf: expected low <= high");
  const std::string choice = scheme + "parameter \"choice\": ";
  EXPECT_EQ(param_refusal(5, [](Row& row) { row.choice_count = 0; }),
            choice + "no choices: expected one at least");
  EXPECT_EQ(param_refusal(5, [](Row& row) { row.choice_count = 65; }),
            choice + "65 choices: expected at most 64");
  EXPECT_EQ(param_refusal(5, [](Row& row) { row.choices = nullptr; }),
            choice + "choices are NULL: expected as many as their count says");
  EXPECT_EQ(table_refusal([](Table& table) { table.choices[1] = nullptr; }),
            choice + "choice is NULL: expected a line of text");
  EXPECT_THAT(table_refusal([](Table& table) { table.choices[1] = "b,c"; }),
              StartsWith(choice + "choice \"b,c\" cannot be written in a spec"));
  EXPECT_EQ(param_refusal(5, [](Row& row) { row.kind = BREAKEVEN_REAL; }),
            choice + "choices for what is no choice: expected none");
  EXPECT_THAT(param_refusal(5, [](Row& row) { row.fallback = "c"; }),
              StartsWith(choice + "fallback: unknown value \"c\""));
}

TEST(PluginTable, PlansAndStatesThatMakeNoSenseAreRefused) {
  const auto asking = [](const std::function<void(Says&)>& change) {
    const Table table;
    change(says);
    return refusal([&] {
      const auto compressor = table.read().front().make(Params(table.read().front().params, ""));
      (void)compressor->plan(vector_of(2), 4);
      (void)compressor->state(vector_of(2), 4);
    });
  };
  const std::string scheme = "file: ./x.so: scheme \"x\": ", limits = ": expected 0 to 1e+24";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(asking([](Says&) {}), "nothing");
  EXPECT_EQ(asking([](Says& s) { s.rounds = -1; }),
            scheme + "plan fails with status -1: expected the number of rounds");
  EXPECT_EQ(asking([](Says& s) { s.rounds = 65; }), scheme + "plan gives 65 rounds: expected at most 64");
  EXPECT_EQ(asking([](Says& s) { s.round.exchange = 6; }),
            scheme + "round 1 has the exchange 6: expected 0 to 5");
  EXPECT_EQ(asking([](Says& s) { s.round.element = -1; }),
            scheme + "round 1 has the element -1: expected 0 to 4");
  EXPECT_EQ(asking([](Says& s) { s.round.reserved[0] = 1; }),
            scheme + "a reserved field of round 1 is set: expected 0");
  EXPECT_EQ(asking([](Says& s) { s.round.decode.reserved[1] = 1; }),
            scheme + "a reserved field of decode of round 1 is set: expected 0");
  EXPECT_EQ(asking([](Says& s) { s.round.payload_bytes = -1; }),
            scheme + "payload_bytes of round 1 is -1" + limits);
  EXPECT_EQ(asking([&](Says& s) { s.round.encode.touched_bytes = nan; }),
            scheme + "touched_bytes of encode of round 1 is nan" + limits);
  EXPECT_EQ(asking([](Says& s) { s.round.decode.flops = HUGE_VAL; }),
            scheme + "flops of decode of round 1 is inf" + limits);
  EXPECT_EQ(asking([](Says& s) { s.round.encode.known_seconds = -1; }),
            scheme + "known_seconds of encode of round 1 is -1" + limits);
  EXPECT_EQ(asking([](Says& s) { s.round.payload_bytes = 0; }),
            scheme + "round 1 sends nothing: expected no such round");
  EXPECT_EQ(asking([](Says& s) { s.round.payload_bytes = 0.5; }),
            scheme + "payload_bytes of round 1 is 0.5: expected whole bytes, since it has code");
  EXPECT_EQ(
      asking([](Says& s) { s.round.decode.elements = 1e24; }),
      scheme + "elements of decode of round 1 is 1e+24: expected at most 4, twice those of the message");
  EXPECT_EQ(asking([](Says& s) { s.state = -8; }), scheme + "state is -8" + limits);
  EXPECT_EQ(asking([](Says& s) { s.period = 0; }), scheme + "period is 0: expected 1 to 64");
  EXPECT_EQ(asking([](Says& s) { s.period = UINT64_MAX; }),
            scheme + "period is 18446744073709551615: expected 1 to 64");
  EXPECT_EQ(asking([](Says& s) { s.throws = true; }),
            scheme + "plan throws an exception: oh: expected a status");
  EXPECT_EQ(asking([](Says& s) { s.why = "k must be a power of two"; }),
            "value: ./x.so: k must be a power of two: expected other values");
  EXPECT_EQ(asking([](Says& s) { s.why = "two\nlines"; }),
            "value: ./x.so: these values do not fit together: expected other values");
}

TEST(PluginTable, AnExceptionOnTheWayOutEndsNothing) {
  Table table;
  table.schemes[0].destroy = [](void*) { throw 1; };         // NOLINT
  table.schemes[0].kernel_destroy = [](void*) { throw 1; };  // NOLINT
  const Scheme scheme = table.read().front();
  EXPECT_NE(scheme.make(Params(scheme.params, ""))->kernel(vector_of(2), {}), nullptr);
}

TEST(PluginTable, WorkReachesThePlan) {
  const Table table;
  says.round.encode = {1, 2, 3, 4, 5, 6, {}};
  says.round.decode = {};
  says.round.exchange = BREAKEVEN_PUSH_PULL;
  says.round.element = BREAKEVEN_BF16;
  const Scheme scheme = table.read().front();
  const Round round = scheme.make(Params(scheme.params, ""))->plan(vector_of(4), 4).front();
  EXPECT_EQ(round.exchange, Exchange::push_pull);
  EXPECT_EQ(round.element, Element::bf16);
  EXPECT_EQ(round.payload, 8_B);
  EXPECT_EQ(round.encode.touched, 1_B);
  EXPECT_EQ(round.encode.flops, 2);
  EXPECT_EQ(round.encode.launches, 3);
  EXPECT_EQ(round.encode.elements, 4);
  EXPECT_EQ(round.encode.repeats, 5);
  EXPECT_EQ(round.encode.known, Seconds::of(6));
  EXPECT_EQ(round.encode.origin, Origin::given);
  EXPECT_EQ(round.decode.repeats, 1);
  EXPECT_FALSE(round.decode.known.has_value());
}

TEST(PluginTable, TheLayoutOfVersion1IsFrozen) {
  if (sizeof(void*) != 8) {
    GTEST_SKIP() << "pointers of another size";
  }
  EXPECT_EQ(sizeof(breakeven_param), 80U);
  EXPECT_EQ(sizeof(breakeven_value), 16U);
  EXPECT_EQ(sizeof(breakeven_shape), 24U);
  EXPECT_EQ(sizeof(breakeven_work), 64U);
  EXPECT_EQ(sizeof(breakeven_round), 160U);
  EXPECT_EQ(sizeof(breakeven_worker), 64U);
  EXPECT_EQ(sizeof(breakeven_scheme), 192U);
  EXPECT_EQ(sizeof(breakeven_plugin_v1_table), 64U);
  EXPECT_EQ(offsetof(breakeven_param, choices), 40U);
  EXPECT_EQ(offsetof(breakeven_round, payload_bytes), 128U);
  EXPECT_EQ(offsetof(breakeven_scheme, plan), 72U);
  EXPECT_EQ(offsetof(breakeven_scheme, decode), 120U);
}

TEST(PluginTable, NumbersOfEnumsAreTheModels) {
  EXPECT_EQ(name(static_cast<Exchange>(BREAKEVEN_REDUCE_SCATTER)), "reduce_scatter");
  EXPECT_EQ(name(static_cast<Exchange>(BREAKEVEN_ALL_GATHER)), "all_gather");
  EXPECT_EQ(name(static_cast<Exchange>(BREAKEVEN_ALL_TO_ALL)), "all_to_all");
  EXPECT_EQ(static_cast<Element>(BREAKEVEN_F16), Element::f16);
  EXPECT_EQ(static_cast<Element>(BREAKEVEN_I32), Element::i32);
  EXPECT_EQ(static_cast<Element>(BREAKEVEN_RAW_BYTES), Element::bytes);
  EXPECT_EQ(name(static_cast<Placement>(BREAKEVEN_STREAM)), "stream");
  EXPECT_EQ(name(static_cast<Placement>(BREAKEVEN_HOST)), "host");
}

}  // namespace
}  // namespace breakeven::test
