// The table of schemes: a value that main fills, no global.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/codec.h"
#include "model/compressor.h"

namespace breakeven {

/// A scheme with its parameters put in.
struct Candidate {
  std::string spec;        ///< canonical: "powersgd:rank=4"
  std::string plain_spec;  ///< the same without given codec times: what a codec profile names
  const Scheme* scheme = nullptr;
  std::shared_ptr<const Compressor> compressor;
  std::optional<Seconds> encode, decode;    ///< given by the user, for the whole gradient of one step
  std::shared_ptr<const CodecCosts> costs;  ///< the curve that its times were taken from, if any
};

class Registry {
 public:
  /// Throws Error when the name is taken.
  void add(Scheme scheme);
  /// Throws Error with the nearest name.
  [[nodiscard]] bool has(std::string_view name) const { return schemes_.find(name) != schemes_.end(); }
  [[nodiscard]] const Scheme& at(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Scheme, std::less<>>& all() const { return schemes_; }
  /// "powersgd:rank=4". Besides the scheme's own parameters every spec takes `encode=TIME` and `decode=TIME`:
  /// the codec's time for the whole gradient of one step, given by the user (shared among messages by their
  /// elements).
  [[nodiscard]] Candidate make(std::string_view spec) const;

 private:
  std::map<std::string, Scheme, std::less<>> schemes_;
};

}  // namespace breakeven
