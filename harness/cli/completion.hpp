// SPDX-License-Identifier: Apache-2.0
// The scripts of `bench completion`: commands, options and option values, from the same tables that
// the program itself uses.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bench {

struct Shell {
  std::string_view name;
  std::string (*script)();
};
std::span<const Shell> completion_shells();

std::string bash_completion();
std::string zsh_completion();

}  // namespace bench
