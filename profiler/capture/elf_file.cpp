// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/elf_file.hpp"

#include <zlib.h>

#include <cstring>

namespace bench {
namespace {

// Returns the text of a section that begins with a compression header; empty if it cannot be read.
std::string decompress_section(const std::string& packed) {
  Elf64_Chdr header;
  if (packed.size() < sizeof header) return {};
  std::memcpy(&header, packed.data(), sizeof header);
  if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > ElfFile::kMaxBytes) return {};
  std::string text(header.ch_size, '\0');
  uLongf size = text.size();
  const auto* from = reinterpret_cast<const Bytef*>(packed.data() + sizeof header);
  const int status =
      uncompress(reinterpret_cast<Bytef*>(text.data()), &size, from, packed.size() - sizeof header);
  return status == Z_OK && size == text.size() ? text : std::string();
}

}  // namespace

ElfFile::ElfFile(const std::string& path) : stream_(path, std::ios::binary) {
  stream_.seekg(0, std::ios::end);
  size_ = stream_ ? static_cast<std::uint64_t>(stream_.tellg()) : 0;
}

bool ElfFile::read(std::uint64_t offset, void* to, std::uint64_t size) {
  if (size > size_ || offset > size_ - size) return false;
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  return stream_.good();
}

bool ElfFile::read_header(Elf64_Ehdr& header) {
  return read(0, &header, sizeof header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

std::vector<Elf64_Shdr> ElfFile::sections() {
  Elf64_Ehdr header;
  if (!read_header(header) || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return {};
  return sections;
}

std::vector<Elf64_Phdr> ElfFile::segments() {
  std::vector<Elf64_Phdr> segments;
  Elf64_Ehdr header;
  if (!read_header(header) || header.e_phentsize != sizeof(Elf64_Phdr)) return segments;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) break;
    segments.push_back(segment);
  }
  return segments;
}

std::string ElfFile::section_text(const std::string& name) {
  Elf64_Ehdr header;
  const std::vector<Elf64_Shdr> all = sections();
  std::vector<char> names;
  if (all.empty() || !read_header(header) || header.e_shstrndx >= all.size() ||
      !read_all(all[header.e_shstrndx], names) || names.empty())
    return {};
  names.back() = '\0';
  for (const Elf64_Shdr& section : all) {
    if (section.sh_type == SHT_NOBITS || section.sh_name >= names.size()) continue;
    if (name != names.data() + section.sh_name) continue;
    std::vector<char> content;
    if (!read_all(section, content)) return {};
    std::string text(content.begin(), content.end());
    return (section.sh_flags & SHF_COMPRESSED) != 0 ? decompress_section(text) : text;
  }
  return {};
}

}  // namespace bench
