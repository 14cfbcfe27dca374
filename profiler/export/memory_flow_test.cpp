// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/memory_flow.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <regex>
#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Activity allocation(std::string name, std::int64_t start, std::optional<std::int64_t> duration,
                    std::int64_t size, std::int64_t address) {
  Activity a;
  a.kind = ActivityKind::allocation;
  a.name = std::move(name);
  a.start = Nanoseconds(start);
  if (duration) a.duration = Nanoseconds(*duration);
  a.track.pid = 100;
  a.attributes.set(Attribute::size_bytes, size);
  a.attributes.set(Attribute::address, address);
  return a;
}

std::string render_svg(const std::vector<Activity>& activities) {
  std::string text;
  const auto flow = MemoryFlow::to(text);
  for (const Activity& a : activities) EXPECT_TRUE(flow->consume(a).ok());
  EXPECT_TRUE(flow->finish().ok());
  const test::TemporaryFolder folder;
  const std::string path = folder.write("m.svg", text);
  const test::ProgramResult xml = test::run_program(
      {{"python3", "-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", path}, ".", {}});
  EXPECT_EQ(xml.status, 0) << xml.err << text;
  return text;
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Returns data-<name> of the n-th allocation.
std::int64_t read_data(const std::string& svg, const std::string& name, int n) {
  const std::regex pattern("<g class=\"mark\"[^>]* data-" + name + "=\"([0-9]+)\"");
  auto match = std::sregex_iterator(svg.begin(), svg.end(), pattern);
  std::advance(match, n);
  return std::stoll((*match)[1]);
}

std::vector<Activity> example_allocations() {
  Activity weights = allocation("conv1.weights", 1'000'000, 9'000'000, 1 << 20, 0x7f0000000000);
  weights.attributes.set(Attribute::role, "weights");
  weights.scope = "resnet50:conv1";
  Activity scratch = allocation("scratchpad", 3'000'000, 2'000'000, 4 << 20, 0x7f0000100000);
  scratch.attributes.set(Attribute::role, "scratchpad");
  Activity forever = allocation("cache", 6'000'000, std::nullopt, 2 << 20, 0x560000000000);
  forever.attributes.set(Attribute::role, "cold copy");
  Activity on_gpu = allocation("input", 2'000'000, 4'000'000, 1 << 20, 0x900000000);
  on_gpu.track.device = 0;
  return {weights, scratch, forever, on_gpu};
}

TEST(MemoryFlow, ShowsEveryAllocation) {
  test::expect_golden("profiler/export/testdata/memory_flow.svg",
                      render_svg(example_allocations()));
}

TEST(MemoryFlow, ARectangleAnAllocationItsAreaBytesTimesLifetime) {
  const std::string svg = render_svg(example_allocations());
  EXPECT_EQ(count(svg, "<rect class=\"block "), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(read_data(svg, "area-byte-ns", i),
              read_data(svg, "size-bytes", i) * read_data(svg, "lifetime-ns", i));
  }
  EXPECT_EQ(read_data(svg, "area-byte-ns", 0), std::int64_t{1 << 20} * 9'000'000);
  EXPECT_EQ(read_data(svg, "lifetime-ns", 2), 4'000'000);  // to the last time of the profile
  EXPECT_EQ(count(svg, "data-released-ns"), 3);
  EXPECT_THAT(svg, HasSubstr("data-peak-bytes=\"5242880\" data-peak-ns=\"2000000\""));
  EXPECT_THAT(svg, HasSubstr("Memory of device 0 of process 100: 1 allocation, peak 1.000 MiB"));
}

TEST(MemoryFlow, WithoutRolesTheLegendIsOfLifetimes) {
  const std::string svg =
      render_svg({allocation("a", 0, 50'000, 10, 16), allocation("b", 0, 2'000'000, 10, 64)});
  EXPECT_THAT(svg, HasSubstr(">under 100 us<"));
  EXPECT_THAT(svg, HasSubstr(">under 10 ms<"));
  EXPECT_THAT(svg, Not(HasSubstr(">under 1 s<")));
}

TEST(MemoryFlow, HostileNamesAndSizesStayData) {
  constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
  std::vector<Activity> activities = {
      allocation("\"/><script>alert(1)</script>\xff\x01", 0, 10, 10, 16),
      allocation("b", 0, kMaxInteger, kMaxInteger, -1),
      allocation("c", kMaxInteger, kMaxInteger, 10, 16), allocation("d", 0, -5, 10, 16),
      allocation("e", 0, 5, -10, 16)};
  activities[0].attributes.set(Attribute::role, "]]>&'");
  const std::string svg = render_svg(activities);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&quot;/&gt;&lt;script&gt;"));
  EXPECT_EQ(count(svg, "<rect class=\"block "), 1);
  EXPECT_THAT(svg, HasSubstr("; 4 without size, address or possible time not drawn"));
}

TEST(MemoryFlow, DrawsTheLargestOfVeryMany) {
  std::vector<Activity> activities;
  for (int i = 0; i < 50'000; ++i) activities.push_back(allocation("small", i, 1, 1, 64 * i));
  activities.push_back(allocation("large", 0, 1000, 1 << 20, 1 << 30));
  const std::string svg = render_svg(activities);
  EXPECT_EQ(count(svg, "<rect class=\"block "), static_cast<int>(kMaxRectangles));
  EXPECT_THAT(svg, HasSubstr("data-name=\"large\""));
  EXPECT_THAT(svg, HasSubstr(": 50001 allocations, "));
  EXPECT_THAT(svg, HasSubstr("; 30001 smaller ones not drawn"));
}

// Earlier, the time axis was then computed from the limits of the integer type.
TEST(MemoryFlow, AnImpossibleTimeAloneIsNotDrawn) {
  const std::string svg = render_svg({allocation("late", 4'000'000'000'000'000'000, 1, 64, 4096)});
  EXPECT_THAT(svg, HasSubstr("1 without size, address or possible time not drawn"));
}

TEST(MemoryFlow, SaysWhenThereIsNothing) {
  EXPECT_THAT(render_svg({}), HasSubstr("no allocations: was the kind `memory` recorded?"));
}

MemoryBlock block(std::uint64_t address, std::int64_t size) {
  MemoryBlock b;
  b.address = address;
  b.size = size;
  return b;
}

TEST(LiveBytes, ReleasesFirstWhereTimesAreEqual) {
  const LiveBytes live = live_bytes({{20, 100}, {10, 100}, {20, -100}, {30, -100}});
  EXPECT_EQ(live.peak, 100);
  EXPECT_EQ(live.peak_time, 10);
  const std::vector<std::pair<std::int64_t, std::int64_t>> steps = {{10, 100}, {20, 100}, {30, 0}};
  EXPECT_EQ(live.steps, steps);
}

TEST(AddressScale, LeavesOutEmptySpaceAndKeepsProportions) {
  const AddressScale scale({block(0x1000, 300), block(0x1000 + 300, 100), block(1u << 30, 400)},
                           108);
  ASSERT_EQ(scale.regions().size(), 2u);
  EXPECT_DOUBLE_EQ(scale.at(0x1000), 0);
  EXPECT_DOUBLE_EQ(scale.length(400), 50);  // 800 bytes in a height of 108 minus a break of 8
  EXPECT_DOUBLE_EQ(scale.at(0x1000 + 300), 37.5);  // 300 / 800 of 100
  EXPECT_DOUBLE_EQ(scale.at(1u << 30), 58);
  EXPECT_DOUBLE_EQ(scale.at((1u << 30) + 400), 108);
}

TEST(AddressScale, HasRoomForManyRegionsAndTheLastAddress) {
  std::vector<MemoryBlock> blocks;
  for (std::uint64_t i = 0; i < 1000; ++i) blocks.push_back(block(i << 32, 64));
  const AddressScale scale(blocks, 100);
  EXPECT_EQ(scale.regions().size(), 1000u);
  EXPECT_NEAR(scale.at((999ull << 32) + 64), 100, 1e-6);
  const AddressScale end({block(std::numeric_limits<std::uint64_t>::max() - 1, 1000)}, 100);
  EXPECT_LE(end.at(std::numeric_limits<std::uint64_t>::max()), 100);
  EXPECT_TRUE(AddressScale({}, 100).regions().empty());
}

}  // namespace
}  // namespace bench
