#include "compressors/plugin_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compressors/plugin_compressor.h"
#include "model/error.h"

namespace breakeven {
namespace {

constexpr std::uint64_t kMostSchemes = 64, kMostParams = 64, kMostChoices = 64;
constexpr std::size_t kLongestName = 64, kLongestText = 1024;

/// Checks rows, and names their place in errors.
class Reader {
 public:
  explicit Reader(std::string where) : where_(std::move(where)) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] Reader inside(const std::string& place) const { return Reader(where_ + ": " + place); }

  [[noreturn]] void refuse(const std::string& wrong, const std::string& expected) const {
    throw Error(Fault::file, where_, wrong, expected);
  }
  void require(bool holds, const std::string& wrong, const std::string& expected) const {
    if (!holds) {
      refuse(wrong, expected);
    }
  }

  /// A line of text.
  [[nodiscard]] std::string text(const char* from, const std::string& what) const {
    require(from != nullptr, what + " is NULL", "a line of text");
    require(one_line(from, kLongestText) != nullptr, what + " is no line of text",
            "at most " + std::to_string(kLongestText - 1) + " bytes that can be printed");
    return from;
  }
  /// What a spec ("name:key=value") can hold.
  [[nodiscard]] std::string word(const char* from, const std::string& what, const char* also) const {
    std::string read = text(from, what);
    const auto fits = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             (c != '\0' && std::string_view(also).find(c) != std::string_view::npos);
    };
    require(!read.empty() && read.size() <= kLongestName && std::all_of(read.begin(), read.end(), fits),
            what + " \"" + read + "\" cannot be written in a spec",
            "1 to " + std::to_string(kLongestName) + " of a-z 0-9 " + also);
    return read;
  }
  /// A word that begins with a letter.
  [[nodiscard]] std::string name(const char* from, const std::string& what) const {
    constexpr auto kAlso = "_-";
    std::string read = word(from, what, kAlso);
    require(read.front() >= 'a' && read.front() <= 'z', what + " \"" + read + "\" begins with no letter",
            "a-z");
    return read;
  }
  template <class Row>
  [[nodiscard]] std::span<const Row> rows(const Row* first, std::uint64_t count, std::uint64_t most,
                                          const std::string& what) const {
    require(count <= most, std::to_string(count) + " " + what, "at most " + std::to_string(most));
    require(first != nullptr || count == 0, what + " are NULL", "as many as their count says");
    return {first, count};
  }
  template <class Row>
  void reserved(const Row& row) const {
    require(
        std::all_of(std::begin(row.reserved), std::end(row.reserved), [](auto word) { return word == 0; }),
        "a reserved field is set", "0");
  }

 private:
  std::string where_;
};

constexpr auto kChoice = "_-.+ABCDEFGHIJKLMNOPQRSTUVWXYZ";

Param read_param(const Reader& scheme, const breakeven_param& row) {
  Param param;
  param.name = scheme.name(row.name, "the name of a parameter");
  const Reader reader = scheme.inside("parameter \"" + param.name + "\"");
  reader.require(param.name != "encode" && param.name != "decode", "the name is taken",
                 "another: every scheme takes times of that name");
  reader.require(row.kind >= BREAKEVEN_INTEGER && row.kind <= BREAKEVEN_CHOICE,
                 "kind is " + std::to_string(row.kind), "0 to 5");
  param.kind = static_cast<Param::Kind>(row.kind);
  param.fallback = reader.text(row.fallback, "fallback");
  param.help = reader.text(row.help, "help");
  reader.reserved(row);
  reader.require(row.above_low == 0 || row.above_low == 1, "above_low is " + std::to_string(row.above_low),
                 "0 or 1");
  param.above_low = row.above_low == 1;
  const auto choices = reader.rows(row.choices, row.choice_count, kMostChoices, "choices");
  if (param.kind == Param::Kind::choice) {
    reader.require(!choices.empty(), "no choices", "one at least");
    for (const char* choice : choices) {
      param.choices.push_back(reader.word(choice, "choice", kChoice));
    }
  } else {
    reader.require(choices.empty(), "choices for what is no choice", "none");
    reader.require(std::isfinite(row.low) && std::isfinite(row.high) && row.low <= row.high,
                   "low is " + exact(row.low) + " and high " + exact(row.high), "low <= high");
    param.low = row.low;
    param.high = row.high;
  }
  try {
    const Params fallback({param}, "");
  } catch (const Error& error) {
    throw Error(Fault::file, reader.where() + ": fallback", error.wrong(), error.expected());
  }
  return param;
}

void check_functions(const Reader& reader, const breakeven_scheme& row) {
  const auto needs = [&](bool there, const char* function) {
    reader.require(there, std::string("no function ") + function, "one");
  };
  needs(row.make != nullptr, "make");
  needs(row.destroy != nullptr, "destroy");
  needs(row.plan != nullptr, "plan");
  if (row.kernel_create != nullptr || row.kernel_destroy != nullptr || row.encode != nullptr ||
      row.decode != nullptr) {
    needs(row.kernel_create != nullptr, "kernel_create");
    needs(row.kernel_destroy != nullptr, "kernel_destroy");
    needs(row.encode != nullptr, "encode");
    needs(row.decode != nullptr, "decode");
  }
}

Scheme read_scheme(const Reader& file, const breakeven_scheme& row,
                   const std::shared_ptr<const void>& owner) {
  Scheme scheme;
  scheme.name = file.name(row.name, "the name of a scheme");
  const Reader reader = file.inside("scheme \"" + scheme.name + "\"");
  scheme.summary = reader.text(row.summary, "summary");
  reader.require(!scheme.summary.empty(), "summary is empty", "a line of text");
  scheme.source = reader.text(row.source, "source");
  reader.require(row.placement >= BREAKEVEN_SERIAL && row.placement <= BREAKEVEN_HOST,
                 "placement is " + std::to_string(row.placement), "0 to 3");
  scheme.placement = static_cast<Placement>(row.placement);
  reader.require(row.same_steps == 0 || row.same_steps == 1,
                 "same_steps is " + std::to_string(row.same_steps), "0 or 1");
  scheme.same_steps = row.same_steps == 1;
  reader.reserved(row);
  std::set<std::string> names;
  for (const breakeven_param& param : reader.rows(row.params, row.param_count, kMostParams, "parameters")) {
    scheme.params.push_back(read_param(reader, param));
    const std::string& name = scheme.params.back().name;
    reader.require(names.insert(name).second, "two parameters \"" + name + "\"", "names of their own");
  }
  check_functions(reader, row);
  scheme.make = [plugin = PluginScheme{owner, &row, file.where(), reader.where()}](const Params& values) {
    return make_plugin_compressor(plugin, values);
  };
  return scheme;
}

}  // namespace

std::vector<Scheme> schemes_of(const breakeven_plugin_v1_table& table, const std::string& name,
                               const std::shared_ptr<const void>& owner) {
  const Reader reader(name);
  reader.require(table.struct_size == sizeof(table),
                 "the table has struct_size " + std::to_string(table.struct_size),
                 std::to_string(sizeof(table)));
  reader.reserved(table);
  std::vector<Scheme> schemes;
  std::set<std::string> names;
  for (const breakeven_scheme& row :
       reader.rows(table.schemes, table.scheme_count, kMostSchemes, "schemes")) {
    reader.require(row.struct_size == sizeof(row),
                   "scheme " + std::to_string(schemes.size() + 1) + " has struct_size " +
                       std::to_string(row.struct_size),
                   std::to_string(sizeof(row)));
    schemes.push_back(read_scheme(reader, row, owner));
    const std::string& own = schemes.back().name;
    reader.require(names.insert(own).second, "two schemes \"" + own + "\"", "names of their own");
  }
  reader.require(!schemes.empty(), "no schemes", "one at least");
  return schemes;
}

}  // namespace breakeven
