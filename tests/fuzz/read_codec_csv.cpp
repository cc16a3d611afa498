// Tables of kernel times: any text is a codec profile that can be written and read back, or an error.
#include "profiles/import/codec.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto imported = read_or_refuse(
      [](std::string_view text, const std::string& where) { return import_codec_csv(text, where, {}); }, data,
      size);
  if (!imported) {
    return 0;
  }
  require(imported->notes.size() == imported->codec.costs.size(), "every scheme is told");
  for (const CodecCosts& costs : imported->codec.costs) {
    require(!costs.encode.points.empty() && !costs.decode.points.empty(), "both sides were timed");
    for (const Curve* curve : {&costs.encode, &costs.decode, &costs.decode_next}) {
      for (const Curve::Point& point : curve->points) {
        require_above_zero(point.time, "time");
      }
    }
  }
  const std::string text = write_codec(imported->codec);
  require(!is_printable_ascii(text_of(data, size)) || write_codec(read_codec(text, "written")) == text,
          "a profile reads back as it was written");
  return 0;
}
