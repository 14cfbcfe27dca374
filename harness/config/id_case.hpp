// SPDX-License-Identifier: Apache-2.0
// Converts a case id to an entry of `cases:`, so that --set has the same meaning for ids and files.
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/case_template.hpp"

namespace bench {

// Returns an entry that expands to the one case of `key`, a result of parse_id(). Two values of the
// key may be defaults: the usual backend of its device, and the usual fusion of its mode. Such
// values depend on the other axes, as in a file that omits them.
Result<CaseTemplate> id_case(const CaseKey& key, Spot spot, const ops::OperatorRegistry& catalogue);

// Whether the entry accepts a value of --set. `batch` is for networks, `direction` for operators.
// Only a file can choose parts of a network, since an id names its part.
bool takes(const CaseTemplate& entry, const Override& fixed);
// Returns an error that says what an unused value of --set is for and what to do.
Error untaken(const Override& fixed);

}  // namespace bench
