// SPDX-License-Identifier: Apache-2.0
// The command with which an answer ends.
#pragma once

#include <string>

namespace bench {

// A command on its own line, and what it does.
struct NextCommand {
  std::string announcement, command;
};

}  // namespace bench
