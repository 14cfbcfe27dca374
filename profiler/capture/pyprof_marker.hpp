// SPDX-License-Identifier: Apache-2.0
// The markers that PyProf puts around calls of PyTorch (pyprof.init()), which tell all arguments:
//   {'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape':
//    (32, 3, 224, 224), 'dtype': 'float16'}, ..., {'name': '', 'type': 'tuple', 'value': (2, 2)}]}
// They are printed Python values, which are read and never evaluated.
#pragma once

#include "profiler/capture/framework_range.hpp"

#include <optional>
#include <string_view>

namespace bench {

// Name (of the operator), module, arguments and inputs, with {} for what is no tensor. Absent where
// the text is none, among them PyProf's markers of call stacks and of modules.
std::optional<FrameworkRange> parse_pyprof_marker(std::string_view text);

}  // namespace bench
