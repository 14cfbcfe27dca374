// SPDX-License-Identifier: Apache-2.0
// What a search for a library at run time found: the record that crosses the border between
// processes, and from which `bench doctor` takes its rows.
#pragma once

#include <string>
#include <vector>

namespace bench::ops {

struct LibraryReport {
  std::string name;              // "cuDNN"
  std::string consequence = {};  // what its absence means: "conv on cuda is unsupported"
  std::string remedy = {};
  // If the library was found. `origin`: how, or what else is known about it.
  std::string path = {}, origin = {}, version = {};
  // Why the library was not found, or cannot be used. If it was found, `path` may be set as well.
  std::string reason = {};
  std::vector<std::string> tried = {};  // locations searched, if it was not found

  bool usable() const { return reason.empty(); }
  friend bool operator==(const LibraryReport&, const LibraryReport&) = default;
};

}  // namespace bench::ops
