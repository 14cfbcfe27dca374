// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/symbols.hpp"

#include "profiler/capture/elf_file.hpp"
#include "profiler/capture/source_lines.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace bench {
namespace {

// Prefers .symtab to .dynsym: it also contains functions that are not exported, such as main.
const Elf64_Shdr* symbol_section(const std::vector<Elf64_Shdr>& sections) {
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type == type && section.sh_link < sections.size()) return &section;
    }
  }
  return nullptr;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

}  // namespace

Result<SymbolTable> SymbolTable::read(const std::string& path) {
  ElfFile file(path);
  const std::vector<Elf64_Shdr> sections = file.sections();
  const Elf64_Shdr* section = symbol_section(sections);
  std::vector<Elf64_Sym> symbols;
  std::vector<char> names;
  if (section == nullptr || !file.read_all(*section, symbols) ||
      !file.read_all(sections[section->sh_link], names)) {
    return Error{"has no symbol table of 64 bit", path, ""};
  }
  SymbolTable table;
  table.names_.assign(names.begin(), names.end());
  for (const Elf64_Sym& symbol : symbols) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_name >= table.names_.size()) continue;
    table.functions_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
  }
  std::sort(table.functions_.begin(), table.functions_.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return table;
}

std::optional<std::string> SymbolTable::name_at(std::uint64_t address) const {
  auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](std::uint64_t value, const Function& function) { return value < function.begin; });
  if (after == functions_.begin()) return std::nullopt;
  const Function& function = *std::prev(after);
  // Functions written in assembly have no size.
  if (function.size != 0 && address - function.begin >= function.size) return std::nullopt;
  return demangled(names_.c_str() + function.name);
}

namespace {

// Returns the segment with the table of functions.
std::optional<Elf64_Phdr> find_unwind_segment(ElfFile& file) {
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_GNU_EH_FRAME) return segment;
  }
  return std::nullopt;
}

// The beginning of .eh_frame_hdr, in the encodings that GNU and LLVM linkers write: a pointer, the
// number of entries, and pairs of offsets from the beginning of the table.
struct UnwindHeader {
  std::uint8_t version, pointer_encoding, count_encoding, table_encoding;
  std::int32_t pointer;
  std::uint32_t count;
};
constexpr std::uint8_t kUnsigned4 = 0x03;          // DW_EH_PE_udata4
constexpr std::uint8_t kSigned4OfTable = 0x3b;     // DW_EH_PE_datarel | DW_EH_PE_sdata4
constexpr std::uint8_t kSigned4OfPosition = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4

struct UnwindEntry {
  std::int32_t function, description;
};

}  // namespace

FunctionStarts FunctionStarts::read(const std::string& path) {
  FunctionStarts result;
  ElfFile file(path);
  const auto segment = find_unwind_segment(file);
  UnwindHeader header{};
  if (!segment || !file.read(segment->p_offset, &header, sizeof header)) return result;
  const bool is_usual = header.version == 1 && header.pointer_encoding == kSigned4OfPosition &&
                        header.count_encoding == kUnsigned4 &&
                        header.table_encoding == kSigned4OfTable;
  const std::uint64_t bytes = std::uint64_t{header.count} * sizeof(UnwindEntry);
  if (!is_usual || bytes > segment->p_filesz || bytes > ElfFile::kMaxBytes) return result;
  std::vector<UnwindEntry> entries(header.count);
  if (!file.read(segment->p_offset + sizeof header, entries.data(), bytes)) return result;
  for (const UnwindEntry& entry : entries) {
    const auto offset = static_cast<std::uint64_t>(std::int64_t{entry.function});
    result.begins_.push_back(segment->p_vaddr + offset);
  }
  std::sort(result.begins_.begin(), result.begins_.end());
  return result;
}

std::optional<std::uint64_t> FunctionStarts::begin_at(std::uint64_t address) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), address);
  if (after == begins_.begin()) return std::nullopt;
  return *std::prev(after);
}

FileSegments FileSegments::read(const std::string& path) {
  FileSegments result;
  ElfFile file(path);
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    result.segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
  }
  return result;
}

std::optional<std::uint64_t> FileSegments::address_at(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (offset >= segment.offset && offset - segment.offset < segment.size) {
      return segment.address + (offset - segment.offset);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> FrameNames::file_address(std::string_view path, std::uint64_t offset) {
  auto known = segments_.find(path);
  if (known == segments_.end()) {
    known = segments_.emplace(path, FileSegments::read(std::string(path))).first;
  }
  return known->second.address_at(offset);
}

std::optional<std::uint64_t> FrameNames::function_begin(std::string_view path,
                                                        std::uint64_t address) {
  auto known = starts_.find(path);
  if (known == starts_.end()) {
    known = starts_.emplace(path, FunctionStarts::read(std::string(path))).first;
  }
  return known->second.begin_at(address);
}

std::string FrameNames::name(std::string_view frame) {
  const auto parts = parse_frame(frame);
  if (!parts) return std::string(frame);
  const std::string_view file = parts->file;
  auto known = tables_.find(file);
  if (known == tables_.end()) {
    auto read = SymbolTable::read(std::string(file));
    known = tables_.emplace(file, std::nullopt).first;
    if (read.ok()) known->second = std::move(*read);
  }
  const auto function = known->second ? known->second->name_at(parts->address) : std::nullopt;
  if (!function) return std::string(frame);
  return fmt::format("{} ({})", *function, file.substr(file.rfind('/') + 1));
}

}  // namespace bench
