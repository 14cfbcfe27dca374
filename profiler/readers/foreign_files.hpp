// SPDX-License-Identifier: Apache-2.0
// Files of other profilers that no reader reads, so that the message can say what they are and what
// to do.
#pragma once

#include <string_view>

namespace bench {

struct ForeignFile {
  std::string_view what;  // continues "is": "an SQLite database, ..."
  std::string_view next;
  bool (*recognises)(std::string_view head);
};

// Returns nullptr if the file is not known.
const ForeignFile* find_foreign_file(std::string_view head);

}  // namespace bench
