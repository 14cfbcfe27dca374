// SPDX-License-Identifier: Apache-2.0
// Case ids and machine classes as names of files and folders. Both come from files of strangers: no
// text gives a name that leaves its folder, and no two short texts give the same one (of long ones
// a reader compares the id itself).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::size_t kMaxPlainName = 200;  // bytes; file systems end at 255

// `/` becomes `__`; characters other than letters, digits, `.`, `_`, `+`, `-`, a leading `.`, and a
// `_` beside another one or beside a `/` become %XX. What is longer than kMaxPlainName is cut
// and ends in `~` and a hash of the text. Empty only for an empty text.
std::string store_name(std::string_view text);

inline constexpr std::string_view kStoreSuffix = ".jsonl";
// store_name() of a case id with kStoreSuffix.
std::string store_file_name(std::string_view id);

}  // namespace bench
