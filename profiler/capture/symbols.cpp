// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

namespace bench {
namespace {

// Larger than any real symbol table. Prevents a malformed header from requesting all memory.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

class ElfReader {
 public:
  explicit ElfReader(const std::string& path) : stream_(path, std::ios::binary) {
    stream_.seekg(0, std::ios::end);
    size_ = stream_ ? static_cast<std::uint64_t>(stream_.tellg()) : 0;
  }

  bool read(std::uint64_t offset, void* to, std::uint64_t size) {
    if (size > size_ || offset > size_ - size) return false;
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return stream_.good();
  }

  template <class T>
  bool read_all(const Elf64_Shdr& section, std::vector<T>& items) {
    if (section.sh_size > kMaxBytes || section.sh_size > size_) return false;
    items.resize(section.sh_size / sizeof(T));
    return read(section.sh_offset, items.data(), items.size() * sizeof(T));
  }

 private:
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

std::vector<Elf64_Shdr> read_sections(ElfReader& file) {
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!file.read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return {};
  return sections;
}

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
  ElfReader file(path);
  const std::vector<Elf64_Shdr> sections = read_sections(file);
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

std::vector<Elf64_Phdr> read_segments(ElfReader& file) {
  std::vector<Elf64_Phdr> segments;
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return segments;
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) break;
    segments.push_back(segment);
  }
  return segments;
}

// Returns the segment with the table of functions.
std::optional<Elf64_Phdr> find_unwind_segment(ElfReader& file) {
  for (const Elf64_Phdr& segment : read_segments(file)) {
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
  ElfReader file(path);
  const auto segment = find_unwind_segment(file);
  UnwindHeader header{};
  if (!segment || !file.read(segment->p_offset, &header, sizeof header)) return result;
  const bool is_usual = header.version == 1 && header.pointer_encoding == kSigned4OfPosition &&
                        header.count_encoding == kUnsigned4 &&
                        header.table_encoding == kSigned4OfTable;
  const std::uint64_t bytes = std::uint64_t{header.count} * sizeof(UnwindEntry);
  if (!is_usual || bytes > segment->p_filesz || bytes > kMaxBytes) return result;
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
  ElfReader file(path);
  for (const Elf64_Phdr& segment : read_segments(file)) {
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
  const std::size_t plus = frame.rfind("+0x");
  if (plus == std::string_view::npos) return std::string(frame);
  const std::string_view digits = frame.substr(plus + 3);
  std::uint64_t address = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (code != std::errc() || end != digits.data() + digits.size()) return std::string(frame);
  const std::string_view file = frame.substr(0, plus);
  auto known = tables_.find(file);
  if (known == tables_.end()) {
    auto read = SymbolTable::read(std::string(file));
    known = tables_.emplace(file, std::nullopt).first;
    if (read.ok()) known->second = std::move(*read);
  }
  const auto function = known->second ? known->second->name_at(address) : std::nullopt;
  if (!function) return std::string(frame);
  return fmt::format("{} ({})", *function, file.substr(file.rfind('/') + 1));
}

}  // namespace bench
