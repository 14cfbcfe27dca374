// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_output.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(CountersText, SaysWhatIsKnown) {
  ProfilePassRecord pass;
  pass.details = {{"counter.tensor_active_share", "0.7312"},
                  {"tensor_cores", "used (counter)"},
                  {"tensor_cores.types", "bf16"},
                  {"check.tensor_operations", "1.002 of the model, as computed"},
                  {"counter.dram_read_bytes", "67108864"},
                  {"counter.dram_write_bytes", "33554432"},
                  {"counter.l2_hit_share", "n/a: this chip has none"},
                  {"counter.achieved_occupancy", "0.125"}};
  EXPECT_EQ(format_counters(pass),
            "    tensor cores: used (counter); 73.1 % of the active cycles; bf16; operations "
            "1.002 of the model, as computed\n"
            "    memory: 64.00 MiB read; 32.00 MiB written\n"
            "    multiprocessors: 12.5 % of the warps resident\n");
}

TEST(CountersText, ANumberOutsideTheRangeOfIntegersIsNotShown) {
  for (const char* number : {"1e300", "-1e300", "9223372036854775808"}) {
    ProfilePassRecord pass;
    pass.details = {{"counter.dram_read_bytes", number},
                    {"counter.dram_write_bytes", "33554432"},
                    {"gpu.kernels", "2"},
                    {"gpu.kernel_union_ns", number},
                    {"gpu.busy_share", "0.5"}};
    EXPECT_EQ(format_counters(pass), "    memory: 32.00 MiB written\n") << number;
    pass.id = "a";
    Report report;
    report.profile_passes = {pass};
    EXPECT_EQ(format_profile(report), "  a\n    memory: 32.00 MiB written\n") << number;
  }
}

TEST(CountersText, HasTheCountersOfAProcessor) {
  ProfilePassRecord pass;
  pass.details = {{"counter.cycles", "5000000"},
                  {"counter.instructions", "12345678"},
                  {"counter.instructions_per_cycle", "2.469"},
                  {"counter.llc_misses", "1048576"},
                  {"counter.llc_miss_bytes", "67108864"},
                  {"check.llc_miss_bytes", "1.043 of the model, as computed"},
                  {"counter.counted_share", "0.75"}};
  EXPECT_EQ(format_counters(pass),
            "    processor: 5 million cycles; 12.35 million instructions; 2.469 instructions per "
            "cycle; 75.0 % of the time counted, scaled to all of it\n"
            "    memory: 64.00 MiB missed the last-level cache; 1.043 of the model, as computed\n");
}

TEST(CountersText, ACounterThatIsMissingAloneHasItsReason) {
  ProfilePassRecord pass;
  pass.details = {{"counter.cycles", "5000000"},
                  {"counter.instructions", "10000000"},
                  {"counter.instructions_per_cycle", "2"},
                  {"counter.llc_misses", "n/a: the event cache-misses:u is not available here"}};
  EXPECT_EQ(format_counters(pass),
            "    processor: 5 million cycles; 10 million instructions; 2 instructions per cycle; "
            "n/a: the event cache-misses:u is not available here\n");
}

TEST(CountersText, SaysWhyThereAreNone) {
  ProfilePassRecord pass;
  pass.details = {{"counters", "n/a: for administrators alone (ERR_NVGPUCTRPERM)"}};
  EXPECT_EQ(format_counters(pass),
            "    counters n/a: for administrators alone (ERR_NVGPUCTRPERM)\n");
}

TEST(CountersText, WithoutCountersTheNamesOfKernelsRemain) {
  ProfilePassRecord pass;
  pass.details = {{"counters", "n/a: none here"}, {"tensor_cores", "used (name: nvjet)"}};
  EXPECT_EQ(format_counters(pass),
            "    counters n/a: none here\n"
            "    tensor cores: used (name: nvjet)\n");
}

TEST(CountersText, IsEmptyWithoutAPass) {
  ProfilePassRecord pass;
  pass.details = {{"isa", "AVX512_CORE"}};
  EXPECT_EQ(format_counters(pass), "");
}

}  // namespace
}  // namespace bench
