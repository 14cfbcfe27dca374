// SPDX-License-Identifier: Apache-2.0
// For tests: problems of every operator in every direction, data type, layout and kind of shape.
#pragma once

#include "ops/operator.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::testing {

struct ShapeCase {
  const char* op;
  const char* tokens;
};

inline const ShapeCase kSupportShapes[] = {
    {"conv", "n2c16h9k16r3"},
    {"conv", "n2c16h9k16r3p1"},
    {"conv", "n2c16h9k16r3p1_0"},
    {"conv", "n2c16h9k16r3p0_2x1"},
    {"conv", "n2c16h9k16r3p2e2"},
    {"conv", "n2g2c16h9k16r3p1u2"},
    {"conv", "n2g16c16h9k16r3p1"},
    {"conv", "n2c16w9k16s3p1"},
    {"conv", "n2c16d5h9k16t3r3p1u2"},
    {"conv", "n2c16h9k16r3u2+transposed"},
    {"conv", "n2g2c16w9k16s3u2+transposed"},
    {"conv", "n2c16h9k16r3p1+bias"},
    {"conv", "n2c16h9k16r3p1+bias+relu"},
    {"conv", "n2c16h9k16r3p1+bias+add+relu"},
    {"conv", "n2c16h9k16r3p1+hardswish"},
    {"conv", "n2c16h9k16r3u2+transposed+bias"},
    {"pool", "max-n2c16h9r3u2p1"},
    {"pool", "max-n2c16h9r3u2p1_0"},
    {"pool", "avg_include_pad-n2c16h9r3u2p1"},
    {"pool", "avg_exclude_pad-n2c16h9r3u2p1"},
    {"pool", "avg_include_pad-n2c16h7+global"},
    {"pool", "max-n2c16w9r3u2p1"},
    {"pool", "avg_exclude_pad-n2c16d5h9r3u2p1"},
    {"pointwise", "relu-2x16x9x9"},
    {"pointwise", "clip-2x16x9"},
    {"pointwise", "gelu_erf-7"},
    {"pointwise", "hardswish-2x16x9x9"},
    {"pointwise", "exp-2x16"},
    {"pointwise", "log-2x16x9x9"},
    {"pointwise", "square-2x16x9x9"},
    {"pointwise", "abs-2x3x4x5x6"},
    {"pointwise", "add-2x16x9x9-2x16x9x9"},
    {"pointwise", "mul-2x16x9x9-16x1x1"},
    {"pointwise", "div-2x16x9-16x1"},
    {"batch_norm", "n2c16h9"},
    {"batch_norm", "n2c16w9"},
    {"batch_norm", "n2c16d5h9"},
    {"softmax", "2x1000"},
    {"softmax", "2x16x9x9-a1"},
    {"reorder", "2x16x9x9-nchw-nhwc"},
    {"reorder", "2x20x9x9-nhwc-nchw"},
    {"reorder", "2x20x9x9-nchw-blocked16"},
    {"reorder", "2x20x9-blocked16-nhwc"},
    {"gemm", "m16n32k64"},
    {"gemm", "m16n32k64+bias+relu"},
    {"gemm", "b3m16n32k64+ta+tb"},
};

// Calls visit(problem, its description). Skips combinations that are not valid problems.
inline void for_each_support_case(
    const std::function<void(const Problem& problem, const std::string& what)>& visit) {
  for (const ShapeCase& shape : kSupportShapes) {
    bool exists = false;
    for (const DataTypeInfo& type : data_types()) {
      for (const Direction direction :
           {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
        auto made = bench::ops::testing::try_problem(shape.op, shape.tokens, type.type, direction);
        if (!type.is_case_type || !made) continue;
        exists = true;
        for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
          made->layout = layout;
          visit(*made, fmt::format("{} {} {} {} {}", shape.op, shape.tokens, type.name,
                                   direction_names()[static_cast<std::size_t>(direction)],
                                   layout_names()[static_cast<std::size_t>(layout)]));
        }
      }
    }
    EXPECT_TRUE(exists) << shape.op << " " << shape.tokens;
  }
}

}  // namespace bench::ops::cuda::testing
