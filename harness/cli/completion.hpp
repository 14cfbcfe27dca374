// SPDX-License-Identifier: Apache-2.0
// The scripts of `bench completion`: commands, options and the values that options take, from the
// tables that the program itself reads.
#pragma once

#include <string>

namespace bench {

std::string bash_completion();
std::string zsh_completion();

}  // namespace bench
