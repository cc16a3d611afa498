// Among how many ranks nccl-tests ran, and how they were spread over hosts: what a run says of that, in
// whole, in part, or by its bandwidths alone.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/log_lines.h"

namespace breakeven {

/// The numbers of ranks that bandwidths allow.
struct RankRange {
  double low = 2, high = std::numeric_limits<double>::infinity();

  void narrow(double least, double most);
  /// Whether there is a whole number in it: times that were averaged differently than bandwidths leave none.
  [[nodiscard]] bool tells() const;
  [[nodiscard]] bool holds(std::size_t ranks) const;
};

struct RankCount {
  std::size_t workers = 0;  ///< 0: not known
  std::string from;
};
/// What a run says of its ranks.
struct NcclRanks {
  struct Member {
    std::string group, host;
    std::optional<std::size_t> device;
  };
  std::size_t workers = 0;               ///< of one collective; 0: not said
  std::string from;                      ///< what says it: "16 rank lines"
  std::size_t per_node = 0;              ///< 0: not said
  bool uneven = false;                   ///< it says: hosts had different numbers of them
  std::vector<RankCount> guesses;        ///< that count where bandwidths allow them, the best first
  std::size_t least = 2;                 ///< there are at least so many
  std::size_t in_process = 1;            ///< nThread x nGpus: every process has so many
  std::map<std::size_t, Member> listed;  ///< by rank: of one group, maybe not all of them
};

/// What the run says, or the one number that fits all that is known.
RankCount count_of(const NcclRanks& ranks, const RankRange& allowed);
/// The numbers that fit: "4", "1463 to 1500", "1464 to 1496, a multiple of 8"; empty: any.
std::string choice_of(const NcclRanks& ranks, const RankRange& allowed);

struct RankSpread {
  std::size_t per_node = 0;  ///< 0: not known
  bool uneven = false;
};
/// How `workers` ranks were spread. Of a list that is not whole the hosts and devices that it shows may leave
/// one way, were all hosts alike and filled one after the other.
RankSpread spread_of(const NcclRanks& ranks, std::size_t workers);

/// Collects what the lines of a log say of the ranks of one run.
class RankLines {
 public:
  /// "#  Rank  0 Group  0 Pid   21 on host-0 device  0 [0x35] Tesla T4"
  static bool is_rank(const Tokens& tokens);
  /// "# nThread 1 nGpus 8 minBytes 8 ...", with colons until 2019.
  static bool is_header(const Tokens& tokens);

  void take_rank(const Tokens& tokens, const LogLines& lines);
  void take_header(const Tokens& tokens, const LogLines& lines);
  /// What NCCL says of a communicator (NCCL_DEBUG=INFO).
  void take_info(const Tokens& tokens, const LogLines& lines);
  /// "...", by which people cut a list.
  void take_cut(const Tokens& tokens);
  /// "mpirun -np 16 ./build/all_reduce_perf -b 8 -g 1": the processes in front of `program`; 0: not said.
  static std::size_t processes(const Tokens& tokens, std::size_t program, const LogLines& lines);
  /// Of a run that ended before it measured. What NCCL says may stand above the list, in another buffer's
  /// order.
  void forget_list();
  void launched(std::size_t processes) { processes_ = processes; }
  [[nodiscard]] NcclRanks ranks() const;

 private:
  [[nodiscard]] bool one_group() const;

  std::map<std::size_t, NcclRanks::Member> members_;
  bool cut_ = false;                          ///< behind the last one
  std::map<std::size_t, std::string> hosts_;  ///< by NCCL: of ranks; empty: it contradicts itself
  std::set<std::size_t> sizes_, on_host_;     ///< by NCCL: of communicators; of them, on one host
  std::size_t in_process_ = 1, processes_ = 0;
};

}  // namespace breakeven
