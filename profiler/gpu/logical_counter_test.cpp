// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/logical_counter.hpp"

#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

TEST(LogicalCounter, RowsAreInTheOrderOfTheEnumeratorsAndNamesDiffer) {
  std::set<std::string_view> names;
  std::size_t position = 0;
  for (const LogicalCounterRow& row : logical_counters()) {
    EXPECT_EQ(static_cast<std::size_t>(row.counter), position++) << row.name;
    EXPECT_EQ(&counter_row(row.counter), &row);
    EXPECT_EQ(find_logical_counter(row.name), &row);
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    names.insert(row.name);
  }
  EXPECT_EQ(position, static_cast<std::size_t>(LogicalCounter::achieved_occupancy) + 1);
  EXPECT_EQ(names.size(), position);
  EXPECT_EQ(find_logical_counter("l2_hits"), nullptr);
}

TEST(LogicalCounter, AbsentIsUnknownAndNot0) {
  const CounterReadings readings = {{"dram_read_bytes", {4096.0, "dram__bytes_read.sum"}},
                                    {"dram_write_bytes", {0.0, "dram__bytes_write.sum"}},
                                    {"l2_hit_share", {std::nullopt, "no such counter"}}};
  EXPECT_EQ(find_value(readings, LogicalCounter::dram_read_bytes), 4096.0);
  EXPECT_EQ(find_value(readings, LogicalCounter::dram_write_bytes), 0.0);
  EXPECT_EQ(find_value(readings, LogicalCounter::l2_hit_share), std::nullopt);
  EXPECT_EQ(find_value(readings, LogicalCounter::achieved_occupancy), std::nullopt);
}

TEST(LogicalCounter, Text) {
  EXPECT_EQ(format_reading("tensor_operations_bf16", {1099511627776.0, "x"}), "1099511627776");
  EXPECT_EQ(format_reading("dram_read_bytes", {4096.0, "x"}), "4096");
  EXPECT_EQ(format_reading("l2_hit_share", {0.83125, "x"}), "0.8313");
  EXPECT_EQ(format_reading("l2_hit_share", {std::nullopt, "this chip has no L2"}),
            "n/a: this chip has no L2");
  EXPECT_EQ(format_reading("power", {2.5, "x"}), "2.5");
}

}  // namespace
}  // namespace bench
