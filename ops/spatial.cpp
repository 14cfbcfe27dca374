// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial.hpp"

#include "base/plural.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

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

}  // namespace bench::ops
