// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <string_view>

namespace bench::ops {
namespace {

using namespace framework;

constexpr std::array<std::string_view, 2> kCopies = {"copy", "clone"};

}  // namespace

extern const FrameworkMapping reorder_framework;
const FrameworkMapping reorder_framework = {.op = "reorder", .rows = {}, .copies = kCopies};

}  // namespace bench::ops
