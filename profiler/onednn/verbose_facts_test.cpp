// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

std::map<std::string, std::string> parse_facts(std::initializer_list<std::string_view> lines) {
  std::map<std::string, std::string> facts;
  for (const std::string_view line : lines) add_facts(line, facts);
  return facts;
}

TEST(VerboseFacts, OfTheFirstSeed) {
  EXPECT_THAT(parse_facts({"DNNL v1.1.2 (commit cb2cc7ac17ff4e2ef50805c7048d33256d82be4d)",
                           "Detected ISA is Intel AVX-512 with Intel DL Boost"}),
              UnorderedElementsAre(
                  Pair("library.onednn.version", "1.1.2"),
                  Pair("library.onednn.commit", "cb2cc7ac17ff4e2ef50805c7048d33256d82be4d"),
                  Pair("library.onednn.isa", "Intel AVX-512 with Intel DL Boost")));
}

TEST(VerboseFacts, OfLaterVersions) {
  EXPECT_THAT(parse_facts({"oneDNN v3.13.2 (commit c852)", "cpu,runtime:SYCL,nthr:2",
                           "cpu,isa:Intel AVX-512 with Intel DL Boost", "gpu,runtime:none",
                           "graph,backend,0:dnnl_backend", "experimental features are enabled"}),
              UnorderedElementsAre(
                  Pair("library.onednn.version", "3.13.2"), Pair("library.onednn.commit", "c852"),
                  Pair("library.onednn.cpu_runtime", "SYCL"), Pair("library.onednn.threads", "2"),
                  Pair("library.onednn.isa", "Intel AVX-512 with Intel DL Boost"),
                  Pair("library.onednn.gpu_runtime", "none"),
                  Pair("library.onednn.notes",
                       "graph,backend,0:dnnl_backend; experimental features are enabled")));
}

// Earlier, only the last GPU of a machine with two was kept.
TEST(VerboseFacts, EachGpuEngineIsKept) {
  EXPECT_THAT(parse_facts({"gpu,engine,0,name:A", "gpu,engine,1,name:B"}),
              UnorderedElementsAre(Pair("library.onednn.gpu_engine", "0,name:A; 1,name:B")));
}

TEST(VerboseFacts, RuntimeWithoutThreads) {
  EXPECT_THAT(parse_facts({"cpu,runtime:OpenMP"}),
              UnorderedElementsAre(Pair("library.onednn.cpu_runtime", "OpenMP")));
}

TEST(VerboseFacts, AHostileLogDoesNotFillTheMemory) {
  std::map<std::string, std::string> facts;
  for (int i = 0; i < 10000; ++i) add_facts("line " + std::to_string(i), facts);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_LE(facts.begin()->second.size(), 1024U);
}

TEST(VerboseFacts, TheLineThatBeginsALog) {
  EXPECT_TRUE(is_version_line("oneDNN v2.0.0 (commit x)"));
  EXPECT_TRUE(is_version_line("Intel MKL-DNN v1.0.4 (commit x)"));
  EXPECT_FALSE(is_version_line("cpu,runtime:OpenMP"));
}

}  // namespace
}  // namespace bench
