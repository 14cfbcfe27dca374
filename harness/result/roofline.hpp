// SPDX-License-Identifier: Apache-2.0
// Computes how near a case comes to the ceilings of its machine. Pure functions.
//
// The ideal time is the longer one of FLOPs / peak of the data type, and bytes / bandwidth. The
// cache mode selects the level whose bandwidth counts. hot: the smallest cache that holds the
// working set, or memory. cold: the level that holds all copies over which the buffers rotate,
// usually memory. cold_weights: the same for the copies of the weights, and for all other data the
// level that holds them.
//
// On a GPU, times come from the GPU's clock. If the rules permit tensor cores for the case, the
// peak is that of the library's matrix products on tensor cores. Otherwise it is that of the CUDA
// cores.
#pragma once

#include "base/units.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Details of a case with cold caches: over how many copies of its buffers the iterations rotate,
// and the size of all copies. One copy means that the case uses only its own buffers.
inline constexpr const char* kColdSetsDetail = "cold.sets";
inline constexpr const char* kColdBytesDetail = "cold.bytes";

// A case with a higher efficiency gets the flag above_ceiling. The margin covers the variation
// between measurements of the ceilings (docs/performance.md).
inline constexpr double kMaxEfficiency = 1.05;
// A case whose measured time gives a higher efficiency has failed: no variation of the ceilings
// explains this, so it did not do its work, or its work or the ceilings are wrong. A run therefore
// measures its ceilings again first (ceilings_are_doubtful()). Ceilings that the run itself has
// calibrated do not count: they may be half of the true ones. The time at another speed of the
// machine does not count: the ceilings may have been measured at this one.
inline constexpr double kImpossibleEfficiency = 1.5;
// A time may be shorter than the ideal one by this much, whatever the efficiency: times of a few
// nanoseconds are too coarse, and so little data stay in registers.
inline constexpr Nanoseconds kCoarseTime{10};

// The properties of a case, or of an activity, that determine its roofline.
struct RooflineInput {
  ops::Work work;
  Nanoseconds time{0};  // measured time of one iteration
  std::string dtype;
  std::string cache;           // cache mode: "hot", "cold", "cold_weights"
  std::optional<int> threads;  // nullopt means all threads; not used on a GPU
  // The operand type ("f16", "tf32") if tensor cores of a GPU can compute the case. nullopt means
  // that the CUDA cores compute it.
  std::optional<std::string> tensor_operand;
  // Size of all buffers. nullopt means the bytes that an iteration moves.
  std::optional<Bytes> working_set;
  std::optional<Bytes> weights;
  // Size of all copies over which the buffers rotate with cold caches. nullopt means that no cache
  // holds them.
  std::optional<Bytes> rotated = std::nullopt;
};

// Returns nullopt if the time is not positive, or if there is no work or no ceiling for it.
std::optional<Roofline> compute_roofline(const RooflineInput& input, const Ceilings& ceilings);

// Returns the FLOPs without padding. Ceilings do not apply to the FLOPs of padding, since a kernel
// may skip them. Returns all FLOPs if the number without padding is unknown, as in other tools'
// files.
std::int64_t necessary_flops(const ops::Work& work);

// The shortest time of a part of a case, such as an activity, and what limits it.
struct PartIdeal {
  Nanoseconds time{0};
  Bound bound = Bound::compute;
};
// Applies the ceilings in the roofline of the whole case. Returns nullopt if there is no work or no
// ceiling for it.
std::optional<PartIdeal> compute_partial_ideal(const ops::Work& part, const Roofline& roofline);

// Returns the number of threads in the options of a case id ("t2/nhwc"). Returns nullopt if the
// options state none, which means all threads.
std::optional<int> threads_in(std::string_view options);

// Returns the properties from a case's record. Returns nullopt if the record has no time or work,
// or if the ceilings belong to another device.
std::optional<RooflineInput> make_roofline_input(const CaseRecord& record,
                                                 const Ceilings& ceilings);

// Sets the roofline of a record that has a time. If the case is faster than the ceilings permit,
// sets the flag above_ceiling and states the likely causes in the detail "above_ceiling". Adds the
// advice of harness/result/advice.hpp as details "advice.ID". If the case is so fast that its time
// is impossible (kImpossibleEfficiency), its outcome becomes `failed`, and it keeps no time. The
// loops that measure ceilings are exempt: a ceiling may be wrong, and they correct it.
void complete_roofline(CaseRecord& record, const Ceilings& ceilings);

// The detail of a case that was judged by ceilings which its run measured again. It has both
// values: "fma_avx2_f32, 2 threads: 64.00 GFLOP/s stored, 146.0 GFLOP/s measured again".
inline constexpr const char* kMeasuredAgainDetail = "ceilings.measured_again";

// Whether the time of a record without a roofline says that a ceiling may have been measured while
// the machine was disturbed: stored ceilings if the time is impossible, calibrated ones if they do
// not permit the time.
bool ceilings_are_doubtful(const CaseRecord& record, const Ceilings& ceilings);
// Whether the ideal time of a record without a roofline would be shorter if the ceiling were
// higher. The value of `row` does not matter; the ceilings need not contain it.
bool limits(const Ceiling& row, const CaseRecord& record, const Ceilings& ceilings);
// Completes the record like complete_roofline(). `ceilings` are `before` with rows at the end that
// the run measured again. If these decide how the record is judged, states them in the detail
// kMeasuredAgainDetail and in the reason of a refused time.
void complete_roofline_again(CaseRecord& record, const Ceilings& before, const Ceilings& ceilings);

}  // namespace bench
