// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/console_options.hpp"

namespace bench {

ConsoleOptions console_options(const Env& env) {
  ConsoleOptions console;
  console.width =
      env.out_is_terminal ? env.terminal_width.value_or(console.width) : kUnlimitedWidth;
  console.colour = env.use_colour() ? Colour::on : Colour::off;
  return console;
}

}  // namespace bench
