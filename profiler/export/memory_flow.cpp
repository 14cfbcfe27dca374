// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/memory_flow.hpp"

#include "base/markup.hpp"
#include "base/text.hpp"
#include "profiler/export/byte_sink.hpp"
#include "profiler/export/memory_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Dimensions of the picture in pixels.
constexpr double kWidth = 1280, kLeft = 150, kRight = 24;
constexpr double kTop = 34, kLive = 90, kBetween = 26, kMap = 460, kAxis = 44, kLegend = 26;
constexpr double kChart = kTop + kLive + kBetween + kMap + kAxis + kLegend;
constexpr double kInner = kWidth - kLeft - kRight;

// Colours that most colour-blind readers can distinguish (Okabe and Ito), light enough for text.
constexpr std::array<std::string_view, 8> kColours = {"#56b4e9", "#e69f00", "#009e73", "#cc79a7",
                                                      "#f0e442", "#0072b2", "#d55e00", "#999999"};

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

struct Chart {
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

void keep_largest(Chart& chart, std::int64_t last, std::size_t most) {
  if (chart.blocks.size() <= most) return;
  const auto cut = chart.blocks.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(
      chart.blocks.begin(), cut, chart.blocks.end(),
      [&](const MemoryBlock& a, const MemoryBlock& b) { return area(a, last) > area(b, last); });
  chart.left_out += chart.blocks.end() - cut;
  chart.blocks.erase(cut, chart.blocks.end());
}

// Draws one chart at a vertical offset.
class Picture {
 public:
  Picture(const DeviceKey& key, const Chart& chart, std::int64_t first, std::int64_t last,
          double top)
      : key_(key),
        chart_(chart),
        first_(first),
        last_(last),
        top_(top),
        addresses_(chart.blocks, kMap),
        live_(live_bytes(chart.changes)) {
    choose_colours();
  }

  std::string draw() {
    title();
    live_area();
    address_axis();
    for (const MemoryBlock& block : chart_.blocks) rectangle(block);
    time_axis();
    legend();
    return std::move(out_);
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  double x(std::int64_t time) const {
    const auto span = static_cast<double>(std::max<std::int64_t>(1, last_ - first_));
    return kLeft + kInner * (static_cast<double>(time - first_) / span);
  }
  double map_top() const { return top_ + kTop + kLive + kBetween; }
  double map_bottom() const { return map_top() + kMap; }

  std::string_view colour_class(const MemoryBlock& block) const {
    if (by_role_) return block.role.empty() ? std::string_view("no role") : block.role;
    return lifetime_class(release_time(block, last_) - block.allocated);
  }

  // Uses roles, ordered by bytes, if there are any; otherwise lifetime classes in their order.
  void choose_colours() {
    by_role_ = std::any_of(chart_.blocks.begin(), chart_.blocks.end(),
                           [](const MemoryBlock& block) { return !block.role.empty(); });
    std::map<std::string_view, double> bytes;
    for (const MemoryBlock& block : chart_.blocks) {
      bytes[colour_class(block)] += static_cast<double>(block.size);
    }
    if (by_role_) {
      for (const auto& [name, size] : bytes) classes_.emplace_back(name);
      std::stable_sort(classes_.begin(), classes_.end(),
                       [&](const auto& a, const auto& b) { return bytes.at(a) > bytes.at(b); });
    } else {
      for (const LifetimeClass& row : kLifetimes) {
        if (bytes.contains(row.name)) classes_.emplace_back(row.name);
      }
    }
  }

  std::string_view find_colour(std::string_view name) const {
    const auto found = std::find(classes_.begin(), classes_.end(), name);
    const auto index = static_cast<std::size_t>(found - classes_.begin());
    return kColours[std::min(index, kColours.size() - 1)];
  }

  void title() {
    const std::string device =
        key_.device ? fmt::format("device {} of ", *key_.device) : std::string();
    put("<text class=\"title\" x=\"16\" y=\"{:.2f}\">Memory of {}process {}: {} allocations, peak "
        "{}",
        top_ + 20, device, key_.pid, chart_.blocks.size() + chart_.left_out,
        format_bytes(Bytes{live_.peak}));
    if (chart_.left_out > 0) put("; {} smaller ones not drawn", chart_.left_out);
    if (chart_.not_drawable > 0) {
      put("; {} without size, address or possible time not drawn", chart_.not_drawable);
    }
    put("</text>\n");
  }

  void live_area() {
    const double bottom = top_ + kTop + kLive;
    const double unit = kLive / static_cast<double>(std::max<std::int64_t>(1, live_.peak));
    const auto y = [&](std::int64_t bytes) {
      return bottom - static_cast<double>(std::max<std::int64_t>(0, bytes)) * unit;
    };
    put("<path class=\"live\" d=\"M{:.2f},{:.2f}", x(first_), bottom);
    for (const auto& [time, bytes] : live_.steps) put("H{:.2f}V{:.2f}", x(time), y(bytes));
    put("H{:.2f}V{:.2f}Z\"/>\n", x(last_), bottom);
    put("<line class=\"peak\" data-peak-bytes=\"{}\" data-peak-ns=\"{}\" x1=\"{:.2f}\" "
        "x2=\"{:.2f}\" y1=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
        live_.peak, live_.peak_time - first_, kLeft, kWidth - kRight, y(live_.peak), y(live_.peak));
    put("<line class=\"peak\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.2f}\" y2=\"{2:.2f}\"/>\n",
        x(live_.peak_time), y(live_.peak), map_bottom());
    label(kLeft - 8, y(live_.peak) + 4, "end", "peak " + format_bytes(Bytes{live_.peak}));
    label(kLeft - 8, bottom + 4, "end", "0 B");
    label(16, top_ + kTop + kLive / 2 + 4, "start", "live");
  }

  void label(double left, double y, std::string_view anchor, std::string_view text) {
    put("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n", left, y, anchor, text);
  }

  void address_axis() {
    constexpr double kLabelHeight = 14;
    put("<rect class=\"frame\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
        kLeft, map_top(), kInner, kMap);
    double last_label = map_bottom() + kLabelHeight;
    for (const AddressScale::Region& region : addresses_.regions()) {
      const double y = map_bottom() - region.offset;
      if (region.offset > 0) {
        put("<line class=\"break\" x1=\"{0:.2f}\" x2=\"{1:.2f}\" y1=\"{2:.2f}\" y2=\"{2:.2f}\"/>\n",
            kLeft, kWidth - kRight, y);
      }
      if (last_label - y < kLabelHeight) continue;
      last_label = y;
      label(kLeft - 8, y + 4, "end", fmt::format("0x{:x}", region.begin));
    }
    label(16, map_top() + 12, "start", "address");
  }

  void rectangle(const MemoryBlock& block) {
    const std::int64_t end = release_time(block, last_);
    const double height = std::max(0.5, addresses_.length(block.size));
    const double begin = x(block.allocated);
    const std::string name = escape_markup(block.name);
    const std::string role = escape_markup(block.role);
    const std::string layer = escape_markup(block.layer);
    put("<rect class=\"block\" fill=\"{}\" x=\"{:.3f}\" y=\"{:.3f}\" width=\"{:.3f}\" "
        "height=\"{:.3f}\" data-name=\"{}\" data-role=\"{}\" data-layer=\"{}\" "
        "data-size-bytes=\"{}\" data-address=\"0x{:x}\" data-allocated-ns=\"{}\"",
        find_colour(colour_class(block)), begin,
        map_bottom() - addresses_.at(block.address) - height, std::max(0.5, x(end) - begin), height,
        name, role, layer, block.size, block.address, block.allocated - first_);
    if (block.released) put(" data-released-ns=\"{}\"", end - first_);
    put(" data-lifetime-ns=\"{}\" data-area-byte-ns=\"{}\"><title>{}", end - block.allocated,
        digits(area(block, last_)), name);
    if (!role.empty()) put(" ({})", role);
    if (!layer.empty()) put("&#10;layer {}", layer);
    put("&#10;{} at 0x{:x}&#10;allocated {}, {} after {}</title></rect>\n",
        format_bytes(Bytes{block.size}), block.address,
        format_time(Nanoseconds(block.allocated - first_)),
        block.released ? "released" : "still allocated",
        format_time(Nanoseconds(end - block.allocated)));
  }

  void time_axis() {
    constexpr std::int64_t kMaxTicks = 10;
    const std::int64_t span = std::max<std::int64_t>(1, last_ - first_);
    const std::int64_t step = tick_step(span, kMaxTicks);
    for (std::int64_t number = 0; number <= span / step; ++number) {
      const std::int64_t tick = number * step;
      const double at = x(first_ + tick);
      put("<line class=\"tick\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.2f}\" y2=\"{2:.2f}\"/>\n",
          at, map_bottom(), map_bottom() + 6);
      label(at, map_bottom() + 20, "middle", tick == 0 ? "0" : format_time(Nanoseconds(tick)));
    }
    label(kLeft + kInner / 2, map_bottom() + 38, "middle", "time since the first allocation");
  }

  void legend() {
    double left = kLeft;
    const double y = map_bottom() + kAxis + 8;
    label(16, y + 4, "start", by_role_ ? "role" : "lifetime");
    const std::size_t shown = std::min(classes_.size(), kColours.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const bool rest = i + 1 == kColours.size() && classes_.size() > kColours.size();
      const std::string name = rest ? "others" : shorten(classes_[i], 24);
      put("<rect class=\"key\" fill=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"12\" "
          "height=\"12\"/>\n",
          kColours[i], left, y - 6);
      label(left + 18, y + 4, "start", escape_markup(name));
      left += 40 + 7.2 * static_cast<double>(display_width(name));
    }
  }

  DeviceKey key_;
  const Chart& chart_;
  std::int64_t first_, last_;
  double top_;
  AddressScale addresses_;
  LiveBytes live_;
  bool by_role_ = false;
  std::vector<std::string> classes_;
  std::string out_;
};

// Also for a page that contains the picture: it shrinks to the page's width.
constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; } body { margin: 0; }
svg { display: block; max-width: 100%; height: auto; background: #fff; color: #1c2128;
  font: 12px system-ui, "DejaVu Sans", sans-serif; }
text { fill: currentColor; } .title { font-size: 15px; font-weight: bold; }
.frame { fill: none; stroke: #8c959f; } .tick { stroke: #8c959f; }
.break { stroke: #8c959f; stroke-dasharray: 2 3; }
.live { fill: #0a7d8c; fill-opacity: 0.3; stroke: #0a7d8c; }
.peak { stroke: #c62828; stroke-dasharray: 6 4; }
.block { stroke: #1c2128; stroke-opacity: 0.45; stroke-width: 0.5; }
.block:hover { stroke-opacity: 1; stroke-width: 2; }
@media (prefers-color-scheme: dark) { svg { background: #12161c; color: #e6edf3; } }
</style>
)";

}  // namespace

struct MemoryFlow::State {
  std::unique_ptr<ByteSink> out;
  std::map<DeviceKey, Chart> charts;
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
    if (!possible) return void(++charts[device_key(activity)].not_drawable);
    const std::int64_t end = start + length;
    Chart& chart = charts[device_key(activity)];
    const auto size = activity.attributes.integer(Attribute::size_bytes);
    const auto address = activity.attributes.integer(Attribute::address);
    if (size && *size > 0) {
      chart.changes.push_back({start, *size});
      if (activity.duration) chart.changes.push_back({end, -*size});
    }
    first = std::min(first, start);
    if (!size || *size <= 0 || !address) {
      ++chart.not_drawable;
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
    chart.blocks.push_back(std::move(block));
    // Reduces only at twice the limit: each time half of the blocks go, so a new block costs O(1).
    if (chart.blocks.size() >= 2 * kMaxRectangles) keep_largest(chart, last, kMaxRectangles);
  }

  Status finish() {
    const double height = std::max(60.0, kChart * static_cast<double>(charts.size()));
    BENCH_RETURN_IF_ERROR(out->write(fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
        kWidth, height)));
    BENCH_RETURN_IF_ERROR(out->write(kStyle));
    if (charts.empty()) {
      BENCH_RETURN_IF_ERROR(
          out->write("<text x=\"16\" y=\"34\">no allocations: was the kind "
                     "`memory` recorded?</text>\n"));
    }
    double top = 0;
    if (first > last) first = last = 0;  // no allocation has a possible time
    for (auto& [key, chart] : charts) {
      keep_largest(chart, last, kMaxRectangles);
      std::stable_sort(
          chart.blocks.begin(), chart.blocks.end(),
          [](const MemoryBlock& a, const MemoryBlock& b) { return a.allocated < b.allocated; });
      drawn += static_cast<std::int64_t>(chart.blocks.size());
      BENCH_RETURN_IF_ERROR(out->write(Picture(key, chart, first, last, top).draw()));
      top += kChart;
    }
    BENCH_RETURN_IF_ERROR(out->write("</svg>\n"));
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

}  // namespace bench
