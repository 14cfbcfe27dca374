// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using ::testing::HasSubstr;
using Kind = CaptureWindow::Kind;
using Level = WindowState::Level;

CaptureWindow parse_window(const std::vector<std::string>& words) {
  auto window = parse_capture_window(words);
  EXPECT_TRUE(window.ok());
  return window.ok() ? *window : CaptureWindow{};
}

TEST(CaptureWindow, IsReadFromItsWords) {
  EXPECT_EQ(parse_window({}), CaptureWindow{});
  EXPECT_EQ(parse_window({"cuda-profiler-api"}).kind, Kind::profiler_api);
  EXPECT_EQ(parse_window({"nvtx:a:b"}), (CaptureWindow{Kind::by_range, "a:b", std::nullopt}));
  EXPECT_EQ(parse_window({"20-25"}),
            (CaptureWindow{Kind::by_range, std::nullopt, RangeNumbers{20, 25}}));
  EXPECT_EQ(parse_window({"3"}), (CaptureWindow{Kind::by_range, std::nullopt, RangeNumbers{3, 3}}));
  const CaptureWindow named_and_numbered{Kind::by_range, "step", RangeNumbers{0, 1}};
  EXPECT_EQ(parse_window({"nvtx:step", "0-1"}), named_and_numbered);
  EXPECT_EQ(parse_window({"0-1", "nvtx:step"}), named_and_numbered);
  EXPECT_EQ(describe(named_and_numbered), "ranges 0 to 1 named `step`");
  EXPECT_EQ(describe(parse_window({"3"})), "range 3 of the outermost ones");
}

TEST(CaptureWindow, AnythingElseIsRefusedWithWhatWasExpected) {
  const std::vector<std::vector<std::string>> invalid_windows = {{""},
                                                                 {"nvtx:"},
                                                                 {"5-4"},
                                                                 {"-1"},
                                                                 {"1-2-3"},
                                                                 {"a-b"},
                                                                 {"1-"},
                                                                 {"99999999999999999999"},
                                                                 {"1", "2"},
                                                                 {"step"},
                                                                 {"nvtx:a", "nvtx:b"},
                                                                 {"cuda-profiler-api", "1"},
                                                                 {"nvtx:a", "cuda-profiler-api"}};
  for (const auto& words : invalid_windows) {
    const auto window = parse_capture_window(words);
    ASSERT_FALSE(window.ok()) << words.front();
    EXPECT_EQ(window.error().where, "--window");
    EXPECT_THAT(window.error().next, HasSubstr("nvtx:NAME"));
  }
}

// Returns the times from 0 to 99 that are inside the window.
std::string times_inside(const WindowState& state) {
  std::string text;
  for (int t = 0; t < 100; ++t) {
    if (state.contains(Nanoseconds(t))) text += (text.empty() ? "" : " ") + std::to_string(t);
  }
  return text;
}

TEST(WindowState, IsOpenWhileARangeOfTheNameIs) {
  const CaptureWindow window = parse_window({"nvtx:step"});
  WindowState state(window);
  EXPECT_FALSE(state.was_open());
  const auto other = state.begin_range("other", Level::outermost, Nanoseconds(5));
  const auto outer = state.begin_range("step", Level::nested, Nanoseconds(10));
  const auto inner = state.begin_range("step", Level::nested, Nanoseconds(11));
  state.end_range(inner, Nanoseconds(12));
  state.end_range(outer, Nanoseconds(13));
  state.end_range(other, Nanoseconds(20));
  const auto last = state.begin_range("step", Level::nested, Nanoseconds(98));
  EXPECT_EQ(times_inside(state), "10 11 12 13 98 99");
  state.end_range(last, Nanoseconds(98));
  EXPECT_EQ(times_inside(state), "10 11 12 13 98");
  EXPECT_TRUE(state.was_open());
}

TEST(WindowState, NumbersCountOutermostRangesAndHoldWhatLiesBetween) {
  const CaptureWindow window = parse_window({"1-2"});
  WindowState state(window);
  for (int i = 0; i < 5; ++i) {
    const auto role = state.begin_range("step", Level::outermost, Nanoseconds(10 * i));
    state.end_range(state.begin_range("layer", Level::nested, Nanoseconds(10 * i + 1)),
                    Nanoseconds(10 * i + 2));
    state.end_range(role, Nanoseconds(10 * i + 3));
  }
  EXPECT_EQ(times_inside(state), "10 11 12 13 14 15 16 17 18 19 20 21 22 23");
}

TEST(WindowState, TheProfilersCallsOpenAndCloseIt) {
  const CaptureWindow window = parse_window({"cuda-profiler-api"});
  WindowState state(window);
  state.stop_profiler(Nanoseconds(1));
  state.start_profiler(Nanoseconds(3));
  state.start_profiler(Nanoseconds(4));  // the driver's call, made by the runtime's
  EXPECT_EQ(state.begin_range("step", Level::outermost, Nanoseconds(4)),
            WindowState::RangeRole::none);
  state.stop_profiler(Nanoseconds(5));
  state.stop_profiler(Nanoseconds(6));
  EXPECT_EQ(times_inside(state), "3 4 5");
}

TEST(WindowState, AChildIsInsideWhereItsParentIs) {
  const CaptureWindow window = parse_window({"nvtx:step"});
  WindowState parent(window);
  EXPECT_EQ(times_inside(parent.forked(Nanoseconds(5))), "");
  const auto role = parent.begin_range("step", Level::outermost, Nanoseconds(10));
  WindowState child = parent.forked(Nanoseconds(12));
  child.end_range(role, Nanoseconds(14));
  EXPECT_EQ(times_inside(child), "12 13 14");
  EXPECT_TRUE(parent.contains(Nanoseconds(90)));
}

}  // namespace
}  // namespace bench
