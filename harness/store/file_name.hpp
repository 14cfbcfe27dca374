// SPDX-License-Identifier: Apache-2.0
// Converts case ids and machine classes to names of files and folders. Both may come from untrusted
// files. No text gives a name outside its folder, and no two short texts give the same name. (For
// long texts, a reader compares the id itself.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::size_t kMaxPlainName = 200;  // bytes; file systems allow 255

// Returns the name. `/` becomes `__`. These characters become %XX: all except letters, digits, `.`,
// `_`, `+` and `-`; a leading `.`; and a `_` next to another `_` or a `/`. A name longer than
// kMaxPlainName is cut and ends in `~` and a hash of the text. Empty only for an empty text.
std::string store_name(std::string_view text);

inline constexpr std::string_view kStoreSuffix = ".jsonl";
// Returns store_name() of a case id plus kStoreSuffix.
std::string store_file_name(std::string_view id);

}  // namespace bench
