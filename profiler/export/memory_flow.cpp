// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/memory_flow.hpp"

#include "base/chart.hpp"
#include "base/text.hpp"
#include "profiler/export/byte_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Dimensions of the picture in SVG units. A chart with its texts is kChartHeight high.
constexpr double kPictureWidth = 1280, kChartHeight = 680;
constexpr double kLiveHeight = 90, kMapHeight = 448;
constexpr double kAddressWidth = 124;  // room for an address left of the chart

constexpr std::size_t kMaxClasses = 8;  // the last one contains all others
// The names of so many classes fit in one row of the legend.
constexpr std::size_t kMaxClassLetters = 16;

struct LifetimeClass {
  std::int64_t below;  // ns
  std::string_view name;
};
// MegEngine's lifetime classes.
constexpr std::array<LifetimeClass, 6> kLifetimes = {
    {{100'000, "under 100 us"},
     {1'000'000, "under 1 ms"},
     {10'000'000, "under 10 ms"},
     {100'000'000, "under 100 ms"},
     {1'000'000'000, "under 1 s"},
     {std::numeric_limits<std::int64_t>::max(), "1 s and longer"}}};

std::string_view lifetime_class(std::int64_t lifetime) {
  for (const LifetimeClass& row : kLifetimes) {
    if (lifetime < row.below) return row.name;
  }
  return kLifetimes.back().name;
}

struct DeviceKey {
  std::int64_t pid;
  std::optional<std::int64_t> device;
  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

struct DeviceMemory {
  std::vector<MemoryBlock> blocks;
  std::vector<MemoryChange> changes;
  std::int64_t not_drawable = 0;
  std::int64_t left_out = 0;  // smaller than those drawn
};

DeviceKey device_key(const Activity& activity) {
  return {activity.track.pid, activity.track.device};
}

// Limit of times and durations, so that no sum or difference of two overflows: 73 years.
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 4;

std::int64_t release_time(const MemoryBlock& block, std::int64_t last) {
  return block.released.value_or(std::max(last, block.allocated));
}

// 128 bits, because both factors may have 63 bits.
__extension__ using Wide = unsigned __int128;

Wide area(const MemoryBlock& block, std::int64_t last) {
  return static_cast<Wide>(block.size) *
         static_cast<std::uint64_t>(release_time(block, last) - block.allocated);
}

std::string digits(Wide number) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  return {text.rbegin(), text.rend()};
}

void keep_largest(DeviceMemory& memory, std::int64_t last, std::size_t most) {
  if (memory.blocks.size() <= most) return;
  const auto cut = memory.blocks.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(
      memory.blocks.begin(), cut, memory.blocks.end(),
      [&](const MemoryBlock& a, const MemoryBlock& b) { return area(a, last) > area(b, last); });
  memory.left_out += memory.blocks.end() - cut;
  memory.blocks.erase(cut, memory.blocks.end());
}

// The classes of blocks, which have a colour each: roles, ordered by bytes, if there are any;
// otherwise lifetimes in their order.
class BlockClasses {
 public:
  // `last`: when blocks that were not released end.
  BlockClasses(const std::vector<MemoryBlock>& blocks, std::int64_t last)
      : by_role_(std::ranges::any_of(blocks,
                                     [](const MemoryBlock& block) { return !block.role.empty(); })),
        last_(last) {
    std::map<std::string_view, double> bytes;
    for (const MemoryBlock& block : blocks)
      bytes[find_name(block)] += static_cast<double>(block.size);
    for (const LifetimeClass& row : kLifetimes) {
      if (!by_role_ && bytes.contains(row.name)) names_.push_back(row.name);
    }
    if (!by_role_) return;
    for (const auto& [name, size] : bytes) names_.push_back(name);
    std::ranges::stable_sort(
        names_, [&](std::string_view a, std::string_view b) { return bytes[a] > bytes[b]; });
  }

  std::string_view kind() const { return by_role_ ? "role" : "lifetime"; }

  // Returns the CSS classes of the block's colour.
  std::string find_colour(const MemoryBlock& block) const {
    const auto found = std::ranges::find(names_, find_name(block));
    return colour(std::min(static_cast<std::size_t>(found - names_.begin()), kMaxClasses - 1));
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < std::min(names_.size(), kMaxClasses); ++i) {
      const bool has_others = i + 1 == kMaxClasses && names_.size() > kMaxClasses;
      entries.push_back({has_others ? "others" : shorten(names_[i], kMaxClassLetters),
                         {Marker::square, {}, 6, colour(i)}});
    }
    return entries;
  }

 private:
  static std::string colour(std::size_t number) {
    return series_class(number) + (number < kSeriesColours ? "" : " light");
  }

  std::string_view find_name(const MemoryBlock& block) const {
    if (by_role_) return block.role.empty() ? std::string_view("no role") : block.role;
    return lifetime_class(release_time(block, last_) - block.allocated);
  }

  bool by_role_;
  std::int64_t last_;
  std::vector<std::string_view> names_;
};

std::string format_chart_title(const DeviceKey& key, const DeviceMemory& memory,
                               std::int64_t peak) {
  std::string title = fmt::format(
      "Memory of {}process {}: {}, peak {}",
      key.device ? fmt::format("device {} of ", *key.device) : "", key.pid,
      pluralise(memory.blocks.size() + static_cast<std::size_t>(memory.left_out), "allocation"),
      format_bytes(Bytes{peak}));
  if (memory.left_out > 0) title += fmt::format("; {} smaller ones not drawn", memory.left_out);
  if (memory.not_drawable > 0) {
    title +=
        fmt::format("; {} without size, address or possible time not drawn", memory.not_drawable);
  }
  return title;
}

// The chart of one process or device. Its times are since `first`.
class ChartMaker {
 public:
  ChartMaker(const DeviceMemory& memory, std::int64_t first, std::int64_t last)
      : memory_(memory),
        first_(first),
        last_(last),
        live_(live_bytes(memory.changes)),
        classes_(memory.blocks, last) {}

  PlaneChart make(const DeviceKey& key) const {
    PlaneChart chart{"memory over time", format_chart_title(key, memory_, live_.peak)};
    chart.x = {.title = "time since the first allocation",
               .values = {0, static_cast<double>(std::max<std::int64_t>(1, last_ - first_))},
               .format_tick = format_time_tick};
    chart.planes.push_back(make_live_plane());
    chart.planes.push_back(make_address_plane());
    chart.legend = classes_.legend();
    chart.left = kAddressWidth;
    return chart;
  }

 private:
  double x(std::int64_t time) const { return static_cast<double>(time - first_); }

  static Stroke peak_line(Point from, Point to) { return {from, to, "range dashed s1"}; }

  Plane make_live_plane() const {
    const auto peak = static_cast<double>(live_.peak);
    const std::string peak_text = "peak " + format_bytes(Bytes{live_.peak});
    Curve live{{{0, 0}}, "area s0"};
    double bytes = 0;
    for (const auto& [time, bytes_after] : live_.steps) {
      live.points.push_back({x(time), bytes});
      bytes = static_cast<double>(bytes_after);
      live.points.push_back({x(time), bytes});
    }
    live.points.push_back({x(last_), bytes});
    live.points.push_back({x(last_), 0});
    const double peak_time = x(live_.peak_time);
    Mark peak_mark{
        fmt::format("{} after {}", peak_text, format_time(Nanoseconds(live_.peak_time - first_))),
        {peak_line({0, peak}, {x(last_), peak}), peak_line({peak_time, peak}, {peak_time, 0})},
        {{"peak-bytes", std::to_string(live_.peak)},
         {"peak-ns", std::to_string(live_.peak_time - first_)}}};
    Plane plane{
        {.title = "live bytes", .values = {0, std::max(1.0, peak)}}, kLiveHeight, kLiveHeight};
    plane.y.ticks = {{0, "0 B"}, {peak, peak_text}};
    plane.marks.push_back({"", {std::move(live)}});
    plane.marks.push_back(std::move(peak_mark));
    return plane;
  }

  Plane make_address_plane() const {
    const AddressScale addresses(memory_.blocks, kMapHeight);
    Plane plane{{.title = fmt::format("address, coloured by {}", classes_.kind()),
                 .values = {0, kMapHeight}},
                kMapHeight,
                kMapHeight};
    for (const AddressScale::Region& region : addresses.regions())
      plane.y.ticks.push_back({region.offset, fmt::format("0x{:x}", region.begin)});
    // Without its own ticks, the axis would have round values, which are not addresses.
    if (plane.y.ticks.empty()) plane.y.ticks.push_back({});
    const double peak_time = x(live_.peak_time);
    plane.marks.push_back({"", {peak_line({peak_time, 0}, {peak_time, kMapHeight})}});
    for (const MemoryBlock& block : memory_.blocks)
      plane.marks.push_back(make_block_mark(block, addresses));
    return plane;
  }

  Mark make_block_mark(const MemoryBlock& block, const AddressScale& addresses) const {
    const std::int64_t end = release_time(block, last_);
    const double low = addresses.at(block.address);
    Mark mark{format_block(block),
              {Bar{{x(block.allocated), x(end)},
                   Extent{low, low + addresses.length(block.size)},
                   "block " + classes_.find_colour(block),
                   {0.5, 0.5}}},
              {{"name", block.name},
               {"role", block.role},
               {"layer", block.layer},
               {"size-bytes", std::to_string(block.size)},
               {"address", fmt::format("0x{:x}", block.address)},
               {"allocated-ns", std::to_string(block.allocated - first_)},
               {"lifetime-ns", std::to_string(end - block.allocated)},
               {"area-byte-ns", digits(area(block, last_))}}};
    if (block.released) mark.data.emplace_back("released-ns", std::to_string(end - first_));
    return mark;
  }

  std::string format_block(const MemoryBlock& block) const {
    const std::int64_t lifetime = release_time(block, last_) - block.allocated;
    std::string text = block.name;
    if (!block.role.empty()) text += fmt::format(" ({})", block.role);
    if (!block.layer.empty()) text += fmt::format("\nlayer {}", block.layer);
    text += fmt::format(
        "\n{} at 0x{:x}\nallocated {}, {} after {}", format_bytes(Bytes{block.size}), block.address,
        format_time(Nanoseconds(block.allocated - first_)),
        block.released ? "released" : "still allocated", format_time(Nanoseconds(lifetime)));
    return text;
  }

  const DeviceMemory& memory_;
  std::int64_t first_, last_;
  LiveBytes live_;
  BlockClasses classes_;
};

}  // namespace

struct MemoryFlow::State {
  std::unique_ptr<ByteSink> out;
  std::map<DeviceKey, DeviceMemory> devices;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();  // last time of all activities
  std::int64_t drawn = 0;

  explicit State(std::unique_ptr<ByteSink> sink) : out(std::move(sink)) {}

  void consume(const Activity& activity) {
    const std::int64_t start = activity.start.count();
    const std::int64_t length = activity.duration.value_or(Nanoseconds(0)).count();
    const bool possible = start > -kLatest && start < kLatest && length >= 0 && length < kLatest;
    if (possible) last = std::max(last, start + length);
    if (activity.kind != ActivityKind::allocation) return;
    if (!possible) return void(++devices[device_key(activity)].not_drawable);
    const std::int64_t end = start + length;
    DeviceMemory& memory = devices[device_key(activity)];
    const auto size = activity.attributes.integer(Attribute::size_bytes);
    const auto address = activity.attributes.integer(Attribute::address);
    if (size && *size > 0) {
      memory.changes.push_back({start, *size});
      if (activity.duration) memory.changes.push_back({end, -*size});
    }
    first = std::min(first, start);
    if (!size || *size <= 0 || !address) {
      ++memory.not_drawable;
      return;
    }
    MemoryBlock block;
    block.name = activity.name;
    block.role = activity.attributes.text(Attribute::role);
    block.layer = activity.scope;
    block.address = static_cast<std::uint64_t>(*address);
    block.size = *size;
    block.allocated = start;
    if (activity.duration) block.released = end;
    memory.blocks.push_back(std::move(block));
    // Reduces only at twice the limit: each time half of the blocks go, so a new block costs O(1).
    if (memory.blocks.size() >= 2 * kMaxRectangles) keep_largest(memory, last, kMaxRectangles);
  }

  Status finish() {
    const double height = std::max(60.0, kChartHeight * static_cast<double>(devices.size()));
    Svg svg({kPictureWidth, height},
            fmt::format("memory over time: {}", pluralise(devices.size(), "chart")));
    if (devices.empty()) {
      svg.text({16, 34}, "no allocations: was the kind `memory` recorded?", Anchor::start);
    }
    BENCH_RETURN_IF_ERROR(out->write(standalone_svg(svg.take())));
    double top = 0;
    if (first > last) first = last = 0;  // no allocation has a possible time
    for (auto& [key, memory] : devices) {
      keep_largest(memory, last, kMaxRectangles);
      std::ranges::stable_sort(memory.blocks, {}, &MemoryBlock::allocated);
      drawn += static_cast<std::int64_t>(memory.blocks.size());
      draw_planes(svg, ChartMaker(memory, first, last).make(key), kPictureWidth, top);
      BENCH_RETURN_IF_ERROR(out->write(svg.take()));
      top += kChartHeight;
    }
    BENCH_RETURN_IF_ERROR(out->write(std::move(svg).finish()));
    return out->close();
  }
};

Result<std::unique_ptr<MemoryFlow>> MemoryFlow::create(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> out, file_bytes(path, existing));
  return std::unique_ptr<MemoryFlow>(new MemoryFlow(std::make_unique<State>(std::move(out))));
}

std::unique_ptr<MemoryFlow> MemoryFlow::to(std::string& text) {
  return std::unique_ptr<MemoryFlow>(new MemoryFlow(std::make_unique<State>(text_bytes(text))));
}

MemoryFlow::MemoryFlow(std::unique_ptr<State> state) : state_(std::move(state)) {}
MemoryFlow::~MemoryFlow() = default;

Status MemoryFlow::consume(const Activity& activity) {
  state_->consume(activity);
  return Done{};
}
Status MemoryFlow::finish() { return state_->finish(); }
std::int64_t MemoryFlow::drawn() const { return state_->drawn; }

LiveBytes live_bytes(std::vector<MemoryChange> changes) {
  std::sort(changes.begin(), changes.end(), [](const MemoryChange& a, const MemoryChange& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;
  });
  LiveBytes result;
  std::int64_t live = 0;
  for (const MemoryChange& change : changes) {
    // A malformed file can contain any size.
    if (__builtin_add_overflow(live, change.change, &live)) live = 0;
    if (!result.steps.empty() && result.steps.back().first == change.time) {
      result.steps.back().second = live;
    } else {
      result.steps.emplace_back(change.time, live);
    }
    if (live <= result.peak) continue;
    result.peak = live;
    result.peak_time = change.time;
  }
  return result;
}

namespace {

constexpr double kBreak = 8;               // height of a break
constexpr double kMaxBreakFraction = 0.4;  // maximum fraction of the height that all breaks use
constexpr std::uint64_t kGapDivisor = 50;  // gaps above 1/50 of the used bytes become breaks

using Range = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t end_address(const MemoryBlock& block) {
  const auto size = static_cast<std::uint64_t>(block.size);
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - block.address;
  return block.address + std::min(size, room);
}

// Merges ranges that are at most `gap` bytes apart.
std::vector<Range> merge_ranges(const std::vector<Range>& sorted, std::uint64_t gap) {
  std::vector<Range> result;
  for (const Range& range : sorted) {
    if (!result.empty() &&
        (range.first <= result.back().second || range.first - result.back().second <= gap)) {
      result.back().second = std::max(result.back().second, range.second);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

double bytes_in(const std::vector<Range>& ranges) {
  double sum = 0;
  for (const Range& range : ranges) sum += static_cast<double>(range.second - range.first);
  return sum;
}

}  // namespace

AddressScale::AddressScale(const std::vector<MemoryBlock>& blocks, double height) {
  std::vector<Range> ranges;
  for (const MemoryBlock& block : blocks) ranges.emplace_back(block.address, end_address(block));
  std::sort(ranges.begin(), ranges.end());
  const double used = bytes_in(merge_ranges(ranges, 0));
  const auto gap = static_cast<std::uint64_t>(used / static_cast<double>(kGapDivisor));
  const std::vector<Range> regions = merge_ranges(ranges, gap);
  if (regions.empty()) return;
  const auto breaks = static_cast<double>(regions.size() - 1);
  const double one_break = breaks > 0 ? std::min(kBreak, height * kMaxBreakFraction / breaks) : 0;
  per_byte_ = (height - one_break * breaks) / std::max(1.0, bytes_in(regions));
  double offset = 0;
  for (const Range& region : regions) {
    regions_.push_back({region.first, region.second, offset});
    offset += static_cast<double>(region.second - region.first) * per_byte_ + one_break;
  }
}

double AddressScale::at(std::uint64_t address) const {
  auto region = std::upper_bound(regions_.begin(), regions_.end(), address,
                                 [](std::uint64_t a, const Region& r) { return a < r.begin; });
  if (region == regions_.begin()) return 0;
  --region;
  const std::uint64_t inside = std::min(address, region->end) - region->begin;
  return region->offset + static_cast<double>(inside) * per_byte_;
}

}  // namespace bench
