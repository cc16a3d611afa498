// Does the command line take what it says, and refuse everything else with one exact line?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Refusal {
  std::vector<std::string> arguments;
  std::string message;
};

TEST(CommandLine, EveryMisuseIsOneExactLineAndExitsWithTwo) {
  const std::string kinds = "models|devices|fabrics|schemes|schedules|codecs|sweeps|published";
  const std::vector<Refusal> refusals = {
      {{"--quiet"}, "breakeven: no command: expected one of "},
      {{}, "breakeven: no command: expected one of "},
      {{"qurey"}, "\"qurey\": unknown command: expected one of "},
      {{"query", "--modle", "x"},
       "--modle: unknown option: expected an option of query (did you mean --model?), as breakeven help "
       "query lists them"},
      {{"query", "--mod", "x"},
       "--mod: unknown option: expected an option of query (did you mean --model?), as breakeven help query "
       "lists them"},
      {{"query", "--zzz=5"},
       "--zzz: unknown option: expected an option of query, as breakeven help query lists them"},
      {{"query", "-x"},
       "-x: unknown option: expected an option of query, as breakeven help query lists them"},
      {{"query", "--model"}, "--model: value missing: expected NAME|FILE"},
      {{"query", "--model", "--batch", "3"}, "--model: value missing: expected NAME|FILE"},
      {{"query", "--model", ""}, "--model: value missing: expected NAME|FILE"},
      {{"query", "--model="}, "--model: value missing: expected a value behind the ="},
      {{"query", "-o"}, "--output: value missing: expected FILE"},
      {{"query", "-s"}, "--scheme: value missing: expected SCHEME"},
      {{"query", "-qqs"}, "--scheme: value missing: expected SCHEME"},
      {{"query", "--batch", "1", "--batch", "2"}, "--batch: given twice: expected one value"},
      {{"query", "--format", "csv", "--format", "csv"}, "--format: given twice: expected one value"},
      {{"query", "--format", "xml"},
       "--format: unknown value \"xml\": expected one of table, json, jsonl, csv, markdown"},
      {{"query", "--color", "alwys"},
       "--color: unknown value \"alwys\": expected one of auto, always, never (did you mean always?)"},
      {{"query", "--quiet=5"}, "--quiet: takes no value: expected --quiet alone"},
      {{"query", "foo"}, "\"foo\": unexpected argument: expected breakeven query [OPTIONS]"},
      {{"query", "--", "--foo"}, "\"--foo\": unexpected argument: expected breakeven query [OPTIONS]"},
      {{"list"}, "list: argument missing: expected breakeven list [OPTIONS] " + kinds + " [NAME]"},
      {{"list", "models", "a", "b"},
       "\"b\": unexpected argument: expected breakeven list [OPTIONS] " + kinds + " [NAME]"},
      {{"list", "scheme"},
       "list: unknown kind \"scheme\": expected one of models, devices, fabrics, schemes, schedules, codecs, "
       "sweeps, published (did you mean schemes?)"},
      {{"list", "models", "--names", "--format", "csv"},
       "--names: beside --format: expected --names with a kind alone"},
      {{"list", "schemes", "topk", "--names"}, "--names: beside a NAME: expected --names with a kind alone"},
      {{"list", "schedules", "dd"},
       "list schedules: unknown schedule \"dd\": expected one of ddp, equal, bsp, wfbp, fusion, horovod, "
       "mgwfbp, asc, omgs, optimal, p3, bytescheduler, byteps, dear (did you mean ddp?)"},
      {{"completion", "fis"},
       "completion: unknown shell \"fis\": expected one of bash, zsh, fish (did you mean fish?)"},
      {{"man", "extra"}, "\"extra\": unexpected argument: expected breakeven man [OPTIONS]"},
      {{"--version", "foo"}, "--version: beside \"foo\": expected --version alone or with --format json"},
      {joined({"query", "--explain", "--format", "json"}, given_setup()),
       "--explain: beside --format json: expected --format table"},
      {joined({"query", "--exit-verdict"}, given_setup()),
       "--exit-verdict: no scheme to judge: expected at least one --scheme other than none"},
      {joined({"query", "-s", "topk", "-s", "topk:ratio=1%"}, given_setup()),
       "--scheme: \"topk\" is given twice: expected each scheme once"},
      {joined({"trace"}, given_setup()), "--scheme: missing: expected one scheme, such as --scheme none"},
      {joined({"trace", "-s", "none", "-s", "topk"}, given_setup()),
       "--scheme: given more than once: expected one scheme, such as --scheme none"},
      {joined({"trace", "-s", "none", "--method", "closed-form"}, given_setup()),
       "--method: the closed form has no timeline to show: expected timeline"},
  };
  for (const Refusal& refusal : refusals) {
    const Result result = invoke(refusal.arguments);
    const std::string line = "breakeven: error: " + refusal.message;
    EXPECT_EQ(result.status, kUsage) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, StartsWith(line));
    if (refusal.message.ends_with("expected one of ")) {
      continue;  // the list grows with the commands
    }
    EXPECT_EQ(result.err, line + "\n");
  }
}

TEST(CommandLine, BadSchemesNameTheNearest) {
  const auto refusal = [](const std::string& scheme) {
    return invoke(joined({"query", "--scheme", scheme}, given_setup())).err;
  };
  EXPECT_THAT(refusal("tpok"),
              StartsWith("breakeven: error: --scheme: unknown scheme \"tpok\": expected one of "));
  EXPECT_THAT(refusal("tpok"), HasSubstr("(did you mean topk?)"));
  EXPECT_THAT(refusal("topk:ratoi=1%"), HasSubstr("did you mean ratio?"));
  for (const char* scheme :
       {"topk:ratio=0", "topk:ratio=2", "topk:ratio=nan", "powersgd:rank=0", "powersgd:rank=-1", "topk:"}) {
    const Result result = invoke(joined({"query", "--scheme", scheme}, given_setup()));
    EXPECT_EQ(result.status, kUsage) << scheme;
    EXPECT_EQ(result.out, "") << scheme;
    EXPECT_THAT(result.err, StartsWith("breakeven: error: --scheme: ")) << scheme;
  }
}

TEST(CommandLine, BadValuesOfScenarioOptionsNameTheOption) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"bandwidth", "10"},
                                                        {"bandwidth", "10GB"},
                                                        {"bandwidth", "0Gbps"},
                                                        {"bandwidth", "-1Gbps"},
                                                        {"bandwidth", "nan"},
                                                        {"bandwidth", "inf"},
                                                        {"bandwidth", "1e400Gbps"},
                                                        {"workers", "0"},
                                                        {"workers", "1.5"},
                                                        {"latency", "-1ms"}}) {
    std::vector<std::string> arguments = {"query"};
    for (const std::string& argument : given_setup()) {
      arguments.push_back(!arguments.empty() && arguments.back() == "--" + option ? value : argument);
    }
    if (option == "latency") {
      arguments = joined(arguments, {"--latency", value});
    }
    const Result result = invoke(arguments);
    EXPECT_EQ(result.status, kUsage) << option << " " << value;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("breakeven: error: --" + option + ": ")) << value;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(CommandLine, ControlCharactersOfAnArgumentStayOutOfTheMessage) {
  const Result result = invoke({"query", "a\nb\x1b[31m"});
  EXPECT_EQ(result.err,
            "breakeven: error: \"a?b?[31m\": unexpected argument: expected breakeven query [OPTIONS]\n");
}

TEST(CommandLine, OrderAndSpellingOfOptionsDoNotMatter) {
  const auto reference = invoke(joined({"query", "-s", "topk", "--format", "csv", "-q"}, given_setup()));
  ASSERT_EQ(reference.status, 0) << reference.err;
  std::vector<std::string> with_equals = {"--format=csv", "-q"};
  const auto setup = given_setup();
  for (std::size_t i = 0; i < setup.size(); i += 2) {
    with_equals.push_back(setup[i] + "=" + setup[i + 1]);
  }
  EXPECT_EQ(invoke(joined(with_equals, {"query", "--scheme=topk"})).out, reference.out);
  EXPECT_EQ(invoke(joined({"--format", "csv", "query", "-qs", "topk"}, setup)).out, reference.out);
}

TEST(CommandLine, VersionIsOneLineOrJson) {
  const Result line = invoke({"--version"});
  EXPECT_EQ(line.status, 0);
  EXPECT_THAT(line.out, StartsWith("breakeven "));
  EXPECT_EQ(std::count(line.out.begin(), line.out.end(), '\n'), 1);
  EXPECT_THAT(invoke({"--version", "--format", "json"}).out, HasSubstr("\"schema\": \"breakeven.version\""));
  EXPECT_EQ(invoke({"--format=json", "--version"}).out, invoke({"--version", "--format", "json"}).out);
}

TEST(Help, NamesEveryCommandAndEveryOptionOfEach) {
  const std::string program = invoke({"help"}).out;
  EXPECT_EQ(invoke({"--help"}).out, program);
  EXPECT_EQ(invoke({"-h"}).out, program);
  for (const Command& row : commands()) {
    EXPECT_THAT(program, HasSubstr("  " + std::string(row.name) + " "));
    const std::string text = invoke({"help", std::string(row.name)}).out;
    EXPECT_THAT(text, StartsWith("usage: breakeven " + std::string(row.name)));
    EXPECT_EQ(invoke({std::string(row.name), "--help"}).out, text);
    for (const std::string_view name : row.flags) {
      EXPECT_THAT(text, HasSubstr("--" + std::string(name)));
    }
    for (const Option& option : scenario_options()) {
      const bool own = std::find(row.flags.begin(), row.flags.end(), option.name) != row.flags.end();
      EXPECT_EQ(text.find("\n      --" + option.name + " ") != std::string::npos, row.scenario || own)
          << row.name << " " << option.name;
    }
  }
}

TEST(Help, TopicsAnswerAndUnknownOnesNameTheNearest) {
  EXPECT_THAT(invoke({"help", "exit-codes"}).out, HasSubstr("  11  too close to call\n"));
  EXPECT_THAT(invoke({"help", "units"}).out, HasSubstr("b is a bit, B a byte"));
  EXPECT_THAT(invoke({"help", "schemes"}).out, HasSubstr("encode=TIME"));
  EXPECT_THAT(invoke({"help", "unit"}).err, HasSubstr("(did you mean units?)"));
}

TEST(Help, LinesFitAHundredColumnsWhereAWordAllows) {
  for (const Command& row : commands()) {
    std::istringstream text(invoke({"help", std::string(row.name)}).out);
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(line.size() <= 100 || line.find(' ', 10) == std::string::npos ||
                  line.find('|') != std::string::npos)
          << line;
    }
  }
}

TEST(ManPage, AgreesWithTheOptionTables) {
  const Result result = invoke({"man"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, StartsWith(".TH BREAKEVEN 1 "));
  const auto escaped = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      out += c == '-' ? std::string("\\-") : std::string(1, c);
    }
    return out;
  };
  for (const Option& option : scenario_options()) {
    EXPECT_THAT(result.out, HasSubstr("\\fB" + escaped("--" + option.name) + "\\fR \\fI"));
  }
  for (const Flag& flag : flags()) {
    EXPECT_THAT(result.out, HasSubstr("\\fB" + escaped("--" + std::string(flag.name)) + "\\fR"));
  }
  for (const Command& row : commands()) {
    EXPECT_THAT(result.out, HasSubstr(".SH \"BREAKEVEN " + std::string(row.name) + "\""));
  }
}

TEST(Completion, EveryShellKnowsEveryOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Result result = invoke({"completion", shell});
    EXPECT_EQ(result.status, 0);
    const std::string dashes = std::string(shell) == "fish" ? "-l " : "--";
    for (const Option& option : scenario_options()) {
      EXPECT_THAT(result.out, HasSubstr(dashes + option.name)) << shell;
    }
    for (const Flag& flag : flags()) {
      EXPECT_THAT(result.out, HasSubstr(dashes + std::string(flag.name))) << shell;
    }
    EXPECT_THAT(result.out, HasSubstr(std::string(shell) == "zsh" ? "_breakeven_names models"
                                                                  : "breakeven list models --names"));
  }
}

TEST(Flags, EveryFlagBelongsToACommandAndNamesAreDistinct) {
  for (const Flag& flag : flags()) {
    EXPECT_TRUE(std::any_of(commands().begin(), commands().end(), [&](const Command& row) {
      return std::find(row.flags.begin(), row.flags.end(), flag.name) != row.flags.end();
    })) << flag.name;
  }
}

TEST(Flags, NoCommandTakesAFlagAndAScenarioOptionOfOneName) {
  for (const Command& row : commands()) {
    for (const Option& option : scenario_options()) {
      EXPECT_FALSE(row.scenario &&
                   std::find(row.flags.begin(), row.flags.end(), option.name) != row.flags.end())
          << row.name << " " << option.name;
    }
  }
}

TEST(List, EveryKindAnswersInEveryFormat) {
  for (const char* kind :
       {"models", "devices", "fabrics", "schemes", "schedules", "codecs", "sweeps", "published"}) {
    const Result names = invoke({"list", kind, "--names"});
    ASSERT_EQ(names.status, 0) << names.err;
    const auto count = std::count(names.out.begin(), names.out.end(), '\n');
    EXPECT_GT(count, 0) << kind;
    const std::string first = names.out.substr(0, names.out.find('\n'));
    std::vector<std::string> outputs;
    for (const char* format : {"table", "json", "jsonl", "csv", "markdown"}) {
      const Result all = invoke({"list", kind, "--format", format});
      EXPECT_EQ(all.status, 0) << all.err;
      EXPECT_THAT(all.out, HasSubstr(first));
      EXPECT_THAT(outputs, Not(testing::Contains(all.out)));
      outputs.push_back(all.out);
      const Result one = invoke({"list", kind, first, "--format", format});
      EXPECT_EQ(one.status, 0) << one.err;
      EXPECT_THAT(one.out, HasSubstr(first));
      EXPECT_NE(one.out, all.out);
    }
    EXPECT_EQ(std::count(outputs[2].begin(), outputs[2].end(), '\n'), count) << kind;
    EXPECT_EQ(std::count(outputs[3].begin(), outputs[3].end(), '\n'), count + 1) << kind;
  }
}

TEST(CommandLine, EveryCommandSaysWhatNcclsModelLeavesToFormulas) {
  const std::vector<std::string> setup = {
      "--gradient-bytes", "100MB",     "--backward", "100ms",       "--fabric",
      "aws-p4d.24xlarge", "--workers", "16",         "--algorithm", "nccl"};
  const auto warning = [](const std::string& exchange) {
    return "NCCL's model prices no " + exchange + ": textbook formulas over the fabric's links do\n";
  };
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"query"}, {"sweep"}, {"solve", "bandwidth"}, {"plan"}, {"trace"}}) {
    const auto said = [&](const char* scheme) {
      const Result result = invoke(joined(joined(command, setup), {"-s", scheme}));
      EXPECT_EQ(result.status, 0) << result.err;
      return result.err;
    };
    EXPECT_THAT(said("onebit"), HasSubstr(warning("all_to_all"))) << command.front();
    EXPECT_THAT(said("gtopk"), HasSubstr(warning("tree_step and no broadcast"))) << command.front();
    EXPECT_THAT(said("topk"), testing::Not(HasSubstr("prices no"))) << command.front();
  }
}

TEST(List, FabricsSayHowFarNcclsModelReaches) {
  const std::string all = invoke({"list", "fabrics"}).out;
  for (const char* line : {"name +nccl +summary", "aws-p4d\\.24xlarge +across nodes +8 A100 40 GB",
                           "gcp-a3-high +one node +A3 High", "nvlink-3 +one node +One node",
                           "azure-nd-mi300x-v5 +- +", "ethernet-10g +across nodes +Ethernet"}) {
    EXPECT_THAT(all, testing::ContainsRegex(line));
  }
  EXPECT_THAT(invoke({"list", "fabrics", "--format", "json"}).out, HasSubstr("\"nccl\": \"across nodes\""));
}

TEST(List, SchemesShowTheirParametersDefaultsAndWhetherTheyRun) {
  const std::string powersgd = invoke({"list", "schemes", "powersgd"}).out;
  EXPECT_THAT(powersgd, HasSubstr("rank=1"));
  EXPECT_THAT(powersgd, HasSubstr("(on|off)"));
  EXPECT_THAT(invoke({"list", "schemes"}).out, HasSubstr("kernel"));
  EXPECT_THAT(invoke({"list", "models", "resnet50"}).out, HasSubstr("25557032"));
}

}  // namespace
}  // namespace breakeven::cli
