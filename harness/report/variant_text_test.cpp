// SPDX-License-Identifier: Apache-2.0
#include "harness/report/variant_text.hpp"

#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class VariantText : public testing::Test {
 protected:
  VariantText() : spec_(test::make_case("gemm/forward/m64n64k64/f32/onednn/cpu/hot")) {}

  void add(std::string_view name, const std::string& id, std::optional<VariantEffect> effect,
           std::string reason = "") {
    PlannedVariant planned;
    planned.spec = test::make_case(id);
    planned.variant.name = name;
    planned.variant.why = "A reason.";
    planned.variant.key = planned.spec.key;
    variants_.push_back(std::move(planned));
    results_.push_back({effect, std::move(reason)});
  }
  static VariantEffect effect(double ratio, double low, double high) {
    return {12,     ratio,        low,
            high,   low - 0.02,   high + 0.02,
            1000ns, std::nullopt, Nanoseconds(std::llround(1000 * ratio))};
  }
  std::string text() const { return format_variants({spec_, variants_, results_}, {.width = 80}); }
  nlohmann::json written() const {
    return nlohmann::json::parse(json_object([this](JsonWriter& writer) {
             write_variants(writer, {spec_, variants_, results_});
           }))
        .at("variants");
  }

  Case spec_;
  std::vector<PlannedVariant> variants_;
  std::vector<VariantResult> results_;
};

TEST_F(VariantText, TheFastestIsTheAnswerAndTheFirstRow) {
  add("one_thread", "gemm/forward/m64n64k64/f32/onednn/cpu/hot/t1", effect(1.2, 1.1, 1.3));
  add("bf16", "gemm/forward/m64n64k64/bf16/onednn/cpu/hot", effect(0.5, 0.48, 0.52));
  variants_.back().variant.cost = "8 of 24 bits of precision remain";
  EXPECT_EQ(text(),
            "With bf16, this case is 2.0x faster. No other change is certain to gain 1 % or\n"
            "more.\n"
            "\n"
            "variant          effect  time / case's time  in a later duet\n"
            "bf16        2.0x faster      0.480 to 0.520   0.460 to 0.540\n"
            "    A reason. It costs: 8 of 24 bits of precision remain. The tensors are 24.00\n"
            "    KiB smaller.\n"
            "one_thread  20 % slower      1.100 to 1.300   1.080 to 1.320\n"
            "    A reason.\n");
}

TEST_F(VariantText, WithoutACertainGainTheAnswerSaysSo) {
  add("tune", "gemm/forward/m64n64k64/f32/onednn/cpu/hot", effect(0.9, 0.8, 1.1));
  EXPECT_THAT(text(),
              StartsWith("The change to tune is not certain to make this case 1 % faster or more"));
  add("nhwc", "gemm/forward/m64n64k64/f32/onednn/cpu/hot/t1", effect(0.995, 0.99, 0.999));
  EXPECT_THAT(text(), StartsWith("None of the 2 changes is certain"));
  EXPECT_EQ(find_best_variant({spec_, variants_, results_}), nullptr);
}

TEST_F(VariantText, AVariantThatFailedIsLastWithItsReason) {
  add("f16", "gemm/forward/m64n64k64/f16/onednn/cpu/hot", std::nullopt, "no kernel for f16");
  add("tune", "gemm/forward/m64n64k64/f32/onednn/cpu/hot", effect(0.9, 0.85, 0.95));
  const std::string found = text();
  EXPECT_LT(found.find("tune  "), found.find("f16  "));
  EXPECT_THAT(found, HasSubstr("Not measured: no kernel for f16."));
}

TEST_F(VariantText, AnAnswerIsNotEarnedWithoutAMeasuredVariant) {
  EXPECT_EQ(text(), "No rule proposes a change of this case.\n");
  add("f16", "gemm/forward/m64n64k64/f16/onednn/cpu/hot", std::nullopt, "no kernel for f16");
  EXPECT_THAT(text(), StartsWith("No change of this case could be measured."));
}

// Earlier, an interrupted measurement answered as a complete one.
TEST_F(VariantText, AMeasurementThatWasStoppedSaysSoFirst) {
  add("bf16", "gemm/forward/m64n64k64/bf16/onednn/cpu/hot", effect(0.5, 0.48, 0.52), "interrupted");
  results_.back().stopped = StopCause::interruption;
  EXPECT_THAT(text(), StartsWith("The measurement was stopped by Ctrl-C. With bf16, this case is"));
}

TEST_F(VariantText, JsonHasTheEffectOrTheReason) {
  add("bf16", "gemm/forward/m64n64k64/bf16/onednn/cpu/hot", effect(0.5, 0.48, 0.52));
  add("f16", "gemm/forward/m64n64k64/f16/onednn/cpu/hot", std::nullopt, "no kernel for f16");
  const auto variants = written();
  ASSERT_THAT(variants, SizeIs(2));
  EXPECT_EQ(variants[0]["name"], "bf16");
  EXPECT_EQ(variants[0]["id"], "gemm/forward/m64n64k64/bf16/onednn/cpu/hot");
  EXPECT_DOUBLE_EQ(variants[0]["ratio"], 0.5);
  EXPECT_DOUBLE_EQ(variants[0]["low"], 0.48);
  EXPECT_DOUBLE_EQ(variants[0]["high"], 0.52);
  EXPECT_DOUBLE_EQ(variants[0]["later_low"], 0.46);
  EXPECT_DOUBLE_EQ(variants[0]["later_high"], 0.54);
  EXPECT_EQ(variants[0]["case_ns"], 1000);
  EXPECT_EQ(variants[0]["variant_ns"], 500);
  EXPECT_EQ(variants[0]["tensor_bytes_change"], -24 * 1024);
  EXPECT_FALSE(variants[1].contains("ratio"));
  EXPECT_EQ(variants[1]["reason"], "no kernel for f16");
}

}  // namespace
}  // namespace bench
