// SPDX-License-Identifier: Apache-2.0
// What a worker works with: its backends, and the operators that it knows.
#pragma once

#include "base/result.hpp"
#include "ops/backend/backend_set.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/catalogue.hpp"

#include <functional>
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

// Where libbench_cuda.so is; the error says why it is nowhere.
using CudaPluginFinder = std::function<Result<std::string>()>;

// The backends of this program and what these plugins add. A plugin that cannot be loaded is the
// fault, with the file at `where`. With `find_cuda` also those of CUDA, whose plugin is looked for
// and loaded when a case first asks for one: without it such cases are skipped, with the reason.
std::shared_ptr<Equipment> make_equipment(const std::vector<std::string>& plugins,
                                          CudaPluginFinder find_cuda = {});

}  // namespace bench
