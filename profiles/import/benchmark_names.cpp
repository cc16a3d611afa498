#include "profiles/import/benchmark_names.h"

#include <algorithm>
#include <array>

#include "model/error.h"
#include "model/units.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::string_view kElements = "{n}";
constexpr std::array kSides = {CodecSide::encode, CodecSide::decode, CodecSide::decode_next};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> segments;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    segments.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

/// "KEY:VALUE" -> VALUE.
std::optional<std::string_view> value_of(std::string_view segment, std::string_view key) {
  const bool there = segment.size() > key.size() && segment.starts_with(key) && segment[key.size()] == ':';
  return there ? std::optional(segment.substr(key.size() + 1)) : std::nullopt;
}

/// A whole number that a double holds exactly.
std::optional<double> whole_number(std::string_view digits) {
  constexpr std::size_t kMostDigits = 15;
  if (digits.empty() || digits.size() > kMostDigits || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return std::nullopt;
  }
  return static_cast<double>(parse_count(digits));
}

/// What Google Benchmark puts behind a name by itself.
bool is_suffix(std::string_view segment) {
  constexpr std::array<std::string_view, 3> words = {"real_time", "process_time", "manual_time"};
  constexpr std::array<std::string_view, 5> keys = {"min_time", "min_warmup_time", "iterations", "repeats",
                                                    "threads"};
  return std::find(words.begin(), words.end(), segment) != words.end() ||
         std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return value_of(segment, key).has_value(); });
}

/// Whether `text` is what `pattern` says; `elements` is what stands at {n}. When something does not fit, the
/// last * takes one more character.
bool matches(std::string_view pattern, std::string_view text, std::string_view& elements) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_star = std::string_view::npos;
  std::size_t star_end = 0;
  while (t < text.size() || p < pattern.size()) {
    if (pattern.substr(p).starts_with(kElements)) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789", t), text.size());
      if (end > t && (t == 0 || !is_digit(text[t - 1]))) {
        elements = text.substr(t, end - t);
        p += kElements.size();
        t = end;
        continue;
      }
    } else if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_end = t;
      continue;
    } else if (p < pattern.size() && t < text.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
      continue;
    }
    if (after_star == std::string_view::npos || star_end >= text.size()) {
      return false;
    }
    p = after_star;
    t = ++star_end;
  }
  return true;
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& segments,
             std::string_view& elements) {
  if (pattern.size() > segments.size() ||
      !std::all_of(segments.begin() + static_cast<std::ptrdiff_t>(pattern.size()), segments.end(),
                   is_suffix)) {
    return false;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (!matches(pattern[i], segments[i], elements)) {
      return false;
    }
  }
  return true;
}

/// SIDE/SPEC/ELEMENTS and what follows.
std::optional<NamedBenchmark> read_own(const std::vector<std::string>& segments) {
  if (segments.size() < 3 || segments[1].empty()) {
    return std::nullopt;
  }
  const auto* side =
      std::find_if(kSides.begin(), kSides.end(), [&](CodecSide known) { return name(known) == segments[0]; });
  const auto elements = whole_number(segments[2]);
  if (side == kSides.end() || !elements) {
    return std::nullopt;
  }
  NamedBenchmark result{*side, segments[1], *elements, std::nullopt, true};
  for (const std::string& segment : segments) {
    const auto kind = value_of(segment, "kind");
    result.normal = result.normal && (!kind || *kind == "normal");
  }
  return result;
}

}  // namespace

std::string_view name(CodecSide side) {
  constexpr std::array<std::string_view, 3> names = {"encode", "decode", "decode_next"};
  return names[static_cast<std::size_t>(side)];
}

BenchmarkNames::BenchmarkNames(const std::vector<std::string>& patterns,
                               const std::function<std::string(const std::string& spec)>& canonical) {
  for (const std::string& given : patterns) {
    std::size_t split_at = std::string::npos;
    Pattern pattern;
    for (const CodecSide side : kSides) {
      const std::string separator = "=" + std::string(name(side)) + ":";
      const std::size_t at = given.find(separator);
      if (at < split_at) {
        split_at = at;
        pattern.side = side;
        pattern.spec = given.substr(at + separator.size());
      }
    }
    if (split_at == std::string::npos || split_at == 0 || pattern.spec.empty()) {
      throw Error(Fault::value, quote(given), "is no pattern of names",
                  "PATTERN=encode:SPEC, PATTERN=decode:SPEC or PATTERN=decode_next:SPEC");
    }
    const std::string names = given.substr(0, split_at);
    const std::size_t elements = names.find(kElements);
    if (elements == std::string::npos || names.find(kElements, elements + 1) != std::string::npos) {
      throw Error(Fault::value, quote(given),
                  elements == std::string::npos ? "does not say where the elements stand"
                                                : "says twice where the elements stand",
                  "{n} once in the pattern");
    }
    try {
      pattern.spec = canonical ? canonical(pattern.spec) : pattern.spec;
    } catch (const Error& error) {
      throw error.inside(quote(given), Fault::value);
    }
    pattern.given = given;
    pattern.segments = split(names);
    patterns_.push_back(std::move(pattern));
  }
}

std::optional<NamedBenchmark> BenchmarkNames::read(const std::string& name) {
  const std::vector<std::string> segments = split(name);
  std::optional<NamedBenchmark> result;
  const Pattern* taken = nullptr;
  for (Pattern& pattern : patterns_) {
    std::string_view digits;
    if (!matches(pattern.segments, segments, digits)) {
      continue;
    }
    if (taken != nullptr) {
      pattern.taken_by = taken->given;
      continue;
    }
    const auto elements = whole_number(digits);
    if (!elements) {
      return std::nullopt;
    }
    pattern.used = true;
    taken = &pattern;
    result = NamedBenchmark{pattern.side, pattern.spec, *elements, std::nullopt, true};
  }
  if (!result) {
    result = read_own(segments);
  }
  for (const std::string& segment : segments) {
    const auto threads = value_of(segment, "threads");
    const auto number = threads ? whole_number(*threads) : std::nullopt;
    if (result && number) {
      result->threads = static_cast<std::size_t>(*number);
    }
  }
  return result;
}

std::optional<BenchmarkNames::Unused> BenchmarkNames::unused() const {
  const auto found =
      std::find_if(patterns_.begin(), patterns_.end(), [](const Pattern& pattern) { return !pattern.used; });
  return found == patterns_.end() ? std::nullopt : std::optional(Unused{found->given, found->taken_by});
}

}  // namespace breakeven
