// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell.hpp"

#include <gtest/gtest.h>

namespace bench::analysis {
namespace {

TEST(Cell, PeopleReadNumbersWithTheirUnit) {
  EXPECT_EQ(readable(std::int64_t{20'753'900}, Quantity::time), "20.75 ms");
  EXPECT_EQ(readable(1862527316022.5308, Quantity::flop_rate), "1.8625 TFLOP/s");
  EXPECT_EQ(readable(std::int64_t{38'654'705'664}, Quantity::flop), "38.65 GFLOP");
  EXPECT_EQ(readable(std::int64_t{25'698'304}, Quantity::byte), "24.51 MiB");
  EXPECT_EQ(readable(25'698'304 / 1.1e-3, Quantity::byte_rate), "23.36 GB/s");
  EXPECT_EQ(readable(0.786, Quantity::share), "78.6 %");
  EXPECT_EQ(readable(std::int64_t{7}, Quantity::none), "7");
  EXPECT_EQ(readable(Cell(), Quantity::time), "n/a");
}

TEST(Cell, ProgramsReadDigits) {
  EXPECT_EQ(raw(std::int64_t{20'753'900}), "20753900");
  EXPECT_EQ(raw(0.1), "0.1");
  EXPECT_EQ(raw(std::string("a b")), "a b");
  EXPECT_EQ(raw(Cell()), "");
}

TEST(Cell, NothingThatATerminalObeysIsReadable) {
  EXPECT_EQ(readable(Cell(std::string("\x1b[2Jx\n")), Quantity::none), "\\x1b[2Jx\\x0a");
}

TEST(Cell, NumbersComeBeforeTextAndCompareByValue) {
  EXPECT_EQ(compare(std::int64_t{2}, 1.5), 1);
  EXPECT_EQ(compare(1.5, std::int64_t{2}), -1);
  EXPECT_EQ(compare(2.0, std::int64_t{2}), 0);
  EXPECT_EQ(compare((std::int64_t{1} << 60) + 1, std::int64_t{1} << 60), 1);
  EXPECT_EQ(compare(std::string("a"), std::int64_t{9}), 1);
  EXPECT_EQ(compare(std::int64_t{9}, std::string("a")), -1);
  EXPECT_EQ(compare(std::string("a"), std::string("b")), -1);
}

}  // namespace
}  // namespace bench::analysis
