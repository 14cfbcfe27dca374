// SPDX-License-Identifier: Apache-2.0
#include "harness/host/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::Pair;

const Cores kTwoWaySmt = {{0, 4}, {1, 5}, {2, 6}};

TEST(PlaceThreads, AllMeansEveryAllowedProcessor) {
  EXPECT_THAT(*place_threads(std::nullopt, kTwoWaySmt), ElementsAre(0, 1, 2, 4, 5, 6));
}

TEST(PlaceThreads, FewerTakePhysicalCoresFirst) {
  EXPECT_THAT(*place_threads(2, kTwoWaySmt), ElementsAre(0, 1));
  EXPECT_THAT(*place_threads(4, kTwoWaySmt), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(*place_threads(2, {{5}, {3, 7}}), ElementsAre(5, 3));
}

TEST(PlaceThreads, MoreThanThereAreIsRefused) {
  const auto placed = place_threads(7, kTwoWaySmt);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.error().message(), "7 threads requested, 6 processors may be used");
  EXPECT_FALSE(place_threads(0, kTwoWaySmt).ok());
}

TEST(WorkerEnvironment, SetsThreadsAndDropsWhatSteersThem) {
  const auto environment = worker_environment({{"HOME", "/root"},
                                               {"OMP_NUM_THREADS", "64"},
                                               {"KMP_AFFINITY", "none"},
                                               {"GOMP_CPU_AFFINITY", "0"},
                                               {"BENCHMARK_REPETITIONS", "9"},
                                               {"ONEDNN_JIT_DUMP", "0"}},
                                              {{0, 2}}, {{"ONEDNN_MAX_CPU_ISA", "AVX2"}});
  EXPECT_THAT(environment,
              ElementsAre(Pair("GOMP_SPINCOUNT", "20000"), Pair("HOME", "/root"),
                          Pair("OMP_DYNAMIC", "false"), Pair("OMP_NUM_THREADS", "2"),
                          Pair("OMP_PLACES", "{0},{2}"), Pair("OMP_PROC_BIND", "close"),
                          Pair("ONEDNN_JIT_DUMP", "0"), Pair("ONEDNN_MAX_CPU_ISA", "AVX2")));
}

// ONEDNN_VERBOSE=all in the user's shell made a short case take twice as long, without a note.
TEST(WorkerEnvironment, AnInheritedVerboseModeOfTheLibraryIsNotMeasured) {
  const std::map<std::string, std::string> inherited = {{"ONEDNN_VERBOSE", "all"},
                                                        {"ONEDNN_VERBOSE_TIMESTAMP", "1"},
                                                        {"DNNL_VERBOSE", "2"},
                                                        {"MKLDNN_VERBOSE", "2"}};
  for (const auto& [name, value] : worker_environment(inherited, {{0}}, {}))
    EXPECT_EQ(name.find("VERBOSE"), std::string::npos) << name;
  const auto asked = worker_environment(inherited, {{0}}, {{"ONEDNN_VERBOSE", "dispatch"}});
  EXPECT_EQ(asked.at("ONEDNN_VERBOSE"), "dispatch");
}

TEST(PlaceStreams, NeighbouringCoresWithAllTheirProcessorsAreOneStream) {
  EXPECT_THAT(*place_streams({std::nullopt, 3}, kTwoWaySmt),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6)));
  EXPECT_THAT(*place_streams({std::nullopt, 2}, kTwoWaySmt),
              ElementsAre(ElementsAre(0, 4, 1), ElementsAre(5, 2, 6)));
  EXPECT_THAT(*place_streams({3, 2}, kTwoWaySmt), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(PlaceStreams, WithoutStreamsThePlacementIsThatOfThreads) {
  EXPECT_THAT(*place_streams({4, 1}, kTwoWaySmt), ElementsAre(ElementsAre(0, 1, 2, 4)));
}

TEST(PlaceStreams, MoreStreamsThanThreadsAreRefused) {
  EXPECT_EQ(place_streams({2, 3}, kTwoWaySmt).error().what,
            "3 streams need at least 3 threads, found 2");
  EXPECT_EQ(
      place_streams({std::nullopt, 7}, kTwoWaySmt).error().message(),
      "7 streams need at least 7 threads, 6 processors may be used; use `streams: 6` or fewer "
      "here");
  EXPECT_FALSE(place_streams({7, 2}, kTwoWaySmt).ok());
}

// With places, the runtime bound the threads of every stream to the same first processors.
TEST(WorkerEnvironment, AWorkerWithStreamsBindsItsThreadsItself) {
  const auto environment = worker_environment({{"BENCH_STREAMS", "9"}}, {{0, 1}, {2}}, {});
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(environment.at("OMP_PROC_BIND"), "false");
  EXPECT_FALSE(environment.contains("OMP_PLACES"));
  EXPECT_EQ(environment.at("BENCH_STREAMS"), "0,1;2");
  EXPECT_FALSE(worker_environment({{"BENCH_STREAMS", "9"}}, {{0}}, {}).contains("BENCH_STREAMS"));
}

TEST(StreamProcessors, AreReadBackFromTheirText) {
  const StreamProcessors streams = {{0, 1}, {2}, {13, 4}};
  EXPECT_EQ(format_stream_processors(streams), "0,1;2;13,4");
  EXPECT_EQ(parse_stream_processors("0,1;2;13,4"), streams);
  EXPECT_EQ(parse_stream_processors("7"), StreamProcessors{{7}});
  for (const char* text : {"", ";", "0;", "0,,1", "a", "0 1", "-1", "0;1,"})
    EXPECT_EQ(parse_stream_processors(text), std::nullopt) << text;
}

TEST(WorkerEnvironment, OverridesWin) {
  const auto environment = worker_environment({}, {{0}}, {{"GOMP_SPINCOUNT", "0"}});
  EXPECT_EQ(environment.at("GOMP_SPINCOUNT"), "0");
}

TEST(EnvironmentDetails, RecordThreadsAndVariablesOfLibraryLoaderAndAllocator) {
  EXPECT_THAT(
      environment_details({{"HOME", "/root"},
                           {"BENCH_COORDINATOR", "7"},
                           {"BENCH_SLOWDOWN", "3%"},
                           {"DNNL_VERBOSE", "2"},
                           {"GOMP_SPINCOUNT", "20000"},
                           {"GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"},
                           {"LD_PRELOAD", "libjemalloc.so"},
                           {"MALLOC_ARENA_MAX", "1"},
                           {"OMP_NUM_THREADS", "2"}}),
      ElementsAre(Pair("env.BENCH_SLOWDOWN", "3%"), Pair("env.DNNL_VERBOSE", "2"),
                  Pair("env.GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"),
                  Pair("env.LD_PRELOAD", "libjemalloc.so"), Pair("env.MALLOC_ARENA_MAX", "1"),
                  Pair("gomp_spincount", "20000"), Pair("omp_num_threads", "2")));
}

TEST(InheritedVariables, DecideWhatAWorkerLoadsAndRuns) {
  EXPECT_THAT(inherited_variables({{"HOME", "/root"},
                                   {"BENCH_COORDINATOR", "7"},
                                   {"BENCH_CUDA_LIBS", "/cudnn"},
                                   {"LD_LIBRARY_PATH", "/lib"},
                                   {"LD_PRELOAD", "/lib/a.so"},
                                   {"ONEDNN_MAX_CPU_ISA", "SSE41"},
                                   {"OMP_NUM_THREADS", "2"}}),
              ElementsAre(Pair("BENCH_CUDA_LIBS", "/cudnn"), Pair("LD_LIBRARY_PATH", "/lib"),
                          Pair("LD_PRELOAD", "/lib/a.so"), Pair("ONEDNN_MAX_CPU_ISA", "SSE41")));
}

// A preloaded allocator changes times, but no result file named it.
TEST(WorkerEnvironment, TheRecordHasThePreloadedLibrary) {
  EXPECT_THAT(environment_details({{"LD_PRELOAD", "/lib/libjemalloc.so.2"}}),
              ElementsAre(Pair("env.LD_PRELOAD", "/lib/libjemalloc.so.2")));
}

TEST(VariableOfDetail, IsTheVariableThatAWorkerInherits) {
  EXPECT_EQ(variable_of_detail("env.ONEDNN_MAX_CPU_ISA"), "ONEDNN_MAX_CPU_ISA");
  EXPECT_EQ(variable_of_detail("ld_library_path"), "LD_LIBRARY_PATH");
  EXPECT_EQ(variable_of_detail("omp_num_threads"), std::nullopt) << "bench sets it";
  EXPECT_EQ(variable_of_detail("governor"), std::nullopt);
}

TEST(AllowedCores, AreDistinctProcessors) {
  std::vector<int> processors;
  for (const std::vector<int>& core : allowed_cores()) {
    processors.insert(processors.end(), core.begin(), core.end());
  }
  ASSERT_FALSE(processors.empty());
  std::sort(processors.begin(), processors.end());
  EXPECT_EQ(std::adjacent_find(processors.begin(), processors.end()), processors.end());
}

}  // namespace
}  // namespace bench
