// SPDX-License-Identifier: Apache-2.0
// Words of other frameworks (ops/foreign_words.hpp) in configurations.
#include "ops/foreign_words.hpp"

#include "base/data_type.hpp"
#include "harness/config/load.hpp"
#include "harness/config/settings.hpp"
#include "ops/math/functions.hpp"
#include "ops/operator_registry.hpp"
#include "ops/parameter.hpp"
#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

Result<Plan, std::vector<Diagnostic>> load_case(const std::string& entry) {
  const std::string text = "version: 1\ncases:\n  - " + entry + "\n";
  LoadRequest request;
  request.read = [text](const std::string&) -> Result<std::string> { return text; };
  request.arguments = {"a.yaml"};
  return load_plan(request);
}

// Returns the hint for the first mistake of a case.
std::string hint_of(const std::string& entry) {
  const auto plan = load_case(entry);
  return plan.ok() || plan.error().empty() ? "(none)" : plan.error().front().next;
}

// Returns the cases that a hint contains.
std::vector<std::string> cases_in(std::string_view hint) {
  std::vector<std::string> cases;
  for (std::size_t begin = hint.find("`{"); begin != std::string_view::npos;
       begin = hint.find("`{", begin + 1)) {
    cases.emplace_back(hint.substr(begin + 1, hint.find("}`", begin) - begin));
  }
  return cases;
}

// Returns every name that a hint may suggest.
std::vector<std::string_view> valid_names() {
  std::vector<std::string_view> names = ops::built_in_operators().operator_names();
  const auto append = [&](const auto& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  for (const ops::Operator* op : ops::built_in_operators().operators()) {
    for (const ops::Parameter& parameter : op->parameters) {
      names.push_back(parameter.name);
      append(parameter.words);
    }
  }
  for (const AxisRow& row : axis_rows()) {
    names.push_back(row.info.name);
    if (row.words != nullptr) append(row.words(ops::built_in_operators()));
  }
  names.push_back("post_ops");
  names.push_back("s32");  // a data type of activities, which `analyze --dtype` selects
  return names;
}

TEST(ForeignWords, EachRowNamesSomethingThatExists) {
  const std::vector<std::string_view> names = valid_names();
  for (const ops::ForeignWord& word : ops::foreign_words()) {
    EXPECT_NE(std::ranges::find(names, word.name), names.end()) << word.written << " " << word.name;
    EXPECT_TRUE(ops::foreign_word_hint(word.written, names)) << word.written;
  }
}

TEST(ForeignWords, EachOperatorGetsACaseThatLoads) {
  const auto operators = ops::built_in_operators().operator_names();
  int loaded = 0;
  for (const ops::ForeignWord& word : ops::foreign_words()) {
    const auto hint = ops::foreign_word_hint(word.written, operators);
    if (!hint) continue;
    for (const std::string& entry : cases_in(*hint)) {
      const auto plan = load_case(entry);
      EXPECT_TRUE(plan.ok()) << word.written << ": " << entry << "\n"
                             << (plan.ok() ? "" : plan.error().front().message());
      loaded += plan.ok() ? 1 : 0;
    }
  }
  EXPECT_GT(loaded, 40);
}

TEST(ForeignWords, EachFunctionIsACaseOfPointwiseThatLoads) {
  for (const std::string_view function : ops::pointwise_function_names()) {
    const std::string hint = hint_of(fmt::format("{{ op: {}, shape: [8] }}", function));
    const std::vector<std::string> cases = cases_in(hint);
    ASSERT_EQ(cases.size(), 1u) << hint;
    const auto plan = load_case(cases.front());
    ASSERT_TRUE(plan.ok()) << cases.front();
    EXPECT_TRUE(plan->cases.front().id.starts_with(fmt::format("pointwise/forward/{}-", function)));
  }
}

TEST(ForeignWords, EachFunctionOfMathIsACaseThatLoads) {
  const auto pointwise = ops::pointwise_function_names();
  for (const std::string_view function : ops::math_function_names()) {
    if (std::ranges::find(pointwise, function) != pointwise.end()) continue;
    const std::string hint = hint_of(fmt::format("{{ op: {}, shape: [8] }}", function));
    const std::vector<std::string> cases = cases_in(hint);
    ASSERT_EQ(cases.size(), 1u) << hint;
    EXPECT_EQ(hint.find("function: ") == std::string::npos, false) << hint;
    if (!function.starts_with("bit_") && !function.starts_with("shift_")) {
      EXPECT_TRUE(load_case(cases.front()).ok()) << cases.front();
    }
  }
}

TEST(ForeignWords, WordsOfPytorchGetTheRightSpelling) {
  EXPECT_EQ(hint_of("{ op: linear, m: 1 }"),
            "nn.Linear is `gemm` with `trans_b: true`: "
            "`{ op: gemm, m: 64, n: 1000, k: 512, trans_b: true, bias: true }`");
  EXPECT_EQ(hint_of("{ op: torch.nn.Linear, m: 1 }"), hint_of("{ op: linear, m: 1 }"));
  EXPECT_EQ(hint_of("{ op: max_pool2d, c: 1 }"), hint_of("{ op: nn.MaxPool2d, c: 1 }"));
  EXPECT_NE(hint_of("{ op: nn.ReLU, shape: [8] }").find("`relu` is a function of `pointwise`"),
            std::string::npos);
  EXPECT_NE(hint_of("{ op: gelu, shape: [8] }").find("approximate='tanh'"), std::string::npos);
  EXPECT_EQ(hint_of("{ op: pointwise, function: silu, shape: [8] }"), "did you mean `swish`?");
  EXPECT_EQ(hint_of("{ op: gemm, m: 1, n: 1, k: 1, post_ops: [ReLU] }"), "did you mean `relu`?");
  EXPECT_EQ(hint_of("{ op: conv, c: 1, h: 1, k: 1, r: 1, padding: 1 }"), "did you mean `pad`?");
}

TEST(ForeignWords, OperatorsOfTransformersAreFound) {
  EXPECT_EQ(hint_of("{ op: F.scaled_dot_product_attention }"), hint_of("{ op: sdpa }"));
  EXPECT_NE(hint_of("{ op: sdpa }").find("it is `attention`"), std::string::npos);
  EXPECT_NE(hint_of("{ op: RotaryEmbedding }").find("it is `rope`"), std::string::npos);
  EXPECT_EQ(hint_of("{ op: nn.Embedding }"), "did you mean `embedding`?");
}

TEST(ForeignWords, DataTypesOfPytorchGetTheRightSpelling) {
  const std::vector<std::pair<std::string, std::string>> types = {{"float32", "f32"},
                                                                  {"float", "f32"},
                                                                  {"bfloat16", "bf16"},
                                                                  {"float16", "f16"},
                                                                  {"half", "f16"},
                                                                  {"double", "f64"},
                                                                  {"int8", "s8"},
                                                                  {"uint8", "u8"},
                                                                  {"torch.half", "f16"},
                                                                  {"float8_e4m3fn", "f8_e4m3"},
                                                                  {"float8_e5m2", "f8_e5m2"}};
  for (const auto& [written, name] : types) {
    EXPECT_EQ(hint_of(fmt::format("{{ op: gemm, m: 1, n: 1, k: 1, dtype: {} }}", written)),
              fmt::format("did you mean `{}`?", name));
  }
}

TEST(ForeignWords, GpuIsCudaAndNotCpu) {
  EXPECT_EQ(hint_of("{ op: gemm, m: 1, n: 1, k: 1, device: gpu }"), "did you mean `cuda`?");
  EXPECT_EQ(ops::expected_word("GPU", device_names()), "did you mean `cuda`?");
  EXPECT_EQ(ops::expected_word("cuda:0", device_names()), "did you mean `cuda`?");
}

TEST(ForeignWords, AWordCountsOnlyWhereItsMeaningIsValid) {
  constexpr std::string_view kCaches[] = {"hot", "cold", "cold_weights"};
  EXPECT_FALSE(ops::foreign_word_hint("gpu", kCaches));
  EXPECT_EQ(ops::expected_word("gpu", kCaches), "expected one of hot, cold, cold_weights");
  EXPECT_EQ(hint_of("{ op: conv, c: 1, h: 1, k: 1, r: 1, batch: 8 }"), "did you mean `n`?");
}

}  // namespace
}  // namespace bench
