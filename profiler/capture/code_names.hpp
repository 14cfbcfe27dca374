// SPDX-License-Identifier: Apache-2.0
// Names of the code at which samples were taken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

struct CodeName {
  std::string object;  // file name of the program or shared library
  // The name or, if the object has none, "OBJECT+0xADDRESS": of the begin of the function or, if
  // this is unknown as well, of the code.
  std::string function;
};

// Looks up each address once.
class CodeNames {
 public:
  // Converts a frame "FILE+0xADDRESS" to "function (file)", or leaves it unchanged. May be empty.
  using FrameName = std::function<std::string(std::string_view frame)>;
  // Returns where the function begins that contains the address; nullopt if unknown. May be empty.
  using FunctionBegin =
      std::function<std::optional<std::uint64_t>(std::string_view path, std::uint64_t address)>;
  // Both must outlive the object.
  CodeNames(const FrameName& frame_name, const FunctionBegin& function_begin)
      : frame_name_(frame_name), function_begin_(function_begin) {}

  // `path` is empty if the object was unloaded before its name was recorded.
  const CodeName& name(std::string_view path, std::uint64_t address);

 private:
  CodeName find(const std::string& path, std::uint64_t address) const;

  const FrameName& frame_name_;
  const FunctionBegin& function_begin_;
  std::map<std::pair<std::string, std::uint64_t>, CodeName> known_;
};

}  // namespace bench
