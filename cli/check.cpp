// `breakeven check`: does a scheme's code do what its plan says?
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>

#include "cli/apart.h"
#include "cli/app.h"
#include "cli/doors.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/table.h"
#include "compressors/plugin.h"
#include "compressors/trial/conformance.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

struct Checked : Examined {
  [[nodiscard]] bool passed() const { return result.findings.empty(); }
  [[nodiscard]] std::string verdict() const {
    return !passed() ? "failed" : result.has_kernel ? "passed" : "described only: plans checked";
  }
  /// What was looked at: cases of a kernel, else plans.
  [[nodiscard]] std::string checked() const {
    return result.has_kernel ? grouped(result.cases) + " cases" : grouped(result.plans) + " plans";
  }
};

Examined examine(const Registry& registry, const std::string& spec, const ConformanceOptions& options) {
  if (options.before) {
    options.before("made with these values");
  }
  const Candidate candidate = registry.make(spec);
  if (candidate.encode) {
    throw Error(Fault::value, {}, "\"" + candidate.spec + "\" states its times",
                "\"" + candidate.plain_spec + "\"");
  }
  Conformance result = check_conformance(*candidate.compressor, options);
  if (!result.has_kernel && result.findings.empty() && claims_code(*candidate.compressor)) {
    result.findings.push_back({"", "kernel_create gives NULL for every message"});
  }
  return {candidate.plain_spec, result};
}

/// `apart`: with code that is not ours.
Checked check_one(const Registry& registry, const std::string& spec, bool apart) {
  ConformanceOptions options = standard_conformance();
  if (!apart) {
    return {examine(registry, spec, options)};
  }
  constexpr std::chrono::seconds kLongestCase(60);
  options.may_lack_kernels = true;
  return {examined_apart(spec, kLongestCase, [&](const auto& before) {
    options.before = before;
    return examine(registry, spec, options);
  })};
}

/// A spec of the registry, or every scheme of a file.
void check_argument(const Context& context, const std::string& argument, std::vector<Checked>& all) {
  if (!is_scheme_file(argument)) {
    try {
      all.push_back(check_one(context.registry, argument, context.request.given.contains("plugin")));
    } catch (const Error& error) {
      throw error.fault() == Fault::file ? error : error.inside("check", error.fault());
    }
    return;
  }
  Registry own;
  for (Scheme& scheme : schemes_of(argument)) {
    const std::string name = scheme.name;
    if (context.registry.has(name)) {
      throw Error(Fault::file, argument, "scheme \"" + name + "\" exists already", "a name of its own");
    }
    try {
      own.add(std::move(scheme));
      all.push_back(check_one(own, name, true));
    } catch (const Error& error) {
      const bool named = error.where().find(argument) != std::string::npos;
      throw named ? Error(Fault::file, error.where(), error.wrong(), error.expected())
                  : error.inside(argument, Fault::file);
    }
  }
}

Screen screen_of(const std::vector<Checked>& all) {
  Screen screen;
  screen.columns = {{"scheme"}, {"checked", true}, {"result"}};
  for (const Checked& one : all) {
    screen.rows.push_back(
        {{one.scheme}, {one.checked()}, {one.verdict(), one.passed() ? Tone::good : Tone::bad}});
    for (const Finding& finding : one.result.findings) {
      screen.rows.push_back(
          {{""},
           {""},
           {finding.where + (finding.where.empty() ? "" : ": ") + finding.wrong +
            (finding.times > 1 ? fmt::format(" (and {} more like it)", grouped(finding.times - 1)) : "")}});
    }
  }
  return screen;
}

/// A row a finding; one without where there is none.
Rows rows_of(const std::vector<Checked>& all) {
  Rows rows{{"scheme", "kernel", "plans", "cases", "passed", "where", "wrong", "times"}, {}};
  for (const Checked& one : all) {
    const auto add = [&](Value where, Value wrong, Value times) {
      rows.rows.push_back({one.scheme, one.result.has_kernel, static_cast<double>(one.result.plans),
                           static_cast<double>(one.result.cases), one.passed(), std::move(where),
                           std::move(wrong), std::move(times)});
    };
    for (const Finding& finding : one.result.findings) {
      add(finding.where, finding.wrong, static_cast<double>(finding.times));
    }
    if (one.passed()) {
      add({}, {}, {});
    }
  }
  return rows;
}

std::string json_of(const std::vector<Checked>& all) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.check").member("schema_version", 1.0);
  json.key("schemes").begin_array();
  for (const Checked& one : all) {
    json.begin_object().member("scheme", one.scheme).member("kernel", one.result.has_kernel);
    json.member("plans", static_cast<double>(one.result.plans));
    json.member("cases", static_cast<double>(one.result.cases)).member("passed", one.passed());
    json.key("findings").begin_array();
    for (const Finding& finding : one.result.findings) {
      json.begin_object(true).member("where", finding.where).member("wrong", finding.wrong);
      json.member("times", static_cast<double>(finding.times)).end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace

int check(const Context& context) {
  const Request& request = context.request;
  std::vector<Checked> all;
  for (const std::string& argument : request.arguments) {
    check_argument(context, argument, all);
  }
  const std::string path = request.get("output", "-");
  std::string text;
  switch (request.format()) {
    case Format::table:
      text = to_text(screen_of(all),
                     style_for(request.get("color", "auto"),
                               context.environment.out_is_terminal && path == "-", context.environment));
      break;
    case Format::json:
      text = json_of(all);
      break;
    case Format::jsonl:
      text = to_jsonl(rows_of(all));
      break;
    case Format::csv:
      text = to_csv(rows_of(all));
      break;
    case Format::markdown:
      text = to_markdown(screen_of(all));
      break;
  }
  write_all(path, context.out, text);
  const auto failed = std::count_if(all.begin(), all.end(), [](const Checked& one) { return !one.passed(); });
  if (failed > 0) {
    context.err << fmt::format("breakeven: {} of {} schemes failed\n", failed, all.size());
  }
  return failed > 0 ? kFailed : kAnswered;
}

}  // namespace breakeven::cli
