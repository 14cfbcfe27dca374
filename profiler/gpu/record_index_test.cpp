// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/record_index.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::during;

std::string owner_scope(const std::optional<GpuRecordIndex::Ownership>& owner) {
  return owner ? owner->owner->scope : "unowned";
}

TEST(GpuRecordIndex, OperatorsBeforePhases) {
  test::GpuScript script;
  script.owner(1, "conv1", "conv");
  script.owner(50, "warm-up", "");
  script.add(GpuExternalId{GpuExternalKind::phase, 50, 10});
  script.add(GpuExternalId{GpuExternalKind::operation, 1, 10});
  script.add(GpuExternalId{GpuExternalKind::phase, 50, 11});
  script.add(GpuExternalId{GpuExternalKind::operation, 99, 12});  // no owner
  const GpuRecordIndex index(script.session);
  EXPECT_EQ(owner_scope(index.find_owner(10)), "conv1");
  EXPECT_EQ(owner_scope(index.find_owner(11)), "warm-up");
  EXPECT_EQ(owner_scope(index.find_owner(12)), "unowned");
  EXPECT_EQ(owner_scope(index.find_owner(13)), "unowned");
  EXPECT_EQ(owner_scope(index.find_owner(std::nullopt)), "unowned");
  EXPECT_EQ(index.unknown_ids(), 1);
}

// The capture determines the operator of a node, also through copies of copies. The launch
// determines the iteration.
TEST(GpuRecordIndex, NodesOfGraphs) {
  test::GpuScript script;
  script.owner(1, "conv1", "conv").iteration = 0;  // iteration of the capture
  script.owner(2, "graph", "").iteration = 8;      // iteration of the replay
  const auto launch = script.call("cudaGraphLaunch", during(0, 1), 11, 2);
  script.add(GpuGraphNode{30, 20, {}});  // copies arrive first
  script.add(GpuGraphNode{20, 10, {}});
  script.add(GpuGraphNode{10, {}, 1});
  script.add(GpuGraphNode{40, 41, {}});  // a cycle
  script.add(GpuGraphNode{41, 40, {}});
  const GpuRecordIndex index(script.session);
  EXPECT_EQ(owner_scope(index.find_owner(launch, 30)), "conv1");
  EXPECT_EQ(index.find_owner(launch, 30)->iteration, 8);
  EXPECT_EQ(index.find_owner(launch, 30)->id, 1u);
  EXPECT_EQ(owner_scope(index.find_owner(launch, 77)), "graph");  // its creation was not recorded
  EXPECT_EQ(owner_scope(index.find_owner(launch, 40)), "graph");
  EXPECT_EQ(index.find_owner(std::nullopt, 30)->iteration, std::nullopt);
}

// CUPTI first reports a copied node as created, in the region that instantiates. Then it reports
// the copy.
TEST(GpuRecordIndex, ACopiedNodeIsItsOriginalsWhoeverInstantiates) {
  for (const bool created_first : {true, false}) {
    test::GpuScript script;
    script.owner(1, "conv1", "conv");
    script.owner(2, "graph", "");
    const auto launch = script.call("cudaGraphLaunch", during(0, 1), 11, 2);
    script.add(GpuGraphNode{10, {}, 1});
    const GpuGraphNode created{20, {}, 2}, copied{20, 10, {}};
    script.add(created_first ? created : copied);
    script.add(created_first ? copied : created);
    const GpuRecordIndex index(script.session);
    EXPECT_EQ(owner_scope(index.find_owner(launch, 20)), "conv1") << created_first;
  }
}

TEST(GpuRecordIndex, CallsByCorrelationAndByTime) {
  test::GpuScript script;
  script.owner(1, "conv1", "conv");
  const auto call = script.call("cudaLaunchKernel", during(10, 20), 11, 1);
  script.call("cudaFree", during(0, 5), 11, 0);
  script.add(GpuApiCall{GpuApiDomain::driver, "cuLaunchKernel", during(12, 15), 11, call, 0});
  const GpuRecordIndex index(script.session);
  EXPECT_EQ(index.find_call(call)->name, "cudaLaunchKernel");
  EXPECT_EQ(index.find_call(999), nullptr);
  EXPECT_EQ(owner_scope(index.owner_at(11, 15ns)), "conv1");
  EXPECT_EQ(owner_scope(index.owner_at(11, 3ns)), "unowned");
  EXPECT_EQ(owner_scope(index.owner_at(11, 25ns)), "unowned");
  EXPECT_EQ(owner_scope(index.owner_at(12, 15ns)), "unowned");
}

TEST(GpuRecordIndex, FactsOfDevices) {
  test::GpuScript script;
  script.add(test::hopper(1));
  script.add(GpuContext{5, 1});
  const GpuRecordIndex index(script.session);
  EXPECT_EQ(index.device(1)->name, "NVIDIA H200");
  EXPECT_EQ(index.device(0), nullptr);
  EXPECT_EQ(index.find_device(5), 1);
  EXPECT_EQ(index.find_device(6), std::nullopt);
}

}  // namespace
}  // namespace bench
