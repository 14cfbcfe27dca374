// SPDX-License-Identifier: Apache-2.0
// What oneDNN's info lines say of library and machine, as facts for an environment record.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bench {

// Adds what `text`, which follows "info,", says: "library.onednn.version", "library.onednn.commit",
// "library.onednn.isa", "library.onednn.cpu_runtime", "library.onednn.threads",
// "library.onednn.gpu_runtime"; all else joined in "library.onednn.notes", up to 1 KiB.
void add_facts(std::string_view text, std::map<std::string, std::string>& facts);

// "oneDNN v3.2.0 (commit ...)": the line that begins a log.
bool is_version_line(std::string_view text);

}  // namespace bench
