// SPDX-License-Identifier: Apache-2.0
// The scripts of `bench completion`: commands, options and the values that options take, from the
// tables that the program itself reads.
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
