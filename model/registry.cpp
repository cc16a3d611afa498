#include "model/registry.h"

#include <algorithm>
#include <vector>

#include "model/error.h"

namespace breakeven {
namespace {

/// Takes `key=TIME` out of `params` where it stands.
std::optional<Seconds> take_time(std::string& params, std::string_view key) {
  std::size_t begin = 0;
  while (begin < params.size()) {
    const std::size_t end = std::min(params.find(',', begin), params.size());
    const std::string item = params.substr(begin, end - begin);
    if (item.starts_with(std::string(key) + "=")) {
      params.erase(begin, std::min(end + 1, params.size()) - begin);
      if (params.ends_with(',')) {
        params.pop_back();
      }
      try {
        const auto time = parse<Seconds>(item.substr(key.size() + 1));
        constexpr Seconds kLongest = Seconds::of(1e6);
        if (time < Seconds{} || time > kLongest) {
          throw Error(Fault::value, {}, "\"" + item.substr(key.size() + 1) + "\" is out of range",
                      "0 s to 1e+06 s");
        }
        return time;
      } catch (const Error& error) {
        throw error.inside(std::string(key), Fault::value);
      }
    }
    begin = end + 1;
  }
  return std::nullopt;
}

std::string given_text(std::string_view key, const std::optional<Seconds>& time) {
  return time ? std::string(key) + "=" + exact(time->base()) + "s" : std::string();
}

}  // namespace

void Registry::add(Scheme scheme) {
  const std::string name = scheme.name;
  if (!schemes_.emplace(name, std::move(scheme)).second) {
    throw Error(Fault::value, {}, "scheme \"" + name + "\" exists already", "a name of its own");
  }
}

const Scheme& Registry::at(std::string_view name) const {
  const auto found = schemes_.find(name);
  if (found == schemes_.end()) {
    std::vector<std::string> known;
    for (const auto& [key, scheme] : schemes_) {
      known.push_back(key);
    }
    throw Error(Fault::value, {}, "unknown scheme \"" + std::string(name) + "\"", one_of(known, name));
  }
  return found->second;
}

Candidate Registry::make(std::string_view spec) const {
  const auto [name, rest] = split_spec(spec);
  const Scheme& scheme = at(name);
  if (spec.find(':') != std::string_view::npos && rest.empty()) {
    throw Error(Fault::value, std::string(name), "nothing follows the colon", "name:key=value");
  }
  std::string own(rest);
  Candidate candidate;
  candidate.scheme = &scheme;
  try {
    candidate.encode = take_time(own, "encode");
    candidate.decode = take_time(own, "decode");
    if (candidate.encode.has_value() != candidate.decode.has_value()) {
      const std::string missing = candidate.encode ? "decode" : "encode";
      throw Error(Fault::value, {},
                  missing + " is missing beside " + (candidate.encode ? "encode" : "decode"),
                  "both (" + missing + "=0s where one time stands for both)");
    }
    for (const char* key : {"encode", "decode"}) {
      if (take_time(own, key)) {
        throw Error(Fault::value, {}, std::string("\"") + key + "\" is given twice", "each key once");
      }
    }
    const Params params(scheme.params, own);
    std::string text = params.text();
    for (const std::string& given :
         {given_text("encode", candidate.encode), given_text("decode", candidate.decode)}) {
      text += (text.empty() || given.empty() ? "" : ",") + given;
    }
    candidate.spec = join_spec(name, text);
    candidate.plain_spec = join_spec(name, params.text());
    candidate.compressor = scheme.make(params);
  } catch (const Error& error) {
    throw error.fault() == Fault::file ? error : error.inside(std::string(name), Fault::value);
  }
  return candidate;
}

}  // namespace breakeven
