// SPDX-License-Identifier: Apache-2.0
// Reads and parses files of /proc and /sys under a root. The functions return nullopt if a file is
// missing or has another format.
#pragma once

#include "harness/host/environment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace bench {

// Returns the text of a file. Returns nullopt if the file is empty.
std::optional<std::string> read_text(const SystemRoot& root, const std::string& path);
// Returns the text of a file with a single line, without white space at its beginning and end.
std::optional<std::string> read_line(const SystemRoot& root, const std::string& path);
std::optional<std::int64_t> read_integer(const SystemRoot& root, const std::string& path);
// Parses the integer at the beginning of a text: 24684092 for "24684092 kB".
std::optional<std::int64_t> parse_integer(std::string_view text);
// Returns the value of the first line "label<spaces>: value" of a text.
std::optional<std::string> find_labelled_value(std::string_view text, std::string_view label);
// Parses a list of numbers and ranges: 0 1 2 3 8 for "0-3,8". Stops at a malformed item.
std::vector<int> parse_range_list(std::string_view text);
// Parses the size of a cache in bytes: "48K", "32M".
std::optional<std::int64_t> parse_cache_size(std::string_view text);
// Returns the word in brackets: "madvise" for "always [madvise] never".
std::optional<std::string> find_bracketed_word(std::string_view text);

// How the kernel schedules this process; nullopt if the system does not say.
struct SchedulingFacts {
  std::optional<std::int64_t> nice;
  std::optional<std::string> policy;  // "other", "fifo", "rr", "batch", "idle", "deadline"
};
SchedulingFacts read_scheduling(const SystemRoot& root);

// Returns the fields of /proc/PROCESS/stat from the third on; empty if there is no such process.
std::vector<std::string> read_process_fields(const SystemRoot& root, std::string_view process);

// Finds out which files a running process has loaded. They show whether the loader obeyed variables
// such as LD_LIBRARY_PATH and LD_PRELOAD.

// All paths are absolute and contain no symbolic links.
struct ProcessFiles {
  std::string program;
  std::vector<std::string> libraries;  // sorted, without the program
};

// Returns the files from which the process executes code. Returns nullopt if the system does not
// show them, for example because the process has ended.
std::optional<ProcessFiles> read_process_files(const SystemRoot& root, pid_t pid);

// Returns 16 hex digits that identify the content of a file: files with equal digits are copies.
// Reads the file in parts, at about the speed of the disk cache. Not a cryptographic hash. Returns
// nullopt if the file cannot be read or is larger than kMaxDigestedFile.
std::optional<std::string> digest_file(const std::string& path);
inline constexpr std::int64_t kMaxDigestedFile = std::int64_t{1} << 30;

}  // namespace bench
