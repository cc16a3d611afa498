// What the schemes that keep k of n elements share: how many, the bytes of an entry, the scattering.
#pragma once

#include "compressors/params.h"
#include "compressors/plan.h"

namespace breakeven {

/// floor(ratio * n), at least 1, at most n. A product within rounding of a whole number is that number: 29%
/// of 100 keeps 29.
double kept(double ratio, double n);

/// Bytes of a position: u64 is what torch.topk and torch.where return, u32 is all that a tensor needs.
Param index_param();
double index_bytes(const Params& params);
/// A kernel counts elements with 32 bits: fp32 messages below 16 GiB.
bool codable(std::span<const Shape> tensors);
/// "feedback": what is not sent is added to the next gradient.
Param feedback_param();

/// Takes the k largest of each of `selections` vectors, together `all`, in so many passes that read every
/// element and compare it.
Work select(const Flat& all, double passes, double k, double entry, double selections = 1);
/// A radix select reads a vector once for each byte of an element, then once to gather what it found.
double radix_passes(const Flat& all);

/// Error feedback costs two reads (gradient and residual) and a write of every element on top of the
/// selection.
Work with_feedback(Work encode, const Flat& gradient);

/// Values and positions are gathered one after the other, as implementations do: two exchanges.
Plan gathered_entries(const Work& encode, double k, double value, double index, const Work& decode);

/// Adds `repeats` payloads of k entries to a vector of zeros: every entry is read, its element read and
/// written; one kernel for the zeros, one for all entries.
Work scatter(const Flat& gradient, double k, double entry, double repeats);

}  // namespace breakeven
