// SPDX-License-Identifier: Apache-2.0
// Names of code that is in no file: generated code, from the table that its generator wrote
// (/tmp/perf-PID.map), and the kernel's, from /proc/kallsyms.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Names by address.
class CodeTable {
 public:
  // Lines "BEGIN SIZE NAME" with hexadecimal numbers. A later entry replaces earlier ones at the
  // same place, because generators reuse memory. Other lines are skipped.
  static CodeTable parse_perf_map(std::istream& text);
  // Lines "BEGIN TYPE NAME [MODULE]". Empty if the system hides the addresses.
  static CodeTable parse_kernel_symbols(std::istream& text);
  std::optional<std::string> name_at(std::uint64_t address) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::uint64_t end;
    std::string name;
  };
  std::map<std::uint64_t, Entry> entries_;  // key: begin
};

// Reads each table once, when it is first needed. Not thread-safe.
class CodeTables {
 public:
  // A table that was written before `since` (seconds since 1970) is of an earlier process with the
  // same number.
  explicit CodeTables(std::int64_t since) : since_(since) {}
  std::optional<std::string> generated_name(std::int64_t pid, std::uint64_t address);
  std::optional<std::string> kernel_name(std::uint64_t address);

 private:
  std::int64_t since_;
  std::map<std::int64_t, CodeTable> generated_;
  std::optional<CodeTable> kernel_;
};

}  // namespace bench
