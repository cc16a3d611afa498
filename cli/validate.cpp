// `breakeven validate`: how close predictions come to what was published and measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "cli/app.h"
#include "cli/command.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/table.h"
#include "model/error.h"
#include "profiles/published.h"

namespace breakeven::cli {
namespace {

struct Validated {
  Published source;
  CheckedSource result;
};

/// One case beside what was predicted for it.
struct Row {
  const Published* source;
  const PublishedCase* asked;
  const CheckedCase* answer;
};

std::vector<Row> rows_of(const std::vector<Validated>& all) {
  std::vector<Row> rows;
  for (const Validated& one : all) {
    for (std::size_t i = 0; i < one.source.cases.size(); ++i) {
      rows.push_back({&one.source, &one.source.cases[i], &one.result.cases[i]});
    }
  }
  return rows;
}

// Below this share an error is rounding, which compilers do differently.
constexpr double kRounding = 1e-8;

std::string percent(double error, bool points = false) {
  if (std::abs(error) < kRounding) {
    return "0";
  }
  const double size = std::abs(error) * 100;
  return significant(size, size < 0.01 ? 1 : size < 100 ? 2 : 3) + (points ? " pp" : " %");
}

std::string signed_percent(const Row& row) {
  const double error = row.answer->error;
  return std::abs(error) < kRounding ? "0"
                                     : (error < 0 ? "-" : "+") + percent(error, row.asked->tolerance.points);
}

std::string bound_text(const Published& source) {
  std::string text;
  if (source.least_within) {
    text = percent(*source.least_within) + " within";
  }
  if (source.largest_error) {
    text += (text.empty() ? "" : ", ") + percent(*source.largest_error) + " at most";
  }
  return text;
}

Screen sources_screen(const std::vector<Validated>& all) {
  Screen screen;
  screen.columns = {{"source"},       {"cases", true},         {"within tolerance", true},
                    {"median", true}, {"largest error", true}, {"bound"},
                    {"holds"}};
  for (const Validated& one : all) {
    screen.rows.push_back({{one.source.name},
                           {std::to_string(one.source.cases.size())},
                           {std::to_string(one.result.within)},
                           {percent(one.result.median)},
                           {percent(one.result.largest)},
                           {bound_text(one.source)},
                           {one.result.holds ? "yes" : "no", one.result.holds ? Tone::good : Tone::bad}});
  }
  return screen;
}

Screen cases_screen(const std::vector<Row>& rows) {
  Screen screen;
  screen.columns = {
      {"source"},          {"case"},        {"scheme"},          {"quantity"},      {"expected", true},
      {"predicted", true}, {"error", true}, {"tolerance", true}, {"likely missing"}};
  for (const Row& row : rows) {
    screen.rows.push_back({{row.source->name},
                           {row.asked->id},
                           {row.asked->scheme},
                           {std::string(name(row.asked->figure))},
                           {row.asked->text},
                           {row.answer->text},
                           {signed_percent(row), row.answer->within ? Tone::plain : Tone::bad},
                           {to_string(row.asked->tolerance)},
                           {row.asked->missing}});
  }
  return screen;
}

/// Where a prediction is outside its tolerance, the furthest first.
std::vector<Row> misses(std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return row.answer->within; });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.answer->error) > std::abs(b.answer->error);
  });
  return rows;
}

/// For people: every source, and the worst cases, or every case of the sources that were named.
template <class Write>
std::string pages(const std::vector<Validated>& all, bool named, std::size_t most, Write&& write) {
  std::string text = write(sources_screen(all));
  std::vector<Row> rows = rows_of(all);
  const std::size_t total = rows.size();
  rows = named ? rows : misses(std::move(rows));
  const std::size_t shown = named ? rows.size() : std::min(rows.size(), most);
  const auto holding =
      std::count_if(all.begin(), all.end(), [](const Validated& v) { return v.result.holds; });
  text += fmt::format("\n{} cases; {} of {} sources hold their bound", grouped(total), holding, all.size());
  if (shown > 0) {
    text += named ? ". Every case:\n\n"
                  : fmt::format("; {} cases are outside their tolerance{}:\n\n", rows.size(),
                                shown < rows.size() ? fmt::format(", the worst {}", shown) : "");
    rows.resize(shown);
    text += write(cases_screen(rows));
  } else {
    text += ".\n";
  }
  return text;
}

Rows data_of(const std::vector<Row>& all) {
  Rows rows{{"source", "case", "kind", "quantity", "scheme", "expected_text", "expected", "predicted",
             "error", "tolerance", "points", "within", "missing"},
            {}};
  for (const Row& row : all) {
    const bool number = row.asked->figure != Figure::ordering && row.asked->figure != Figure::sign;
    rows.rows.push_back({row.source->name, row.asked->id, std::string(name(row.asked->kind)),
                         std::string(name(row.asked->figure)), row.asked->scheme, row.asked->text,
                         number ? Value(row.asked->expected) : Value(),
                         row.asked->figure != Figure::ordering ? Value(row.answer->predicted) : Value(),
                         row.answer->error, row.asked->tolerance.value, row.asked->tolerance.points,
                         row.answer->within, row.asked->missing});
  }
  return rows;
}

void write_case(JsonWriter& json, const Row& row) {
  json.begin_object(true).member("id", row.asked->id).member("kind", name(row.asked->kind));
  json.member("quantity", name(row.asked->figure)).member("scheme", row.asked->scheme);
  json.member("expected_text", row.asked->text).member("predicted_text", row.answer->text);
  if (row.asked->figure != Figure::ordering) {
    if (row.asked->figure != Figure::sign) {
      json.member("expected", row.asked->expected);
    }
    json.member("predicted", row.answer->predicted);
  }
  json.member("error", row.answer->error).member("tolerance", row.asked->tolerance.value);
  json.member("points", row.asked->tolerance.points).member("within", row.answer->within);
  json.member("missing", row.asked->missing).end_object();
}

std::string json_of(const std::vector<Validated>& all) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.validate").member("schema_version", 1.0);
  json.key("sources").begin_array();
  for (const Validated& one : all) {
    json.begin_object().member("name", one.source.name).member("summary", one.source.summary);
    json.member("source", one.source.source);
    json.member("cases", static_cast<double>(one.source.cases.size()));
    json.member("within", static_cast<double>(one.result.within));
    json.member("median_error", one.result.median).member("largest_error", one.result.largest);
    json.key("bound").begin_object(true);
    if (one.source.least_within) {
      json.member("within", *one.source.least_within);
    }
    if (one.source.largest_error) {
      json.member("largest", *one.source.largest_error);
    }
    json.end_object().member("holds", one.result.holds);
    json.key("results").begin_array();
    for (std::size_t i = 0; i < one.source.cases.size(); ++i) {
      write_case(json, {&one.source, &one.source.cases[i], &one.result.cases[i]});
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().take();
}

std::string text_of(const Context& context, const std::string& path, const std::vector<Validated>& all) {
  constexpr std::size_t kScreenful = 12;
  const bool named = !context.request.arguments.empty();
  switch (context.request.format()) {
    case Format::table: {
      const Style style = style_for(context.request.get("color", "auto"),
                                    context.environment.out_is_terminal && path == "-", context.environment);
      return pages(all, named, kScreenful, [&](const Screen& screen) { return to_text(screen, style); });
    }
    case Format::json:
      return json_of(all);
    case Format::jsonl:
      return to_jsonl(data_of(rows_of(all)));
    case Format::csv:
      return to_csv(data_of(rows_of(all)));
    case Format::markdown:
      break;
  }
  return pages(all, named, SIZE_MAX, [](const Screen& screen) { return to_markdown(screen); });
}

}  // namespace

int validate(const Context& context) {
  std::vector<std::string> names = context.request.arguments;
  if (names.empty()) {
    names = context.catalogue.names("published");
  }
  std::vector<Validated> all;
  for (const std::string& name : names) {
    const Catalogue::Text text = context.catalogue.published(name);
    Validated one{read_published(text.json, text.where), {}};
    Catalogue catalogue = context.catalogue;
    catalogue.add_source(name);
    one.result = check(one.source, catalogue, context.registry);
    for (const CheckedCase& answer : one.result.cases) {
      for (const std::string& warning : answer.warnings) {
        note(context, one.source.name + ": case " + answer.id + ": " + warning);
      }
    }
    all.push_back(std::move(one));
  }
  const std::string path = context.request.get("output", "-");
  write_all(path, context.out, text_of(context, path, all));
  const auto broken =
      std::count_if(all.begin(), all.end(), [](const Validated& v) { return !v.result.holds; });
  if (broken > 0) {
    context.err << fmt::format("breakeven: {} of {} sources {} bound\n", broken, all.size(),
                               broken == 1 ? "breaks its" : "break their");
  }
  return broken > 0 ? kFailed : kAnswered;
}

}  // namespace breakeven::cli
