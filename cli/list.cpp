// `breakeven list`: what there is to choose from.
#include "cli/list.h"

#include <algorithm>

#include "cli/app.h"
#include "cli/doors.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/table.h"
#include "model/error.h"
#include "model/schedule.h"

namespace breakeven::cli {
namespace {

/// Rows of text; the first `shown` columns fit a screen, the others are for programs.
struct Listed {
  std::vector<std::string> columns;
  std::size_t shown = 0;
  std::vector<std::vector<std::string>> rows;
};

std::string params_text(const std::vector<Param>& params) {
  std::string text;
  for (const Param& param : params) {
    text += (text.empty() ? "" : ",") + default_text(param);
  }
  return text.empty() ? "-" : text;
}

/// How far --algorithm nccl reaches on a fabric: its GPUs, and its channels across nodes.
std::string nccl_reach(const Catalogue& catalogue, const std::string& name) {
  const FabricProfile profile = catalogue.fabric(name);
  const NcclTopology& topology = profile.fabric.nccl;
  if (topology.channels > 0) {
    return "across nodes";
  }
  const bool gpus = topology.architecture || topology.peers ||
                    (!profile.device.empty() && catalogue.device(profile.device).device.architecture);
  return gpus ? "one node" : "-";
}

Listed listed(const Context& context, const std::string& kind) {
  if (kind == "schemes") {
    Listed all{{"name", "kernel", "placement", "summary", "parameters", "source"}, 4, {}};
    for (const auto& [name, scheme] : context.registry.all()) {
      all.rows.push_back({name, has_code(scheme) ? "yes" : "described only",
                          std::string(breakeven::name(scheme.placement)), scheme.summary,
                          params_text(scheme.params), scheme.source});
    }
    return all;
  }
  if (kind == "schedules") {
    Listed all{{"name", "parameters", "summary", "source"}, 3, {}};
    for (const ScheduleKind& row : schedule_kinds()) {
      all.rows.push_back({row.name, params_text(row.params), row.summary, row.source});
    }
    return all;
  }
  if (kind == "fabrics") {
    Listed all{{"name", "nccl", "summary", "source"}, 3, {}};
    for (const Listing& row : context.catalogue.list(kind)) {
      all.rows.push_back({row.name, nccl_reach(context.catalogue, row.name), row.summary, row.source});
    }
    return all;
  }
  Listed all{{"name", "summary", "source"}, 2, {}};
  for (const Listing& row : context.catalogue.list(kind)) {
    all.rows.push_back({row.name, row.summary, row.source});
  }
  return all;
}

Listed detailed(const Context& context, const std::string& kind, const std::string& name) {
  Listed all{{"key", "value", "source"}, 3, {}};
  for (Detail& detail : details(context, kind, name)) {
    all.rows.push_back({std::move(detail.key), std::move(detail.value), std::move(detail.source)});
  }
  return all;
}

Screen screen_of(const Listed& all) {
  Screen screen;
  for (std::size_t c = 0; c < all.shown; ++c) {
    screen.columns.push_back({all.columns[c], false});
  }
  for (const auto& row : all.rows) {
    auto& cells = screen.rows.emplace_back();
    for (std::size_t c = 0; c < all.shown; ++c) {
      cells.push_back({row[c], Tone::plain});
    }
  }
  return screen;
}

Rows rows_of(const Listed& all) {
  Rows rows{all.columns, {}};
  for (const auto& row : all.rows) {
    rows.rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

std::string json_of(const Listed& all, const Request& request) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.list").member("schema_version", 1.0);
  json.member("kind", request.arguments[0]);
  if (request.arguments.size() > 1) {
    json.member("name", request.arguments[1]);
  }
  json.key("rows").begin_array();
  for (const auto& row : all.rows) {
    json.begin_object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      json.member(all.columns[c], row[c]);
    }
    json.end_object();
  }
  return json.end_array().end_object().take();
}

std::string names_of(const Context& context, const std::string& kind) {
  std::vector<std::string> names;
  if (kind == "schemes" || kind == "schedules") {
    for (const auto& row : listed(context, kind).rows) {
      names.push_back(row.front());
    }
  } else {
    names = context.catalogue.names(kind);
  }
  std::string text;
  for (const std::string& name : names) {
    text += name + "\n";
  }
  return text;
}

std::string text_of(const Context& context, const std::string& path) {
  const Request& request = context.request;
  const std::string& kind = request.arguments.front();
  const bool one = request.arguments.size() > 1;
  if (request.has("names")) {
    if (one || request.has("format")) {
      throw Error(Fault::value, "--names", one ? "beside a NAME" : "beside --format",
                  "--names with a kind alone");
    }
    return names_of(context, kind);
  }
  const Listed all = one ? detailed(context, kind, request.arguments[1]) : listed(context, kind);
  switch (request.format()) {
    case Format::table:
      return to_text(screen_of(all),
                     style_for(request.get("color", "auto"),
                               context.environment.out_is_terminal && path == "-", context.environment));
    case Format::json:
      return json_of(all, request);
    case Format::jsonl:
      return to_jsonl(rows_of(all));
    case Format::csv:
      return to_csv(rows_of(all));
    case Format::markdown:
      break;
  }
  return to_markdown(screen_of(all));
}

}  // namespace

std::string default_text(const Param& param) {
  return param.name + "=" + param.fallback;
}

int list(const Context& context) {
  const std::string& kind = context.request.arguments.front();
  const std::string_view usage = command("list").usage;
  const std::vector<std::string> kinds = choices(usage.substr(0, usage.find(' ')));
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw Error(Fault::value, "list", "unknown kind \"" + kind + "\"", one_of(kinds, kind));
  }
  const std::string path = context.request.get("output", "-");
  write_all(path, context.out, text_of(context, path));
  return kAnswered;
}

}  // namespace breakeven::cli
