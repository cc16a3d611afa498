#include "profiles/import/nccl_ranks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRanks = 1U << 20U;

/// The word behind `word`, with or without a colon; empty: there is none.
std::string_view after(const Tokens& tokens, std::string_view word) {
  const auto found = std::find_if(tokens.begin(), tokens.end(), [&](std::string_view token) {
    return token == word || (token.ends_with(':') && token.substr(0, token.size() - 1) == word);
  });
  return found == tokens.end() || found + 1 == tokens.end() ? std::string_view{} : *(found + 1);
}

/// "...", "[...]", "# .": dots, and what people put around them.
bool is_elision(const Tokens& tokens) {
  bool dots = false;
  for (const std::string_view token : tokens) {
    const std::string_view word = token == "\u2026" ? "..." : token;
    if (word.find_first_not_of("#.:[]()<>") != std::string_view::npos) {
      return false;
    }
    dots = dots || word.find('.') != std::string_view::npos || word == ":";
  }
  return dots;
}

/// "host-0" of "host-0:21:26", what NCCL puts in front of its lines.
std::string_view host_of(const Tokens& tokens) {
  const auto nccl = std::find(tokens.begin(), tokens.end(), "NCCL");
  if (nccl - tokens.begin() < 2) {
    return {};
  }
  std::string_view label = *(nccl - 2);
  for (int i = 0; i < 2; ++i) {  // the thread, the process
    const std::size_t colon = label.rfind(':');
    if (colon == std::string_view::npos || !is_count(label.substr(colon + 1))) {
      return {};
    }
    label = label.substr(0, colon);
  }
  return label;
}

using Listed = std::map<std::size_t, NcclRanks::Member>;

/// Hosts of `each` ranks, one after the other.
bool in_blocks(const Listed& listed, std::size_t each) {
  std::map<std::size_t, std::string> hosts;
  std::map<std::string, std::size_t> blocks;
  return std::all_of(listed.begin(), listed.end(), [&](const auto& entry) {
    const std::size_t block = entry.first / each;
    const std::string& host = entry.second.host;
    return hosts.emplace(block, host).first->second == host &&
           blocks.emplace(host, block).first->second == block;
  });
}

/// A rank's device is its place on the host, where a job does not hide the other ones.
bool devices_fit(const Listed& listed, std::size_t each) {
  return std::all_of(listed.begin(), listed.end(), [&](const auto& entry) {
    return !entry.second.device || *entry.second.device == entry.first % each;
  });
}

RankSpread by_blocks(const Listed& listed, std::size_t workers, std::size_t in_process) {
  std::vector<std::size_t> fits;
  for (std::size_t each = in_process; each <= workers; each += in_process) {
    if (workers % each == 0 && in_blocks(listed, each)) {
      fits.push_back(each);
    }
  }
  const bool devices = std::any_of(listed.begin(), listed.end(),
                                   [](const auto& entry) { return entry.second.device.value_or(0) > 0; });
  if (fits.size() > 1 && devices) {
    std::erase_if(fits, [&](std::size_t each) { return !devices_fit(listed, each); });
  }
  return {fits.size() == 1 ? fits.front() : 0, false};
}

/// The multiples of what a process has that fit.
struct Choice {
  double low, high;
};
Choice fitting(const NcclRanks& ranks, const RankRange& allowed) {
  const auto step = static_cast<double>(ranks.in_process);
  const double low = allowed.tells() ? allowed.low : 2;
  const double high = allowed.tells() ? allowed.high : std::numeric_limits<double>::infinity();
  return {std::ceil(std::max(low, static_cast<double>(ranks.least)) / step) * step,
          std::floor(high / step) * step};
}

}  // namespace

void RankRange::narrow(double least, double most) {
  low = std::max(low, least);
  high = std::min(high, most);
}

bool RankRange::tells() const {
  return std::isfinite(low) && std::ceil(low) <= high;
}

bool RankRange::holds(std::size_t ranks) const {
  return static_cast<double>(ranks) >= low && static_cast<double>(ranks) <= high;
}

RankCount count_of(const NcclRanks& ranks, const RankRange& allowed) {
  if (ranks.workers > 0) {
    return {ranks.workers, ranks.from};
  }
  for (const RankCount& guess : ranks.guesses) {
    if (guess.workers >= ranks.least && (!allowed.tells() || allowed.holds(guess.workers))) {
      return guess;
    }
  }
  // From here on two printed decimals no longer tell a group from its neighbour: they differ by step/n^2.
  constexpr double kMostInferred = 64;
  const auto step = static_cast<double>(ranks.in_process);
  const Choice fits = fitting(ranks, allowed);
  if (!allowed.tells() || fits.low > fits.high || fits.low + step <= fits.high ||
      fits.low * fits.low > kMostInferred * kMostInferred * step) {
    return {};
  }
  return {static_cast<std::size_t>(fits.low), "busbw / algbw"};
}

std::string choice_of(const NcclRanks& ranks, const RankRange& allowed) {
  const Choice fits = fitting(ranks, allowed);
  const bool any = std::isinf(fits.high);
  if (fits.low > fits.high || (any && fits.low <= 2 && ranks.in_process == 1)) {
    return {};
  }
  constexpr int kDigits = 7;
  std::string text = significant(fits.low, kDigits);
  if (fits.low < fits.high) {
    text += any ? " or more" : " to " + significant(fits.high, kDigits);
    text += ranks.in_process == 1 ? "" : ", a multiple of " + std::to_string(ranks.in_process);
  }
  return text;
}

RankSpread spread_of(const NcclRanks& ranks, std::size_t workers) {
  if (workers == 0 || (ranks.workers > 0 && workers != ranks.workers) || workers % ranks.in_process != 0) {
    return {};
  }
  if (ranks.per_node > 0 || ranks.uneven) {
    return {workers % std::max<std::size_t>(ranks.per_node, 1) == 0 ? ranks.per_node : 0, ranks.uneven};
  }
  if (ranks.listed.size() != workers) {
    return by_blocks(ranks.listed, workers, ranks.in_process);
  }
  std::map<std::string, std::size_t> hosts;
  for (const auto& [rank, member] : ranks.listed) {
    ++hosts[member.host];
  }
  const std::size_t first = hosts.begin()->second;
  const bool even =
      std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) { return host.second == first; });
  return {even ? first : 0, !even};
}

bool RankLines::is_rank(const Tokens& tokens) {
  return has(tokens, "Pid") && is_count(after(tokens, "Rank")) && !after(tokens, "on").empty();
}

bool RankLines::is_header(const Tokens& tokens) {
  return !after(tokens, "nThread").empty();
}

void RankLines::take_rank(const Tokens& tokens, const LogLines& lines) {
  NcclRanks::Member member{std::string(after(tokens, "Group")), std::string(after(tokens, "on")), {}};
  if (const std::string_view device = after(tokens, "device"); is_count(device)) {
    member.device = lines.count(device);
  }
  members_[lines.count(after(tokens, "Rank"))] = std::move(member);
  cut_ = false;
}

void RankLines::take_header(const Tokens& tokens, const LogLines& lines) {
  in_process_ = 1;
  for (const char* word : {"nThread", "nGpus"}) {
    if (const std::string_view count = after(tokens, word); is_count(count)) {
      in_process_ *= std::clamp<std::size_t>(lines.count(count), 1, kMostRanks);
    }
  }
  in_process_ = in_process_ > kMostRanks ? 1 : in_process_;
}

void RankLines::take_cut(const Tokens& tokens) {
  cut_ = cut_ || (!members_.empty() && is_elision(tokens));
}

void RankLines::take_info(const Tokens& tokens, const LogLines& lines) {
  if (!has(tokens, "NCCL") || !has(tokens, "INFO")) {
    return;
  }
  // "host-0:21:26 [0] NCCL INFO comm 0x7f rank 1 nranks 16 cudaDev 1 ...", "... rank 1 nRanks 16 nNodes 2
  // localRanks 8 localRank 1 ..."
  const bool lower = !after(tokens, "nranks").empty();
  const std::string_view size = after(tokens, lower ? "nranks" : "nRanks");
  const std::string_view rank = after(tokens, "rank");
  const std::string_view host = host_of(tokens);
  if (!is_count(size) || !is_count(rank)) {
    return;
  }
  sizes_.insert(lines.count(size));
  if (!host.empty()) {
    const auto [found, added] = hosts_.emplace(lines.count(rank), host);
    found->second = added || found->second == host ? found->second : std::string();
  }
  if (const std::string_view local = after(tokens, "localRanks"); is_count(local)) {
    on_host_.insert(lines.count(local));
  }
}

std::size_t RankLines::processes(const Tokens& tokens, std::size_t program, const LogLines& lines) {
  for (std::size_t i = 0; i + 1 < program; ++i) {
    const std::string_view word = tokens[i];
    if ((word == "-np" || word == "-n" || word == "--np" || word == "--ntasks") && is_count(tokens[i + 1])) {
      return std::min(lines.count(tokens[i + 1]), kMostRanks);
    }
  }
  return 0;
}

void RankLines::forget_list() {
  members_.clear();
  cut_ = false;
}

bool RankLines::one_group() const {
  return std::all_of(members_.begin(), members_.end(),
                     [&](const auto& entry) { return entry.second.group == members_.begin()->second.group; });
}

NcclRanks RankLines::ranks() const {
  NcclRanks ranks;
  ranks.in_process = in_process_;
  const std::size_t highest = members_.empty() ? 0 : members_.rbegin()->first + 1;
  const bool one = one_group();
  for (const auto& [rank, member] : members_) {
    if (member.group == members_.begin()->second.group) {
      ranks.listed.emplace(rank, member);
    }
  }
  if (highest > 0 && members_.size() == highest && !cut_) {
    ranks.workers = ranks.listed.size();
    ranks.from = std::to_string(ranks.workers) + (ranks.workers == 1 ? " rank line" : " rank lines");
    return ranks;
  }
  if (!one) {
    ranks.listed.clear();  // what is missing of one group cannot be told
  }
  ranks.least = std::max<std::size_t>(ranks.least, one ? highest : 0);
  if (one && highest > 0 && !cut_) {
    ranks.guesses.push_back({highest, "the highest rank"});
  }
  if (processes_ > 0) {
    ranks.guesses.push_back(
        {processes_ * in_process_, std::to_string(processes_) + " processes of the command"});
  }
  if (sizes_.size() == 1 && *sizes_.begin() >= ranks.least && *sizes_.begin() <= kMostRanks) {
    ranks.workers = *sizes_.begin();
    ranks.from = "nranks of NCCL INFO";
    ranks.per_node = on_host_.size() == 1 ? *on_host_.begin() : 0;
    ranks.uneven = on_host_.size() > 1;
    for (const auto& [rank, host] : hosts_) {
      if (one && !host.empty() && rank < ranks.workers) {
        ranks.listed.emplace(rank, NcclRanks::Member{{}, host, {}});
      }
    }
  }
  return ranks;
}

}  // namespace breakeven
