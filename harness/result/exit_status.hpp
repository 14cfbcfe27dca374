// SPDX-License-Identifier: Apache-2.0
// The exit statuses of every command (docs/manual.md). If several apply, the first in this order
// wins: usage, regression, not_measured, nothing_comparable, undecided, success.
#pragma once

namespace bench {

enum class ExitStatus {
  success = 0,
  regression = 1,
  usage = 2,  // wrong command line or configuration
  not_measured =
      3,  // a case failed, crashed, timed out, gave a wrong result, or the budget ended before it
  undecided = 4,           // inconclusive or suspect, with --strict
  nothing_comparable = 5,  // with --require-baseline
};

}  // namespace bench
