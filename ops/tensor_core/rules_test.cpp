// SPDX-License-Identifier: Apache-2.0
// Properties of the table of rules, over all combinations and over random shapes. Also checks that
// the manual contains every rule.
#include "ops/tensor_core/rules.hpp"

#include "ops/network/network.hpp"
#include "ops/tensor_core/test_support.hpp"
#include "profiler/kernel_names/kernel_names.hpp"
#include "tests/support/generated.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bench::ops::op_test {
namespace {

constexpr DataType kTypes[] = {DataType::f64, DataType::f32, DataType::f16,     DataType::bf16,
                               DataType::s8,  DataType::u8,  DataType::f8_e4m3, DataType::f8_e5m2};

struct Shape {
  std::string_view op;
  std::string_view tokens;
};
// At least one shape for each value of each fact.
constexpr Shape kShapes[] = {
    {"gemm", "m64n64k64"},
    {"gemm", "m64n64k64+tb"},
    {"gemm", "m64n8k24+tb"},
    {"gemm", "m63n61k57+tb"},
    {"gemm", "m64n62k64+tb"},
    {"gemm", "m1n64k64+tb"},
    {"gemm", "m64n1k64+tb"},
    {"gemm", "m64n64k1"},
    {"gemm", "m3n64k64+tb"},
    {"gemm", "b3m64n36k60+ta"},
    {"conv", "c64h8w8k64r3s3p1"},
    {"conv", "c3h8w8k64r3s3p1"},
    {"conv", "c8h8w8k64r3s3p1"},
    {"conv", "c24h8w8k40r3s3p1"},
    {"conv", "c63h8w8k60r3s3p1"},
    {"conv", "c12h8w8k20r3s3p1"},
    {"conv", "g4c64h8w8k64r3s3p1"},
    {"conv", "g32c64h8w8k64r3s3p1"},
    {"attention", "h4q24d64"},
    {"attention", "h4q24d20"},
    {"attention", "h4q24k20d64+causal"},
    {"attention", "h4q24d192"},
    {"attention", "h4q24d264"},
    {"conv", "g64c64h8w8k64r3s3p1"},
    {"conv", "c64w8k64s3"},
    {"conv", "c32d8h8w8k32t3r3s3"},
    {"conv", "c64h8w8k64r3s3p1+transposed"},
};

template <class Visit>
void for_each_question(Visit visit) {
  for (const Shape& shape : kShapes) {
    for (const DataType dtype : kTypes) {
      for (const Direction direction : find_operator(shape.op)->directions) {
        const auto made = try_problem(shape.op, shape.tokens, dtype, direction);
        if (!made) continue;  // the operator is not defined for the type
        Problem base = *made;
        for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
          for (const Math math : {Math::standard, Math::tf32, Math::fast_accumulation}) {
            base.layout = layout;
            base.math = math;
            visit(base);
          }
        }
      }
    }
  }
}

template <class Visit>
void for_each_verdict(Visit visit) {
  for_each_question([&](const Problem& problem) {
    for (const Architecture& architecture : architectures()) {
      for (const LibraryGenerationInfo& libraries : library_generations()) {
        const Platform platform{&architecture, libraries.generation};
        visit(problem, platform, assess_tensor_cores(problem, platform));
      }
    }
  });
}

TEST(TensorCoreRuleTable, DecidesEveryPartOfEveryQuestionAndNoRuleIsDead) {
  std::set<std::string_view> used;
  for_each_verdict(
      [&](const Problem& problem, const Platform& platform, const TensorCoreEligibility& verdict) {
        ASSERT_EQ(verdict.parts.size(), kTensorCoreParts);
        bool all = true;
        for (std::size_t i = 0; i < kTensorCoreParts; ++i) {
          const TensorCorePartVerdict& part = verdict.parts[i];
          ASSERT_EQ(static_cast<std::size_t>(part.part), i);
          ASSERT_FALSE(part.reason.empty());
          used.insert(part.rule);
          all = all && part.answer == RuleAnswer::yes;
        }
        ASSERT_EQ(is_eligible(verdict), all) << problem_tokens(problem);
        ASSERT_FALSE(verdict.rule.empty());
        // An answer of no because of the libraries has no other reason.
        const bool in_time = platform.libraries >= platform.architecture->first &&
                             platform.libraries <= platform.architecture->last;
        ASSERT_EQ(verdict.parts[0].rule.starts_with("libraries-"), !in_time);
      });
  for (const TensorCoreRule& rule : tensor_core_rules()) {
    EXPECT_TRUE(used.contains(rule.id)) << rule.id << " decides nothing";
  }
}

TEST(TensorCoreRuleTable, HasOneIdAndASentenceForEachRule) {
  std::set<std::string_view> ids;
  for (const TensorCoreRule& rule : tensor_core_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.sentence.empty()) << rule.id;
  }
  for (const NoTensorCoreRule& rule : no_tensor_core_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(rule.op.empty() || find_operator(rule.op) != nullptr) << rule.op;
  }
  EXPECT_TRUE(no_tensor_core_rules().back().op.empty());
}

// Data types that a newer architecture may not support; sm_86 was the first.
bool may_be_lost(DataType dtype) { return dtype == DataType::f64; }

TEST(TensorCoreRuleTable, ANewerArchitectureLosesNoTypeButF64) {
  for (const DataType dtype : kTypes) {
    const Problem problem = make_case_problem("gemm", "m64n64k64+tb", {dtype, {}, {}, Math::tf32});
    bool before = false;
    bool lost = false;
    for (const Architecture& architecture : architectures()) {
      const bool now =
          is_eligible(assess_tensor_cores(problem, {&architecture, architecture.last}));
      lost = lost || (before && !now);
      before = now;
    }
    EXPECT_EQ(lost, may_be_lost(dtype)) << info(dtype).name;
  }
}

// Doubling a size never makes the alignment of rows worse.
TEST(TensorCoreRuleTable, FinerAlignmentNeverLowersTheGrade) {
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    std::int64_t mnk[] = {draw(random, 1, 300), draw(random, 1, 300), draw(random, 1, 300)};
    const CaseSettings settings{
        kTypes[static_cast<std::size_t>(draw(random, 0, 7))], {}, {}, Math::tf32};
    const char* platform = round % 2 == 0 ? "sm_90" : "sm_75:cuda10";
    const char* flags = round % 3 == 0 ? "+tb" : "";
    const auto at = [&] {
      return assess("gemm", fmt::format("m{}n{}k{}{}", mnk[0], mnk[1], mnk[2], flags), platform,
                    settings);
    };
    const auto before = at();
    mnk[draw(random, 0, 2)] *= 2;
    const auto after = at();
    EXPECT_GE(*after.alignment, *before.alignment);
    EXPECT_TRUE(!is_eligible(before) || is_eligible(after)) << before.reason << after.reason;
    const std::int64_t c = draw(random, 5, 200);
    const std::int64_t k = draw(random, 1, 200);
    const auto conv = [&](std::int64_t factor) {
      return assess("conv", fmt::format("c{}h4w4k{}r1s1", c * factor, k * factor), platform,
                    settings);
    };
    EXPECT_GE(*conv(2).alignment, *conv(1).alignment);
    EXPECT_TRUE(!is_eligible(conv(1)) || is_eligible(conv(2)));
  }
}

TEST(TensorCoreRuleTable, NewerLibrariesThatKnowAnArchitectureRefuseNothingMore) {
  for_each_question([](const Problem& problem) {
    for (const Architecture& architecture : architectures()) {
      bool before = false;
      for (auto g = static_cast<int>(architecture.first); g <= static_cast<int>(architecture.last);
           ++g) {
        const Platform platform{&architecture, static_cast<LibraryGeneration>(g)};
        const bool now = is_eligible(assess_tensor_cores(problem, platform));
        ASSERT_TRUE(now || !before) << problem_tokens(problem) << " " << architecture.name;
        before = now;
      }
    }
  });
}

TEST(TensorCoreNetwork, HasAVerdictForEachNode) {
  LayerDefinition conv{"conv1", "conv", ParameterSet(find_operator("conv")->parameters), {"input"}};
  conv.parameters.set("k", std::int64_t{64});
  conv.parameters.set("r", std::int64_t{3});
  LayerDefinition pool{"pool", "pool", ParameterSet(find_operator("pool")->parameters), {"conv1"}};
  pool.parameters.set("function", std::string("max"));
  pool.parameters.set("window", std::vector<std::int64_t>{2});
  const NetworkDefinition definition{"tiny", {3, 16, 16}, {conv, pool}};
  const auto network = make_network(definition, 8, DataType::f16, Mode::inference, Fusion::fused);
  ASSERT_TRUE(network.ok()) << network.error().message();
  const auto nodes = assess_tensor_cores(*network, parse_platform("sm_90").value());
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].node, "conv1");
  EXPECT_TRUE(is_eligible(nodes[0].verdict));
  EXPECT_EQ(nodes[0].verdict.rule, "align-first-layer");
  EXPECT_EQ(nodes[1].op, "pool");
  EXPECT_EQ(nodes[1].verdict.answer, TensorCoreAnswer::not_applicable);
}

// --- The manual

std::string_view word(RuleAnswer answer) { return answer == RuleAnswer::yes ? "yes" : "no"; }

std::string rule_table() {
  std::string text = "| part | rule | fulfilled | |\n|---|---|---|---|\n";
  for (const TensorCoreRule& rule : tensor_core_rules()) {
    text += fmt::format("| {} | `{}` | {} | {} |\n", to_string(rule.part), rule.id,
                        word(rule.answer), test::markdown_cell(rule.sentence));
  }
  return text;
}

std::string operator_table() {
  std::string text = "| operator | rule | |\n|---|---|---|\n";
  for (const NoTensorCoreRule& rule : no_tensor_core_rules()) {
    text += fmt::format("| {} | `{}` | {} |\n", rule.op.empty() ? "any other" : rule.op, rule.id,
                        rule.sentence);
  }
  return text;
}

std::string architecture_table() {
  constexpr DataType kShown[] = {DataType::f16, DataType::bf16,    DataType::f32,
                                 DataType::s8,  DataType::f8_e4m3, DataType::f64};
  std::string text =
      "| | family | devices | libraries | f16 | bf16 | f32 as TF32 | s8 | fp8 | f64 |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Architecture& architecture : architectures()) {
    text += fmt::format("| `{}` | {} | {} | {} to {} |", architecture.name, architecture.family,
                        architecture.devices, info(architecture.first).name,
                        info(architecture.last).name);
    for (const DataType dtype : kShown) {
      const auto verdict = assess_tensor_cores(
          make_case_problem("gemm", "m64n64k64+tb", {dtype, {}, {}, Math::tf32}),
          {&architecture, architecture.last});
      text += is_eligible(verdict) ? " yes |" : " |";
    }
    text += "\n";
  }
  return text;
}

std::string library_table() {
  std::string text = "| generation | libraries |\n|---|---|\n";
  for (const LibraryGenerationInfo& row : library_generations()) {
    text += fmt::format("| `{}` | {} |\n", row.name, row.libraries);
  }
  return text;
}

std::string name_table() {
  constexpr std::string_view kUses[] = {"unknown", "used", "not used"};
  std::string text = "| rule | tensor cores | pattern | kernels |\n|---|---|---|---|\n";
  for (const KernelNameRule& rule : kernel_name_rules()) {
    text += fmt::format("| `{}` | {} | `{}` | {} |\n", rule.id,
                        kUses[static_cast<std::size_t>(rule.use)],
                        test::markdown_cell(rule.pattern), test::markdown_cell(rule.remark));
  }
  return text;
}

TEST(TensorCoreManualGolden, ItsTablesAreThoseOfTheCode) {
  test::expect_generated("docs/tensor_cores.md", {{"architectures", architecture_table()},
                                                  {"libraries", library_table()},
                                                  {"rules", rule_table()},
                                                  {"operators", operator_table()},
                                                  {"names", name_table()}});
}

}  // namespace
}  // namespace bench::ops::op_test
