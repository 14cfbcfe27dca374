// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/console_options.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace bench {

namespace {

// COLUMNS, where a person or a script has exported it.
std::optional<int> requested_width(const Env& env) {
  const std::string text = env.variable("COLUMNS").value_or("");
  int width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && width > 0 ? std::optional(width) : std::nullopt;
}

}  // namespace

ConsoleOptions console_options(const Env& env) {
  ConsoleOptions console;
  const std::optional<int> requested = requested_width(env);
  console.width = env.out_is_terminal
                      ? env.terminal_width.value_or(requested.value_or(console.width))
                      : requested.value_or(kUnlimitedWidth);
  console.colour = env.use_colour() ? Colour::on : Colour::off;
  return console;
}

std::optional<std::size_t> limited_width(const Env& env) {
  const int width = console_options(env).width;
  return width < kUnlimitedWidth ? std::optional(static_cast<std::size_t>(width)) : std::nullopt;
}

}  // namespace bench
