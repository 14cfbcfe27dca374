// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <vector>

namespace bench {
namespace {

struct Fixture {
  std::string name;
  std::string use;
  std::string rule;
};

std::vector<Fixture> fixtures() {
  std::istringstream text(test::read_text(std::string(BENCH_SOURCE_DIR) +
                                          "/profiler/kernel_names/testdata/kernel_names.tsv"));
  std::vector<Fixture> all;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '#') continue;
    Fixture& fixture = all.emplace_back();
    std::istringstream fields(line);
    std::getline(fields, fixture.name, '\t');
    std::getline(fields, fixture.use, '\t');
    std::getline(fields, fixture.rule, '\t');
  }
  return all;
}

std::string_view name_of(TensorCoreUse use) {
  constexpr std::array<std::string_view, 3> kNames = {"unknown", "used", "not used"};
  return kNames[static_cast<std::size_t>(use)];
}

TEST(KernelNames, OfRealLibrariesGetTheirVerdictAndRule) {
  KernelNames names;
  const std::vector<Fixture> all = fixtures();
  EXPECT_GT(all.size(), 150u);
  for (const Fixture& fixture : all) {
    const TensorCoreVerdict verdict = names.tensor_cores(fixture.name);
    EXPECT_EQ(name_of(verdict.use), fixture.use) << fixture.name;
    EXPECT_EQ(verdict.rule, fixture.rule) << fixture.name;
    EXPECT_EQ(names.tensor_cores(fixture.name), verdict) << "remembered: " << fixture.name;
  }
}

TEST(KernelNames, HaveOneRuleAnIdAndAFixtureForEach) {
  std::set<std::string_view> ids;
  std::set<std::string> used;
  for (const Fixture& fixture : fixtures()) used.insert(fixture.rule);
  for (const KernelNameRule& rule : kernel_name_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(Regex::compile(rule.pattern).ok()) << rule.id;
    EXPECT_FALSE(rule.remark.empty()) << rule.id;
    EXPECT_TRUE(used.contains(std::string(rule.id))) << "no fixture for " << rule.id;
  }
}

// The list of PyProf (gen2/tc.py), which XProf also uses. A kernel uses tensor cores if its name
// has one of the words in kWords before `gemm` or `cudnn`, or one of the words below. Its word
// `conv2d_c1_k1` is left out: that family does not use tensor cores on an H100.
TEST(KernelNames, KnowWhatPyprofKnew) {
  constexpr std::string_view kWords[] = {"h884", "s884", "h1688", "s1688", "i8816", "c1688"};
  KernelNames names;
  for (const std::string_view word : kWords) {
    for (const char* library : {"gemm_64x64_nn", "cudnn_64x64_nn"}) {
      const std::string name = "volta_" + std::string(word) + library;
      EXPECT_EQ(names.tensor_cores(name).use, TensorCoreUse::used) << name;
    }
  }
  for (const char* name :
       {"a_hmma_b", "s16816gemm", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
        "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv",
        "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm"}) {
    EXPECT_EQ(names.tensor_cores(name).use, TensorCoreUse::used) << name;
  }
}

TEST(KernelNames, ALongNameTellsWhatTheShortOneLeavesOpen) {
  KernelNames names;
  const std::string long_name = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128>";
  EXPECT_EQ(names.tensor_cores("Kernel2", "").use, TensorCoreUse::unknown);
  EXPECT_EQ(format_verdict(names.tensor_cores("Kernel2", long_name)), "used (name: tensorop)");
  EXPECT_EQ(format_verdict(names.tensor_cores("", long_name)), "used (name: tensorop)");
  // A lambda among the arguments of a copy does not make it a product.
  EXPECT_EQ(
      format_verdict(names.tensor_cores("elementwise_kernel", "elementwise_kernel<nvjet_like>")),
      "not used (name: elementwise)");
  // After a rule that returns "unknown", the long name is not tried.
  EXPECT_EQ(format_verdict(names.tensor_cores("triton_tem_fused_mm", "softmax")), "unknown");
}

TEST(KernelNames, TextNamesTheEvidence) {
  EXPECT_EQ(format_verdict({TensorCoreUse::used, TensorCoreEvidence::name, "nvjet"}),
            "used (name: nvjet)");
  EXPECT_EQ(format_verdict({TensorCoreUse::not_used, TensorCoreEvidence::name, "gemv"}),
            "not used (name: gemv)");
  EXPECT_EQ(format_verdict({TensorCoreUse::used, TensorCoreEvidence::counter, ""}),
            "used (counter)");
  EXPECT_EQ(format_verdict({TensorCoreUse::not_used, TensorCoreEvidence::counter, ""}),
            "not used (counter)");
  EXPECT_EQ(format_verdict(engine_verdict("engine 4: tensor core, compiled at run time; workspace "
                                          "unknown",
                                          DataType::f16)),
            "used (engine)");
  EXPECT_EQ(format_verdict(engine_verdict("engine 28: workspace 0 KiB", DataType::f16)),
            "not used (engine)");
  EXPECT_EQ(format_verdict(engine_verdict("7", DataType::f16)), "unknown");  // another library's
  // Most engines of integers have no note, although they use tensor cores.
  EXPECT_EQ(format_verdict(engine_verdict("engine 4: workspace 0 KiB", DataType::s8)), "unknown");
  EXPECT_EQ(format_verdict({}), "unknown");
}

// Imitates a profile in which every kernel name is different. The cache forgets some names, and
// their verdict is computed again.
TEST(KernelNames, MemoryOfNamesIsBoundedAndAnswersStayRight) {
  KernelNames names;
  for (int i = 0; i < 12'000; ++i) {
    ASSERT_EQ(names.tensor_cores("nvjet_" + std::to_string(i)).use, TensorCoreUse::used);
  }
  EXPECT_EQ(names.tensor_cores("nvjet_0").use, TensorCoreUse::used);
  EXPECT_EQ(names.tensor_cores(std::string(1 << 20, 'x')).use, TensorCoreUse::unknown);
}

struct CollectingSink final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

Activity make_activity(ActivityKind kind, const char* name) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  return activity;
}

Activity annotate(const Activity& activity) {
  CollectingSink collected;
  KernelNameSink sink(collected);
  EXPECT_TRUE(sink.consume(activity).ok());
  EXPECT_EQ(collected.activities.size(), 1u);
  return collected.activities.front();
}

TEST(KernelNameSink, AddsWhatTheNameTells) {
  Activity kernel = make_activity(ActivityKind::kernel, "nvjet_tst_64x8_64x16_4x1_v_bz_TNT");
  kernel.attributes.set(Attribute::registers, std::int64_t{168});
  Activity expected = kernel;
  expected.attributes.set(Attribute::tensor_cores, "used (name: nvjet)");
  EXPECT_EQ(annotate(kernel), expected);
}

TEST(KernelNameSink, ReadsTheLongName) {
  Activity kernel = make_activity(ActivityKind::kernel, "Kernel2");
  kernel.attributes.set(Attribute::long_name, "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>");
  EXPECT_EQ(annotate(kernel).attributes.text(Attribute::tensor_cores), "not used (name: simt)");
}

TEST(KernelNameSink, LeavesWhatTheFileSays) {
  Activity kernel = make_activity(ActivityKind::kernel, "nvjet_tst_64x8");
  for (const char* value : {"not used (counter)", "1", "-"}) {
    kernel.attributes.set(Attribute::tensor_cores, value);
    EXPECT_EQ(annotate(kernel), kernel);
  }
}

TEST(KernelNameSink, LeavesUnknownNamesAndOtherKinds) {
  const Activity unknown = make_activity(ActivityKind::kernel, "matmul_kernel");
  EXPECT_EQ(annotate(unknown), unknown);
  const Activity range = make_activity(ActivityKind::range, "nvjet_tst_64x8");
  EXPECT_EQ(annotate(range), range);
}

Activity kernel(const char* name, const char* purpose = nullptr) {
  Activity activity;
  activity.kind = ActivityKind::kernel;
  activity.name = name;
  if (purpose != nullptr) activity.attributes.set(Attribute::auxiliary, purpose);
  return activity;
}

std::optional<std::string> describe_use(const std::vector<Activity>& activities) {
  return tensor_cores_by_name(activities);
}

constexpr const char* kTensorCoreName = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT";
constexpr const char* kSimtName = "cutlass_80_simt_sgemm_128x32_8x5_nn_align1";
constexpr const char* kUnknownName = "matmul_kernel";

TEST(TensorCoresByName, AgreeingKernelsSpeakWithOneVoice) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kTensorCoreName)}), "used (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kSimtName)}), "not used (name: simt)");
  EXPECT_EQ(describe_use({kernel(kUnknownName)}), "unknown");
}

TEST(TensorCoresByName, AuxiliaryKernelsAreNotAsked) {
  EXPECT_EQ(
      describe_use({kernel("nchwToNhwcKernel", "layout conversion"), kernel(kTensorCoreName)}),
      "used (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kTensorCoreName, "layout conversion")}), std::nullopt);
}

TEST(TensorCoresByName, AUseIsCountedAmongOthers) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kSimtName), kernel(kSimtName)}),
            "used by 1 of 3 kernels (name: nvjet)");
}

// On an H100, 280 of 285 kernels had unknown names, and the line read as 280 without tensor cores.
TEST(TensorCoresByName, UnknownKernelsDoNotReadAsKernelsWithout) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kUnknownName), kernel(kUnknownName)}),
            "used by 1 of 3 kernels, unknown for 2 (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kSimtName), kernel(kUnknownName)}),
            "used by 1 of 3 kernels, not used by 1, unknown for 1 (name: nvjet)");
}

TEST(TensorCoresByName, WithoutAUseOneUnknownNameLeavesItOpen) {
  EXPECT_EQ(describe_use({kernel(kSimtName), kernel(kUnknownName)}), "unknown");
}

TEST(TensorCoresByName, OtherActivitiesAreNoKernels) {
  Activity range = kernel(kTensorCoreName);
  range.kind = ActivityKind::range;
  EXPECT_EQ(describe_use({range}), std::nullopt);
}

}  // namespace
}  // namespace bench
