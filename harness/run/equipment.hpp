// SPDX-License-Identifier: Apache-2.0
// What a worker works with: its backends, and the operators that it knows.
#pragma once

#include "base/result.hpp"
#include "ops/backend_set.hpp"
#include "ops/catalogue.hpp"
#include "ops/kernel.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Equipment {
  ops::BackendSet backends;
  std::shared_ptr<const ops::Catalogue> own_catalogue = {};  // null: the built-in one
  std::vector<ops::LibraryInfo> plugins = {};
  // Why it is of no use: every command is refused with it.
  std::optional<Error> fault = {};

  const ops::Catalogue& catalogue() const {
    return own_catalogue ? *own_catalogue : ops::built_in_catalogue();
  }
};

// The backends of this program and what these plugins add. A plugin that cannot be loaded is the
// fault, with the file at `where`.
std::shared_ptr<Equipment> make_equipment(const std::vector<std::string>& plugins);

}  // namespace bench
