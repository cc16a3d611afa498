#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/error.h"
#include "profiles/import/safetensors.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

// https://huggingface.co/docs/safetensors: 8 bytes of length (little-endian), JSON, the data. The reference
// reader takes heads of up to 100 MB.
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHead = 100'000'000;

struct Type {
  const char* name;
  double bytes;
  bool floating;
};
constexpr Type kTypes[] = {
    {"F32", 4, true},     {"BF16", 2, true},    {"F16", 2, true},      {"F64", 8, true},
    {"F8_E4M3", 1, true}, {"F8_E5M2", 1, true}, {"F8_E8M0", 1, false}, {"I64", 8, false},
    {"I32", 4, false},    {"I16", 2, false},    {"I8", 1, false},      {"U64", 8, false},
    {"U32", 4, false},    {"U16", 2, false},    {"U8", 1, false},      {"BOOL", 1, false}};

std::uint64_t length_of(std::string_view start) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8U | static_cast<unsigned char>(start[i]);
  }
  return length;
}

const Type& read_type(const Json& json) {
  const std::string& text = json.text();
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& type) { return text == type.name; });
  if (found == std::end(kTypes)) {
    std::vector<std::string> names;
    for (const Type& type : kTypes) {
      names.emplace_back(type.name);
    }
    json.fail("unknown type " + quote(text), one_of(names, text));
  }
  return *found;
}

/// Where a tensor's bytes are, counted from the end of the head.
struct Place {
  double begin, end;
  std::string name;
};

Place read_place(const Json& json, const std::string& name, double bytes) {
  const std::vector<Json> ends = json.at("data_offsets", "[BEGIN, END]").list(2, 2);
  Place place{static_cast<double>(ends[0].count()), static_cast<double>(ends[1].count()), name};
  if (place.end - place.begin != bytes) {
    json.fail("has the bytes " + exact(place.begin) + " to " + exact(place.end),
              (std::isfinite(bytes) ? exact(bytes) : std::string("more than 1e15")) +
                  " bytes, as its shape and type have");
  }
  return place;
}

/// The data have neither holes nor shared bytes.
double check_places(std::vector<Place>& places, const std::string& where) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  double next = 0;
  for (const Place& place : places) {
    if (place.begin != next) {
      throw Error(Fault::file, where,
                  quote(place.name) + " begins at byte " + exact(place.begin) + " of the data" +
                      (place.begin < next ? ", inside another tensor" : ", behind a hole"),
                  "byte " + exact(next) + ", where the one before it ends");
    }
    next = place.end;
  }
  return next;
}

}  // namespace

bool is_safetensors_index(std::string_view start) {
  const std::string_view text = without_byte_order_mark(start);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         (start.size() < kLengthBytes || length_of(start) > kLargestHead);
}

SafetensorsHead read_safetensors_head(std::string_view start, std::optional<double> size,
                                      const std::string& where) {
  const std::uint64_t length = start.size() < kLengthBytes ? 0 : length_of(start);
  if (length == 0 || length > kLargestHead) {
    throw Error(Fault::file, where,
                start.size() < kLengthBytes ? "ends inside the length of its head"
                                            : "states a head of " + std::to_string(length) + " bytes",
                "a safetensors file: 8 bytes of length, at most 100 MB of JSON, the data");
  }
  if (start.size() - kLengthBytes < length) {
    throw Error(Fault::file, where, "ends inside its head, which has " + std::to_string(length) + " bytes",
                "at least its first " + std::to_string(length + kLengthBytes) + " bytes");
  }
  const std::string place = where + ": head";
  const JsonDocument document(start.substr(kLengthBytes, length), place);
  const Json root = document.root();
  SafetensorsHead head;
  std::vector<Place> places;
  for (const std::string& name : root.keys()) {
    if (name == "__metadata__") {
      continue;
    }
    const Json json = root.at(name, "");
    json.only({"dtype", "shape", "data_offsets"});
    const Type& type = read_type(json.at("dtype", "the type of its elements"));
    StoredTensor tensor{name, {}, type.floating};
    for (const Json& dim : json.at("shape", "a list of dimensions").list()) {
      tensor.dims.push_back(dim.count());
    }
    places.push_back(read_place(json, name, product_of(tensor.dims, type.bytes)));
    head.tensors.push_back(std::move(tensor));
  }
  // The JSON is in any order; the data tell how the tensors are stored.
  std::vector<std::size_t> order(head.tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return places[a].begin < places[b].begin; });
  std::vector<StoredTensor> stored;
  stored.reserve(order.size());
  for (const std::size_t i : order) {
    stored.push_back(std::move(head.tensors[i]));
  }
  head.tensors = std::move(stored);
  head.bytes = check_places(places, place);
  head.data_is_there = !size || *size >= static_cast<double>(kLengthBytes + length) + head.bytes;
  return head;
}

}  // namespace breakeven
