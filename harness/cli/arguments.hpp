// SPDX-License-Identifier: Apache-2.0
// What the command line said, as plain data with the defaults in place. One struct serves all
// commands: an option means the same everywhere.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// --shard i/n: part `index` (from 1) of `count`.
struct Shard {
  int index = 1;
  int count = 1;
};

enum class Output { text, json };
enum class Verbosity { normal, quiet };

struct Arguments {
  std::string program;                    // argv[0]
  std::vector<std::string> command_line;  // all of it, for the result file
  std::vector<std::string> inputs;        // positional: CONFIG..., CASE, RESULT..., SHELL

  std::optional<std::string> out;
  std::optional<std::string> format;
  std::vector<std::string> filters;
  std::vector<std::string> devices;
  std::vector<std::string> overrides;
  std::optional<Nanoseconds> budget;
  std::optional<Shard> shard;
  std::optional<std::string> resume;
  std::optional<std::uint64_t> seed;
  Output output = Output::text;
  Verbosity verbosity = Verbosity::normal;
  bool quick = false;
  bool dry_run = false;
  bool force = false;
  bool describe = false;     // worker --describe
  bool require_gpu = false;  // --require gpu
};

}  // namespace bench
