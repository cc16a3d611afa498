// Fields that several kinds of profile have.
#pragma once

#include "model/codec.h"
#include "model/device.h"
#include "model/fabric.h"
#include "model/nccl.h"
#include "model/origin.h"
#include "profiles/json_reader.h"

namespace breakeven {

Precision read_precision(const Json& json);
/// measured or published: a file can claim no other.
Origin read_origin(const Json& json);
/// A share of something that was stated: above 0, at most 1.
double read_share(const Json& json);
/// "encode", "decode", and where they are there "decode_next" and "spread".
void read_curves(const Json& row, CodecCosts& costs);
/// Forward's share of a step's FLOPs.
double forward_share(const Workload& workload);

/// What NCCL's model asks: of a device its own share, of a fabric all.
NcclTopology read_nccl_device(const Json& json);
NcclTopology read_nccl_fabric(const Json& json);

/// Between two sizes a measured time changes as this power of the size. One that nothing real has would run
/// off outside the table.
double steepness(const Table::Point& left, const Table::Point& right);
constexpr double kSteepest = 8;

/// The position of `json`'s text in `names`; refuses others.
std::size_t read_choice(const Json& json, const std::vector<std::string>& names, std::string_view what);

}  // namespace breakeven
