// SPDX-License-Identifier: Apache-2.0
// Names of the code at which samples were taken.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// What stands for an object where there is no file.
inline constexpr std::string_view kGeneratedObject = "[jit]";
inline constexpr std::string_view kKernelObject = "[kernel]";

struct CodeName {
  std::string object;  // file name of the program or shared library, or one of the above
  // The name or, if the object has none, "OBJECT+0xADDRESS": of the begin of the function or, if
  // this is unknown as well, of the code.
  std::string function;
};

// What is known about code. Each function may be empty: a spool from elsewhere must not make the
// tool open the files that it names.
struct CodeLookup {
  // Converts a frame "FILE+0xADDRESS" to "function (file)", or leaves it unchanged.
  std::function<std::string(std::string_view frame)> frame_name = {};
  // Returns the source line of a frame, "main.cpp:12"; nullopt if unknown.
  std::function<std::optional<std::string>(std::string_view frame)> frame_place = {};
  // Returns where the function begins that contains the address; nullopt if unknown.
  std::function<std::optional<std::uint64_t>(std::string_view path, std::uint64_t address)>
      function_begin = {};
  // Returns the address, as the symbol table counts it, of an offset in the file; nullopt if
  // unknown.
  std::function<std::optional<std::uint64_t>(std::string_view path, std::uint64_t offset)>
      file_address = {};
  // Return the function; nullopt if unknown.
  std::function<std::optional<std::string>(std::int64_t pid, std::uint64_t address)>
      generated_name = {};
  std::function<std::optional<std::string>(std::uint64_t address)> kernel_name = {};
};

// Looks up each address of a file once.
class CodeNames {
 public:
  // `lookup` must outlive the object.
  explicit CodeNames(const CodeLookup& lookup) : lookup_(lookup) {}

  // `path` is empty if the object was unloaded before its name was recorded.
  const CodeName& name(std::string_view path, std::uint64_t address);
  // The same for a place in a file that the system mapped.
  const CodeName& name_at_offset(std::string_view path, std::uint64_t offset);
  CodeName generated(std::int64_t pid, std::uint64_t address) const;
  CodeName kernel(std::uint64_t address) const;

 private:
  CodeName find(const std::string& path, std::uint64_t address) const;

  const CodeLookup& lookup_;
  std::map<std::pair<std::string, std::uint64_t>, CodeName> known_;
};

// Names of code that is in no file: generated code, from the table that its generator wrote
// (/tmp/perf-PID.map), and the kernel's, from /proc/kallsyms.

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
