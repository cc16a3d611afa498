// What a network benchmark measured, whatever program printed it, and the fabric that it makes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalogue.h"

namespace breakeven {

/// One row: an exchange among `workers` workers that took `time`.
struct CollectiveTime {
  Exchange exchange = Exchange::all_reduce;
  std::size_t workers = 0;   ///< 0: the file does not say
  std::size_t per_node = 0;  ///< 0: the file does not say
  bool uneven = false;       ///< it says: hosts had different numbers of them
  Bytes payload;             ///< what ONE worker contributes, as in Round
  Seconds time;
  std::size_t line = 0;  ///< of the file; 0: it has no lines
};

/// One direction of a link between two machines.
struct LinkRate {
  BytesPerSecond bandwidth;
  std::optional<Seconds> latency;
};

struct NetworkLog {
  std::string program;  ///< what printed it, with its version where the file says
  std::vector<CollectiveTime> rows;
  std::string choice;              ///< where rows leave the workers open: what can be, "1463 to 1500"
  std::optional<LinkRate> link;    ///< of a point-to-point test, which has no rows
  std::vector<std::string> notes;  ///< what was understood, dropped and why: a line each
};

struct NetworkOptions {
  std::string name = "imported";
  std::string source;                  ///< of the profile: the program and the file
  std::optional<std::size_t> workers;  ///< --ranks: replaces what the file says or does not say
  std::optional<std::size_t> per_node;
};

/// Readers, one a format. They throw Error (file) with the line for what is no such file, is cut short or
/// makes no sense. `text` is the whole file, `where` names it in errors.
/// nccl-tests' text or JSON, and RCCL's. `workers` replaces what the file says or leaves open: the payload of
/// an all-gather depends on it.
NetworkLog read_nccl_tests(std::string_view text, const std::string& where,
                           std::optional<std::size_t> workers = {});
NetworkLog read_osu(std::string_view text, const std::string& where,
                    std::optional<std::size_t> workers = {});  ///< osu_allreduce, ...
NetworkLog read_imb(std::string_view text, const std::string& where,
                    std::optional<std::size_t> workers = {});  ///< Intel MPI Benchmarks
NetworkLog read_gloo(std::string_view text, const std::string& where,
                     std::optional<std::size_t> workers = {});  ///< gloo's benchmark
NetworkLog read_deepspeed_comm(std::string_view text, const std::string& where,
                               std::optional<std::size_t> workers = {});  ///< DeepSpeed's, the cookbook's
NetworkLog read_collectives_csv(std::string_view text, const std::string& where,
                                std::optional<std::size_t> workers = {});  ///< collective,ranks,bytes,time_us
NetworkLog read_perftest(std::string_view text, const std::string& where);  ///< ib_write_bw, ib_send_bw, ...
NetworkLog read_iperf3(std::string_view text, const std::string& where);    ///< iperf3 --json

/// "all-reduce"
std::string words_of(Exchange exchange);
/// In one unit, so that lines can be compared.
std::string rate_text(BytesPerSecond rate);

/// The fabric of these rows: measured tables, and levels from an alpha-beta fit by relative error for what
/// the tables do not cover. Adds what was fitted, how well, and what could not be known to `notes`. Throws
/// Error (file) for a number of workers that neither the file nor the options give.
FabricProfile fabric_from(const NetworkLog& log, const NetworkOptions& options, const std::string& where,
                          std::vector<std::string>& notes);

}  // namespace breakeven
