// SPDX-License-Identifier: Apache-2.0
// Parses the markers that PyProf puts around calls of PyTorch (pyprof.init()). They contain all
// arguments:
//   {'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape':
//    (32, 3, 224, 224), 'dtype': 'float16'}, ..., {'name': '', 'type': 'tuple', 'value': (2, 2)}]}
// They are printed Python values. The parser reads them and never evaluates them.
#pragma once

#include "profiler/capture/framework_range.hpp"

#include <optional>
#include <string_view>

namespace bench {

// Returns the operator's name, module, arguments and inputs; an input that is not a tensor is {}.
// Returns nullopt for other texts, including PyProf's markers of call stacks and of modules.
std::optional<FrameworkRange> parse_pyprof_marker(std::string_view text);

}  // namespace bench
