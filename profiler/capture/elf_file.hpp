// SPDX-License-Identifier: Apache-2.0
// Reads parts of a 64-bit ELF file. Malformed files never cause a read out of bounds.
#pragma once

#include <elf.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);

  // Returns false if the file does not contain these bytes.
  bool read(std::uint64_t offset, void* to, std::uint64_t size);
  // Reads a whole section. Returns false if it is larger than the file or than kMaxBytes.
  template <class T>
  bool read_all(const Elf64_Shdr& section, std::vector<T>& items) {
    if (section.sh_size > kMaxBytes || section.sh_size > size_) return false;
    items.resize(section.sh_size / sizeof(T));
    return read(section.sh_offset, items.data(), items.size() * sizeof(T));
  }
  // Return nothing for a file of another form.
  std::vector<Elf64_Shdr> sections();
  std::vector<Elf64_Phdr> segments();
  // Returns the content of the section of that name, decompressed. Empty if there is none.
  std::string section_text(const std::string& name);

  // Larger than any real table. Prevents a malformed header from requesting all memory.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

 private:
  bool read_header(Elf64_Ehdr& header);

  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

}  // namespace bench
