// SPDX-License-Identifier: Apache-2.0
// A case id as an entry of `cases:`, so that --set means the same for ids and for files.
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/case_template.hpp"

namespace bench {

// Expands to the one case of `key`, a result of parse_id. What the key says by default (its
// device's usual backend, its mode's usual fusion) follows the other axes, as in a file that does
// not write it.
Result<CaseTemplate> id_case(const CaseKey& key, Spot spot, const ops::Catalogue& catalogue);

// Whether the entry takes a value of --set. `batch` is for networks, `direction` for operators; a
// part of a network is chosen in a file, since an id names its part.
bool takes(const CaseTemplate& entry, const Override& fixed);
// What a value of --set that no entry takes is for, and what to do.
Error untaken(const Override& fixed);

}  // namespace bench
