// SPDX-License-Identifier: Apache-2.0
// The facts about library and machine in oneDNN's verbose lines.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bench {

// Adds the facts in `text`, which follows "info,": "library.onednn.version",
// "library.onednn.commit", "library.onednn.isa", "library.onednn.cpu_runtime",
// "library.onednn.threads", "library.onednn.gpu_runtime". Everything else is joined in
// "library.onednn.notes", up to 1 KiB.
void add_facts(std::string_view text, std::map<std::string, std::string>& facts);

// Matches "oneDNN v3.2.0 (commit ...)", the first line of a log.
bool is_version_line(std::string_view text);

}  // namespace bench
