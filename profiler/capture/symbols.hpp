// SPDX-License-Identifier: Apache-2.0
// Function names from the symbol tables of ELF files, for backtraces.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The functions of one 64-bit ELF file: .symtab, or .dynsym of a stripped file. Malformed files
// never cause a read out of bounds.
class SymbolTable {
 public:
  static Result<SymbolTable> read(const std::string& path);
  // Returns the demangled function that contains a file-relative address; nullopt if there is none.
  std::optional<std::string> name_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t size;
    std::uint32_t name;  // offset in names_
  };
  std::vector<Function> functions_;  // sorted by begin
  std::string names_;
};

// Where the functions of a 64-bit ELF file begin, also of a file without symbols: the table by
// which exceptions are unwound (.eh_frame_hdr) lists them. Malformed files never cause a read out
// of bounds.
class FunctionStarts {
 public:
  // Contains no function if the file has no such table, or one of another form than compilers
  // write.
  static FunctionStarts read(const std::string& path);
  // Returns the file-relative begin of the function that contains the address; nullopt if unknown.
  std::optional<std::uint64_t> begin_at(std::uint64_t address) const;

 private:
  std::vector<std::uint64_t> begins_;  // sorted
};

// Where the parts of a 64-bit ELF file are in memory.
class FileSegments {
 public:
  // Contains nothing if the file has another form.
  static FileSegments read(const std::string& path);
  // Returns the file-relative address of an offset in the file; nullopt if it is not loaded.
  std::optional<std::uint64_t> address_at(std::uint64_t offset) const;

 private:
  struct Segment {
    std::uint64_t offset, size, address;
  };
  std::vector<Segment> segments_;
};

// Converts frames "FILE+0xADDRESS" to "function (file)" and reads each file once. Not thread-safe.
class FrameNames {
 public:
  // A frame whose function is unknown stays unchanged.
  std::string name(std::string_view frame);
  // Returns where the function begins that contains `address` of `path`; nullopt if unknown.
  std::optional<std::uint64_t> function_begin(std::string_view path, std::uint64_t address);
  // Returns the file-relative address of an offset in `path`; nullopt if unknown.
  std::optional<std::uint64_t> file_address(std::string_view path, std::uint64_t offset);

 private:
  std::map<std::string, std::optional<SymbolTable>, std::less<>> tables_;
  std::map<std::string, FunctionStarts, std::less<>> starts_;
  std::map<std::string, FileSegments, std::less<>> segments_;
};

}  // namespace bench
