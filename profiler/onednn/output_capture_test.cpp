// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/output_capture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

std::unique_ptr<OutputCapture> start_capture() {
  auto capture = OutputCapture::start();
  EXPECT_TRUE(capture.ok());
  return capture.ok() ? std::move(*capture) : nullptr;
}

TEST(OutputCapture, KeepsWhatIsPrintedAndPutsStandardOutputBack) {
  std::FILE* const before = stdout;
  testing::internal::CaptureStdout();
  std::printf("before ");
  {
    const auto capture = start_capture();
    EXPECT_EQ(capture->written(), 0);
    std::printf("%s", "one");
    const std::int64_t first = capture->written();
    EXPECT_EQ(first, 3);
    std::fputs("two", stdout);
    std::puts("two");
    const std::int64_t second = capture->written();
    EXPECT_EQ(second, 10);
    EXPECT_EQ(capture->read(0, first), "one");
    EXPECT_EQ(capture->read(first, second), "twotwo\n");
    EXPECT_EQ(capture->read(second, second), "");
  }
  std::printf("after");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before after");
  EXPECT_EQ(stdout, before);
}

TEST(OutputCapture, ClearBeginsAgainAtZero) {
  const auto capture = start_capture();
  std::printf("much text");
  capture->clear();
  EXPECT_EQ(capture->written(), 0);
  std::printf("new");
  EXPECT_EQ(capture->read(0, capture->written()), "new");
}

TEST(OutputCapture, PassesOnToTheOldPlace) {
  testing::internal::CaptureStdout();
  {
    const auto capture = start_capture();
    std::printf("captured");
    EXPECT_TRUE(capture->forward("shown").ok());
    EXPECT_EQ(capture->written(), 8);
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "shown");
}

TEST(OutputCapture, WhatIsMoreThanAnyBufferIsKept) {
  const auto capture = start_capture();
  const std::string line(997, 'x');
  constexpr int kLines = 2000;
  for (int i = 0; i < kLines; ++i) std::printf("%s\n", line.c_str());
  ASSERT_EQ(capture->written(), kLines * 998);
  EXPECT_EQ(capture->read((kLines - 1) * 998, kLines * 998), line + "\n");
}

TEST(OutputCapture, ThreadsPrintWholeLines) {
  const auto capture = start_capture();
  constexpr int kThreads = 4, kLines = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < kLines; ++i) {
        std::printf("a line\n");
        std::fflush(stdout);
      }
    });
  }
  while (capture->written() < 7) std::this_thread::yield();
  for (std::thread& thread : threads) thread.join();
  const std::string text = capture->read(0, capture->written());
  EXPECT_EQ(text.size(), static_cast<std::size_t>(7 * kThreads * kLines));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kThreads * kLines);
  EXPECT_TRUE(text.starts_with("a line\na line\n"));
}

}  // namespace
}  // namespace bench
