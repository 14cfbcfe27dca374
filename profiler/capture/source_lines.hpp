// SPDX-License-Identifier: Apache-2.0
// Source lines of machine code, from the tables that compilers write for debuggers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The sections of an ELF file with the tables (DWARF 2 to 5, little-endian). All may be empty.
struct LineSections {
  std::string_view line;         // .debug_line
  std::string_view line_string;  // .debug_line_str
  std::string_view string;       // .debug_str
};

// The line tables of one file. Malformed tables never cause a read out of bounds; what precedes the
// malformed part counts.
class SourceLines {
 public:
  static SourceLines parse(const LineSections& sections);
  // Contains nothing if the file has no tables, such as a program compiled without `-g`.
  static SourceLines read(const std::string& path);
  // Returns "src/main.cpp:12" for a file-relative address; nullopt if it is unknown.
  std::optional<std::string> place_at(std::uint64_t address) const;

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t file;  // index in files_; kEnd: no code from here on
    std::uint32_t line;
  };
  static constexpr std::uint32_t kEnd = 0xffffffff;
  friend class LineProgram;

  std::vector<Row> rows_;  // sorted by address
  std::vector<std::string> files_;
};

// Reads the tables of each file once. Not thread-safe.
class FramePlaces {
 public:
  // Returns the place of a frame "FILE+0xADDRESS"; nullopt if it is unknown.
  std::optional<std::string> place(std::string_view frame);

 private:
  std::map<std::string, SourceLines, std::less<>> files_;
};

// Splits "FILE+0xADDRESS"; nullopt for another text.
struct CodeFrame {
  std::string_view file;
  std::uint64_t address = 0;
};
std::optional<CodeFrame> parse_frame(std::string_view frame);

}  // namespace bench
