// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace bench::ops {
namespace {

// Returns the names for the last `rank` dimensions.
std::span<const std::string_view> select_rank(std::span<const std::string_view> names, int rank) {
  return names.last(static_cast<std::size_t>(rank));
}

Error entry_count_error(std::string_view name, std::size_t count, int rank) {
  return Error{fmt::format("`{}` has {} entries, expected 1 or {} ({})", name, count, rank,
                           fmt::join(size_names(rank), ", ")),
               std::string(name),
               {}};
}

template <class T>
Status expand(ParameterSet& set, std::string_view name, int rank, std::vector<T> entries) {
  const auto count = static_cast<std::size_t>(rank);
  if (entries.size() == 1) entries.assign(count, T(entries.front()));
  if (entries.size() != count) return entry_count_error(name, entries.size(), rank);
  set.set(name, std::move(entries));
  return Done{};
}

// Returns entry `index` of a list parameter, or `default_value` if the table does not have the
// parameter or the set does not set it.
std::int64_t find_entry(const ParameterSet& set, std::string_view name, std::size_t index,
                        std::int64_t default_value) {
  if (find_parameter(set.table(), name) == nullptr || !set.has(name)) return default_value;
  return set.numbers(name)[index];
}

}  // namespace

void set_spatial_sizes(ParameterSet& set, std::span<const std::string_view, kMaxSpatialRank> names,
                       std::span<const std::int64_t> sizes) {
  const std::size_t first = kMaxSpatialRank - sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) set.set(names[first + i], sizes[i]);
}

Result<int> complete_sizes(ParameterSet& set) {
  const int rank = set.has("d") ? 3 : set.has("h") ? 2 : 1;
  if (rank == 1 && !set.has("w")) {
    return Error{"no spatial size is given", "h",
                 "write `w` (1-D), `h` (2-D; `w` = `h` unless given) or `d` (3-D)"};
  }
  BENCH_RETURN_IF_ERROR(complete_chain(set, kSpatialSizeNames, rank));
  return rank;
}

Status complete_chain(ParameterSet& set, std::span<const std::string_view> names, int rank) {
  const std::span<const std::string_view> used = select_rank(names, rank);
  for (const std::string_view name : names.first(names.size() - used.size())) {
    if (!set.has(name)) continue;
    return Error{fmt::format("`{}` does not belong to {}, expected {}", name,
                             pluralise(rank, "dimension"), fmt::join(used, ", ")),
                 std::string(name),
                 fmt::format("the sizes determine the number of dimensions: {} here",
                             fmt::join(size_names(rank), ", "))};
  }
  if (!set.has(used.front())) {
    return Error{
        fmt::format("`{}` is missing: {} take{} {}", used.front(), pluralise(rank, "dimension"),
                    rank == 1 ? "s" : "", fmt::join(used, ", ")),
        std::string(used.front()),
        {}};
  }
  for (std::size_t i = 1; i < used.size(); ++i) {
    if (!set.has(used[i])) set.set(used[i], set.value(used[i - 1]));
  }
  return Done{};
}

Status expand_spatial(ParameterSet& set, std::string_view name, int rank,
                      std::int64_t default_value) {
  return expand(set, name, rank,
                set.has(name) ? set.numbers(name) : std::vector<std::int64_t>{default_value});
}

Status expand_padding(ParameterSet& set, std::string_view name, int rank) {
  return expand(set, name, rank, set.has(name) ? set.padding(name) : std::vector<PadPair>{{0, 0}});
}

std::span<const std::string_view> size_names(int rank) {
  return select_rank(kSpatialSizeNames, rank);
}

int spatial_rank(const ParameterSet& complete) {
  return static_cast<int>(std::ranges::count_if(
      kSpatialSizeNames, [&](std::string_view name) { return complete.has(name); }));
}

std::vector<std::int64_t> spatial_sizes(const ParameterSet& complete) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view name : size_names(spatial_rank(complete))) {
    sizes.push_back(complete.count(name));
  }
  return sizes;
}

std::vector<SpatialAxis> spatial_axes(const ParameterSet& complete,
                                      std::span<const std::string_view> kernel_names) {
  const int rank = spatial_rank(complete);
  std::vector<SpatialAxis> axes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    SpatialAxis axis;
    axis.name = size_names(rank)[i];
    axis.input = complete.count(axis.name);
    axis.kernel = kernel_names.size() == 1 ? complete.numbers(kernel_names.front())[i]
                                           : complete.count(select_rank(kernel_names, rank)[i]);
    axis.stride = find_entry(complete, "stride", i, 1);
    axis.dilation = find_entry(complete, "dilation", i, 1);
    axis.output_pad = find_entry(complete, "output_pad", i, 0);
    if (find_parameter(complete.table(), "pad") != nullptr && complete.has("pad")) {
      axis.pad = complete.padding("pad")[i];
    }
    axes.push_back(axis);
  }
  return axes;
}

Status infer_output(SpatialAxis& axis, Sweep sweep) {
  const Checked pads = Checked(axis.pad.begin) + axis.pad.end;
  const Checked reach = Checked(axis.dilation) * (Checked(axis.kernel) - 1);
  const Checked size = sweep == Sweep::convolution ? axis.input + pads - reach - 1
                                                   : (Checked(axis.input) - 1) * axis.stride -
                                                         pads + reach + axis.output_pad;
  // `reach` and `pads` are intermediate values. Without this check a difference could hide their
  // overflow.
  const Checked sum = size + reach + pads;
  if (!sum.value()) {
    return Error{fmt::format("the padded size along `{}` is beyond 2^63 - 1", axis.name),
                 std::string(axis.name),
                 {}};
  }
  const std::int64_t extent = *size.value();
  if (extent < 0) {
    return Error{
        fmt::format("the output along `{}` would be empty: size {}, kernel {}, stride {}, pads "
                    "{} and {}, dilation {}",
                    axis.name, axis.input, axis.kernel, axis.stride, axis.pad.begin, axis.pad.end,
                    axis.dilation),
        std::string(axis.name), "the dilated kernel must fit into the padded size"};
  }
  axis.output = sweep == Sweep::convolution ? extent / axis.stride + 1 : extent + 1;
  return Done{};
}

// Implements count_axis of ops/spatial.hpp. A sweep moves a kernel over a window: step x in [0, X)
// and tap y in [0, Y) use position s*x + d*y. The pair counts if the position is in [low, high].
// All counts are numbers of lattice points below a line, which Euclid's algorithm computes in
// logarithmic time.
namespace {

// Intermediate values are products of two 63-bit sizes, although the results fit.
using Wide = __int128;

// Returns the sum over i in [0, n) of floor((a*i + b) / m), for a, b >= 0 and m > 0 (Graham, Knuth,
// Patashnik, "Concrete Mathematics", 3.5).
Wide compute_floor_sum(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  while (n > 0) {
    sum += (n - 1) * n / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const Wide last = a * n + b;
    if (last < m) break;
    n = last / m;
    b = last % m;
    std::swap(m, a);
  }
  return sum;
}

// All pairs of a step x and a tap y.
struct Lattice {
  Wide steps;     // X
  Wide taps;      // Y
  Wide stride;    // s
  Wide dilation;  // d

  // Counts the pairs with s*x + d*y <= limit.
  Wide count_up_to(Wide limit) const {
    if (limit < 0 || steps <= 0 || taps <= 0) return 0;
    const Wide last = std::min(steps - 1, limit / stride);
    const Wide room = limit - dilation * (taps - 1);
    // Steps before `partial` use all taps.
    const Wide partial = room < 0 ? 0 : std::min(last, room / stride) + 1;
    const Wide remaining = last - partial + 1;
    return partial * taps + remaining +
           compute_floor_sum(remaining, dilation, stride, limit - stride * last);
  }

  // Counts the pairs with positions in [low, high].
  Wide count_pairs(Wide low, Wide high) const {
    return low > high ? 0 : count_up_to(high) - count_up_to(low - 1);
  }

  // Returns the lattice with steps and taps exchanged.
  Lattice exchange_axes() const { return {taps, steps, dilation, stride}; }

  // Counts distinct positions. Pairs with the same position differ by multiples of (d/g, -s/g),
  // where g is the greatest common divisor of s and d. Of these pairs, only the one with the
  // smallest tap counts: its tap is below s/g, or its step plus d/g is outside the range.
  Wide count_distinct_positions(Wide low, Wide high) const {
    const Wide divisor =
        std::gcd(static_cast<std::int64_t>(stride), static_cast<std::int64_t>(dilation));
    const Wide tap_period = stride / divisor;
    const Wide first_step = std::max<Wide>(0, steps - dilation / divisor);
    const Lattice low_taps{steps, std::min(taps, tap_period), stride, dilation};
    const Lattice corner{steps - first_step, taps - tap_period, stride, dilation};
    const Wide shift = stride * first_step + dilation * tap_period;
    return low_taps.count_pairs(low, high) + corner.count_pairs(low - shift, high - shift);
  }

  // Counts the steps that use the window. Each step counts at its first tap inside the window.
  Wide count_distinct_steps(Wide low, Wide high) const {
    const Lattice first{steps, 1, stride, dilation};
    const Lattice later{steps, taps - 1, stride, dilation};
    const Wide entering = std::min(high, low + dilation - 1);
    return first.count_pairs(low, high) + later.count_pairs(low - dilation, entering - dilation);
  }
};

Checked to_checked(Wide value) {
  constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
  if (value <= kMaxValue) return {static_cast<std::int64_t>(value)};
  return Checked(kMaxValue) + 1;  // an overflow that Checked keeps
}

}  // namespace

AxisCounts count_axis(const SpatialAxis& axis, Sweep sweep) {
  const bool transposed = sweep == Sweep::transposed;
  const Wide low = axis.pad.begin;
  const Wide high = low + (transposed ? axis.output : axis.input) - 1;
  const Lattice lattice{transposed ? axis.input : axis.output, axis.kernel, axis.stride,
                        axis.dilation};
  const auto window = static_cast<std::int64_t>(lattice.count_distinct_positions(low, high));
  const auto steps = static_cast<std::int64_t>(lattice.count_distinct_steps(low, high));
  return {.taps = to_checked(lattice.count_pairs(low, high)),
          .inputs = transposed ? steps : window,
          .outputs = transposed ? window : steps,
          .kernels =
              static_cast<std::int64_t>(lattice.exchange_axes().count_distinct_steps(low, high))};
}

}  // namespace bench::ops
