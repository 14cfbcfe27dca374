// SPDX-License-Identifier: Apache-2.0
// Names of functions from the symbol tables of ELF files, for backtraces.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The functions of one ELF file of 64 bit: .symtab, or .dynsym of a stripped one. Whatever the file
// holds, no read leaves it.
class SymbolTable {
 public:
  static Result<SymbolTable> read(const std::string& path);
  // The function at an address as the file counts it, demangled; absent: in none.
  std::optional<std::string> name_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t size;
    std::uint32_t name;  // offset in names_
  };
  std::vector<Function> functions_;  // by begin
  std::string names_;
};

// Frames "FILE+0xADDRESS" as "function (file)", reading each file once. Not thread-safe.
class FrameNames {
 public:
  // What cannot be named stays as it is.
  std::string name(std::string_view frame);

 private:
  std::map<std::string, std::optional<SymbolTable>, std::less<>> tables_;
};

}  // namespace bench
