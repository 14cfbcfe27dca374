// SPDX-License-Identifier: Apache-2.0
#include "base/output_width.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>

namespace bench {

std::optional<int> requested_width(const Env& env) {
  if (!env.variable) return std::nullopt;
  const auto width = parse_number<int>(env.variable("COLUMNS").value_or(""));
  return width && *width > 0 ? width : std::nullopt;
}

std::optional<int> message_width(const Env& env) {
  const auto width =
      env.err_is_terminal && env.terminal_width ? env.terminal_width : requested_width(env);
  if (!width) return std::nullopt;
  return std::max(*width, kMinOutputWidth);
}

}  // namespace bench
