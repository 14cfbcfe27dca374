// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/capture.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace bench {
namespace {

// A descriptor of the test's own in place of standard output.
class OutputCaptureTest : public testing::Test {
 protected:
  OutputCaptureTest() : file_(std::tmpfile()) {}
  ~OutputCaptureTest() override { std::fclose(file_); }
  int descriptor() const { return fileno(file_); }
  void print(const std::string& text) const {
    ASSERT_EQ(write(descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string outside() const {
    std::string text(1000, '\0');
    const ssize_t count = pread(descriptor(), text.data(), text.size(), 0);
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }

 private:
  std::FILE* file_;
};

TEST_F(OutputCaptureTest, KeepsWhatIsPrintedAndPutsTheDescriptorBack) {
  print("before ");
  {
    auto capture = OutputCapture::start(descriptor());
    ASSERT_TRUE(capture.ok()) << capture.error().message();
    EXPECT_EQ((*capture)->written(), 0);
    print("one");
    const std::int64_t first = (*capture)->written();
    EXPECT_EQ(first, 3);
    print("twotwo");
    const std::int64_t second = (*capture)->written();
    EXPECT_EQ(second, 9);
    EXPECT_EQ(*(*capture)->read(0, first), "one");
    EXPECT_EQ(*(*capture)->read(first, second), "twotwo");
    EXPECT_EQ(*(*capture)->read(second, second), "");
    EXPECT_FALSE((*capture)->read(second, second + 1).ok());
  }
  print("after");
  EXPECT_EQ(outside(), "before after");
}

TEST_F(OutputCaptureTest, ClearBeginsAgainAtZero) {
  auto capture = OutputCapture::start(descriptor());
  ASSERT_TRUE(capture.ok());
  print("much text");
  (*capture)->clear();
  EXPECT_EQ((*capture)->written(), 0);
  print("new");
  EXPECT_EQ(*(*capture)->read(0, (*capture)->written()), "new");
}

TEST_F(OutputCaptureTest, PassesOnToTheOldPlace) {
  {
    auto capture = OutputCapture::start(descriptor());
    ASSERT_TRUE(capture.ok());
    print("captured");
    ASSERT_TRUE((*capture)->pass_on("shown").ok());
    EXPECT_EQ((*capture)->written(), 8);
  }
  EXPECT_EQ(outside(), "shown");
}

TEST_F(OutputCaptureTest, StandardOutputIsCapturedThroughStdio) {
  std::string text;
  {
    auto capture = OutputCapture::start(STDOUT_FILENO);
    ASSERT_TRUE(capture.ok());
    std::printf("partial ");
    std::printf("line\n");
    text = *(*capture)->read(0, (*capture)->written());
  }
  EXPECT_EQ(text, "partial line\n");
}

TEST(OutputCapture, AnInvalidDescriptorIsAnError) {
  constexpr int kClosed = 987;
  const auto capture = OutputCapture::start(kClosed);
  ASSERT_FALSE(capture.ok());
  EXPECT_NE(capture.error().message().find("cannot keep the library's output"), std::string::npos);
}

}  // namespace
}  // namespace bench
