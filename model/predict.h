// Scenario x scheme -> one step's time, by the timeline or by the closed form.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/collectives.h"
#include "model/compressor.h"
#include "model/scenario.h"
#include "model/timeline.h"

namespace breakeven {

class MessagePrices;

struct Prediction {
  Seconds step;
  Breakdown parts;
  Placement placement = Placement::serial;
  std::vector<Span> spans;  ///< timeline only
  std::vector<Message> messages;
  std::vector<Plan> plans;                       ///< one a message, every Work::known filled in
  std::vector<std::vector<Transfer>> transfers;  ///< one a round
  Bytes payload;                                 ///< what one worker contributes in a step
  Bytes wire;                                    ///< what one worker sends in a step
  Bytes state;                                   ///< extra memory of a worker
  Origin codec = Origin::given;  ///< the least trustworthy of its codec times; given when it has none
  bool extrapolated = false;     ///< some transfer lies outside the fabric's measured tables
};

/// Throws Error when the method cannot express the placement.
Prediction predict(const Scenario& scenario, const Compressor& compressor,
                   Placement natural = Placement::serial);

/// What may vary while messages and plans stay the same.
struct Variation {
  double codec = 1;    ///< factor on encode and decode times
  double compute = 1;  ///< factor on forward and backward times
};

/// The same as predict(), prepared once and run many times: everything is priced that does not depend on the
/// network. `compressor` must outlive it.
class Forecast {
 public:
  Forecast(const Scenario& scenario, const Compressor& compressor, Placement natural = Placement::serial);
  ~Forecast();

  /// One step over `fabric` (which may differ from the scenario's in its numbers). Takes microseconds; not
  /// thread-safe.
  Breakdown run(const Fabric& fabric, const Variation& variation = {});
  /// With another gamma than the scenario's.
  Breakdown run(const Fabric& fabric, const Variation& variation, double gamma);
  /// Over the fabric of the last run(): nothing is priced again.
  Breakdown rerun(const Variation& variation, double gamma) { return rerun(variation, gamma, nullptr); }
  /// Whether a measured table priced any exchange of the last run().
  [[nodiscard]] bool used_table() const;
  /// The exchanges of the last run(), message by message.
  [[nodiscard]] const std::vector<Seconds>& exchanges() const { return exchange_; }

  /// The messages as the last run() had them on the timeline.
  [[nodiscard]] const std::vector<Chain>& chains() const { return scaled_; }

  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }  ///< one a message

  [[nodiscard]] bool has_codec() const { return has_codec_; }
  [[nodiscard]] Origin codec() const { return codec_; }
  [[nodiscard]] Seconds codec_time() const { return encode_ + decode_; }

 private:
  friend Prediction predict(const Scenario&, const Compressor&, Placement);
  struct Hop {  // one exchange of a message
    std::size_t message = 0, round = 0, stage = 0;
    Exchange exchange = Exchange::none;
    Bytes payload;
    std::optional<Bytes> summed;
    std::size_t distance = 0;  // of a tree step
    Element element = Element::f32;
    bool pulls = false;  // the next stage is the way back
  };
  void prepare(const Scenario& scenario, const Compressor& compressor);
  void arrange(const Scenario& scenario, const Compressor& compressor);
  [[nodiscard]] MessageCosts costs(const Scenario& scenario);
  void add_exchange(const Round& round, std::size_t message, std::size_t index, Chain& chain);
  [[nodiscard]] bool sends_everything() const;
  void build_chains(const Scenario& scenario);
  void surround(std::size_t message, Chain& chain, const Stage& copy, bool back);
  void add_host_copies(const Scenario& scenario, std::size_t message, Chain& chain);
  void price(const Fabric& fabric);
  Breakdown rerun(const Variation& variation, double gamma, std::vector<Span>* spans);
  [[nodiscard]] Breakdown closed_form(const Variation& variation, double gamma) const;

  Group group_;
  Algorithm algorithm_;
  Method method_;
  bool inside_;
  double gamma_, gamma_codec_;
  Placement placement_;
  Seconds forward_, backward_, other_;
  std::vector<Message> messages_;
  std::vector<Plan> plans_;
  std::vector<Chain> chains_, scaled_;
  Order order_;
  std::vector<Seconds> parts_, scaled_parts_;  // of the next forward pass, where messages reach into it
  Sending sending_;
  bool full_duplex_;
  Seconds message_time_;        // software's share of an exchange
  BytesPerSecond bucket_copy_;  // zero: free
  /// What is arranged anew for every fabric, where the schedule weighs costs.
  std::optional<Scenario> scenario_;
  const Compressor* compressor_ = nullptr;
  std::unique_ptr<MessagePrices> prices_;  // null where it does not
  std::vector<Hop> hops_;
  std::vector<Seconds> exchange_;  // by hop, as last priced
  std::vector<Transfer> transfers_;
  Seconds encode_, decode_;
  Bytes payload_, state_;
  Origin codec_ = Origin::given;
  bool has_codec_ = false, overlapped_ = false;
};

}  // namespace breakeven
