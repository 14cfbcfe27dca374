// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <string_view>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 1> kJoins = {"cat"};

}  // namespace

extern const FrameworkMapping concat_framework;
const FrameworkMapping concat_framework = {.op = "concat", .rows = {}, .copies = kJoins};

}  // namespace bench::ops
