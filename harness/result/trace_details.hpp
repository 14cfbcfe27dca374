// SPDX-License-Identifier: Apache-2.0
// Details of a profile pass that both its worker and reports know.
#pragma once

namespace bench {

// Present if the steps of the recorded iterations were not awaited one by one.
inline constexpr const char* kUnawaitedStepsDetail = "gpu.steps";

}  // namespace bench
