#include "model/error.h"

#include <algorithm>
#include <numeric>

namespace breakeven {
namespace {

std::string sentence(const std::string& where, const std::string& wrong, const std::string& expected) {
  std::string text = where.empty() ? wrong : where + ": " + wrong;
  if (!expected.empty()) {
    text += ": expected " + expected;
  }
  return text;
}

/// Levenshtein distance with adjacent swaps counted as one change.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before = row;
    std::swap(row, next);
  }
  return row[b.size()];
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

}  // namespace

Error::Error(Fault fault, std::string where, std::string wrong, std::string expected)
    : std::runtime_error(sentence(where, wrong, expected)),
      fault_(fault),
      where_(std::move(where)),
      wrong_(std::move(wrong)),
      expected_(std::move(expected)) {}

Error Error::inside(const std::string& outer, Fault fault) const {
  return {fault, where_.empty() ? outer : outer + ": " + where_, wrong_, expected_};
}

std::string nearest(std::string_view name, std::span<const std::string> known) {
  // A user types the start of a name, or gets a few letters wrong: one change in three letters at most.
  constexpr std::size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) {
    return {};
  }
  std::string best;
  std::size_t smallest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t changes = distance(lower(name), lower(candidate));
    if (changes < smallest) {
      smallest = changes;
      best = candidate;
    }
  }
  if (best.empty() && name.size() >= 3) {
    const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
      return lower(candidate).starts_with(lower(name));
    });
    if (longer != known.end()) {
      best = *longer;
    }
  }
  return best;
}

std::string one_of(std::span<const std::string> known, std::string_view name) {
  constexpr std::size_t kMost = 24;
  std::string text = known.size() == 1 ? "" : "one of ";
  for (std::size_t i = 0; i < std::min(known.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + known[i];
  }
  if (known.size() > kMost) {
    text += ", ... (" + std::to_string(known.size()) + " in all)";
  }
  const std::string meant = nearest(name, known);
  return meant.empty() ? text : text + " (did you mean " + meant + "?)";
}

}  // namespace breakeven
