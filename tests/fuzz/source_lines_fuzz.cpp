// SPDX-License-Identifier: Apache-2.0
// Any bytes as the line tables of a program: gives places as far as the tables can be read.
#include "profiler/capture/source_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Each part of the text may be each of the sections.
  const std::string_view strings = text.substr(size / 2);
  const bench::SourceLines lines = bench::SourceLines::parse({text, strings, strings});
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}}) {
    const auto place = lines.place_at(address);
    if (place && place->find(':') == std::string_view::npos) __builtin_trap();
  }
  return 0;
}
