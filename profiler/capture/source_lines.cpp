// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/source_lines.hpp"

#include "profiler/capture/elf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

namespace bench {
namespace {

// Bounds of memory: 128 MiB of rows, which is more than the largest programs have.
constexpr std::size_t kMaxRows = 8'000'000;
constexpr std::size_t kMaxFiles = 1'000'000;

// Reads numbers and texts of a section one after another. After a read beyond the end, ok() is
// false, and every read returns 0 or an empty text.
class DwarfCursor {
 public:
  explicit DwarfCursor(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty() || !ok_; }
  std::size_t left() const { return rest_.size(); }

  template <class Number>
  Number number() {
    const std::string_view bytes = take(sizeof(Number));
    Number value{};
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::uint64_t offset(bool is_64_bit) {
    return is_64_bit ? number<std::uint64_t>() : number<std::uint32_t>();
  }
  std::uint64_t unsigned_leb() { return leb().first; }
  std::int64_t signed_leb() {
    const auto [value, bits] = leb();
    const bool is_negative = bits < 64 && bits > 0 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::string_view text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return fail();
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  // Returns the next bytes, which become the content of another cursor.
  std::string_view take(std::uint64_t size) {
    if (!ok_ || size > rest_.size()) return fail();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view fail() {
    ok_ = false;
    rest_ = {};
    return {};
  }
  // Returns the value and the number of its bits that the text states.
  std::pair<std::uint64_t, unsigned> leb() {
    std::uint64_t value = 0;
    unsigned bits = 0;
    while (ok_) {
      const auto byte = number<std::uint8_t>();
      if (bits < 64) value |= std::uint64_t{byte & 0x7fu} << bits;
      bits += 7;
      if ((byte & 0x80) == 0) break;
    }
    return {value, bits};
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::string_view text_at(std::string_view section, std::uint64_t offset) {
  if (offset >= section.size()) return {};
  const std::string_view rest = section.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

// The forms in which version 5 states values (DW_FORM_*), and the contents (DW_LNCT_*).
enum class Form : std::uint64_t {
  block2 = 0x03,
  block4 = 0x04,
  data2 = 0x05,
  data4 = 0x06,
  data8 = 0x07,
  text = 0x08,
  block = 0x09,
  block1 = 0x0a,
  data1 = 0x0b,
  strp = 0x0e,
  udata = 0x0f,
  data16 = 0x1e,
  line_strp = 0x1f
};
constexpr std::uint64_t kPathContent = 1, kDirectoryContent = 2;

struct EntryField {
  std::uint64_t content;
  Form form;
};
struct FieldValue {
  std::string_view text;
  std::uint64_t number = 0;
  bool is_known = true;
};

struct FileEntry {
  std::string_view name;
  std::uint64_t directory = 0;
};

// The values of a table's header that its program needs.
struct LineHeader {
  unsigned version = 0;
  bool is_64_bit = false;
  std::uint8_t min_length = 1, max_operations = 1, line_range = 1, opcode_base = 1;
  std::int8_t line_base = 0;
  std::vector<std::uint8_t> operand_counts;  // standard opcodes, from 1
  std::vector<std::string_view> directories;
  std::vector<FileEntry> files;

  // Files and directories count from 0 in version 5, else from 1; 0 is then the folder in which the
  // compiler ran.
  std::string path(std::uint64_t number) const {
    const std::uint64_t first = version >= 5 ? 0 : 1;
    if (number < first || number - first >= files.size()) return {};
    const FileEntry& file = files[number - first];
    if (file.name.starts_with('/') || file.directory == 0) return std::string(file.name);
    const std::uint64_t index = file.directory - first;
    if (index >= directories.size()) return std::string(file.name);
    return fmt::format("{}/{}", directories[index], file.name);
  }
};

FieldValue read_value(DwarfCursor& cursor, Form form, bool is_64_bit,
                      const LineSections& sections) {
  switch (form) {
    case Form::text:
      return {cursor.text()};
    case Form::line_strp:
      return {text_at(sections.line_string, cursor.offset(is_64_bit))};
    case Form::strp:
      return {text_at(sections.string, cursor.offset(is_64_bit))};
    case Form::data1:
      return {{}, cursor.number<std::uint8_t>()};
    case Form::data2:
      return {{}, cursor.number<std::uint16_t>()};
    case Form::data4:
      return {{}, cursor.number<std::uint32_t>()};
    case Form::data8:
      return {{}, cursor.number<std::uint64_t>()};
    case Form::udata:
      return {{}, cursor.unsigned_leb()};
    case Form::data16:
      return {cursor.take(16)};
    case Form::block:
      return {cursor.take(cursor.unsigned_leb())};
    case Form::block1:
      return {cursor.take(cursor.number<std::uint8_t>())};
    case Form::block2:
      return {cursor.take(cursor.number<std::uint16_t>())};
    case Form::block4:
      return {cursor.take(cursor.number<std::uint32_t>())};
  }
  return {{}, 0, false};
}

// Reads the directories or files of version 5. Returns false if they cannot be read.
bool read_entries(DwarfCursor& cursor, bool is_64_bit, const LineSections& sections,
                  std::vector<FileEntry>& entries) {
  std::vector<EntryField> fields(cursor.number<std::uint8_t>());
  for (EntryField& field : fields) {
    field.content = cursor.unsigned_leb();
    field.form = static_cast<Form>(cursor.unsigned_leb());
  }
  const std::uint64_t count = cursor.unsigned_leb();
  // Entries without fields need no bytes, so that a hostile count would have no bound.
  if (count > cursor.left() || (fields.empty() && count > 0)) return false;
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) {
    FileEntry entry;
    for (const EntryField& field : fields) {
      const FieldValue value = read_value(cursor, field.form, is_64_bit, sections);
      if (!value.is_known) return false;
      if (field.content == kPathContent) entry.name = value.text;
      if (field.content == kDirectoryContent) entry.directory = value.number;
    }
    entries.push_back(entry);
  }
  return cursor.ok();
}

bool read_names(DwarfCursor& cursor, const LineSections& sections, LineHeader& header) {
  if (header.version >= 5) {
    std::vector<FileEntry> directories;
    if (!read_entries(cursor, header.is_64_bit, sections, directories)) return false;
    for (const FileEntry& entry : directories) header.directories.push_back(entry.name);
    return read_entries(cursor, header.is_64_bit, sections, header.files);
  }
  for (std::string_view name = cursor.text(); !name.empty(); name = cursor.text())
    header.directories.push_back(name);
  for (std::string_view name = cursor.text(); !name.empty(); name = cursor.text()) {
    header.files.push_back({name, cursor.unsigned_leb()});
    cursor.unsigned_leb();  // time of modification
    cursor.unsigned_leb();  // size
  }
  return cursor.ok();
}

// Reads a header and leaves the cursor at the program.
bool read_line_header(DwarfCursor& cursor, const LineSections& sections, LineHeader& header) {
  header.version = cursor.number<std::uint16_t>();
  if (header.version < 2 || header.version > 5) return false;
  if (header.version >= 5) cursor.take(2);  // sizes of addresses and segment selectors
  DwarfCursor rest(cursor.take(cursor.offset(header.is_64_bit)));
  header.min_length = rest.number<std::uint8_t>();
  if (header.version >= 4) header.max_operations = rest.number<std::uint8_t>();
  rest.number<std::uint8_t>();  // whether rows are statements
  header.line_base = rest.number<std::int8_t>();
  header.line_range = rest.number<std::uint8_t>();
  header.opcode_base = rest.number<std::uint8_t>();
  for (unsigned i = 1; i < header.opcode_base; ++i)
    header.operand_counts.push_back(rest.number<std::uint8_t>());
  return read_names(rest, sections, header) && cursor.ok() && header.line_range > 0 &&
         header.opcode_base > 0;
}

// The opcodes (DW_LNS_*, DW_LNE_*) that change what this reader keeps.
enum : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvanceAddress = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kAddConstant = 8,
  kFixedAdvance = 9
};
constexpr std::uint8_t kEndSequence = 1, kSetAddress = 2;

}  // namespace

// Executes the program of one table, which describes rows by their differences.
class LineProgram {
 public:
  LineProgram(const LineHeader& header, SourceLines& lines) : header_(header), lines_(lines) {}

  void run(DwarfCursor& cursor) {
    while (!cursor.at_end() && lines_.rows_.size() < kMaxRows) step(cursor);
    // Without the end of a table, the code behind its last row is unknown.
    lines_.rows_.resize(begin_of_sequence());
  }
  void begin() { sequence_ = lines_.rows_.size(); }

 private:
  std::size_t begin_of_sequence() const { return sequence_; }

  void step(DwarfCursor& cursor) {
    const auto opcode = cursor.number<std::uint8_t>();
    if (opcode >= header_.opcode_base) {
      const unsigned adjusted = opcode - header_.opcode_base;
      advance(adjusted / header_.line_range);
      line_ += header_.line_base + static_cast<std::int64_t>(adjusted % header_.line_range);
      return add_row();
    }
    switch (opcode) {
      case kExtended:
        return extended(DwarfCursor(cursor.take(cursor.unsigned_leb())));
      case kCopy:
        return add_row();
      case kAdvanceAddress:
        return advance(cursor.unsigned_leb());
      case kAdvanceLine:
        line_ += cursor.signed_leb();
        return;
      case kSetFile:
        file_ = cursor.unsigned_leb();
        return;
      case kAddConstant:
        return advance((255u - header_.opcode_base) / header_.line_range);
      case kFixedAdvance:
        address_ += cursor.number<std::uint16_t>();
        return;
      default:
        for (unsigned i = header_.operand_counts[opcode - 1u]; i > 0; --i) cursor.unsigned_leb();
    }
  }

  void extended(DwarfCursor operation) {
    const auto opcode = operation.number<std::uint8_t>();
    if (opcode == kSetAddress && operation.left() == sizeof address_) {
      address_ = operation.number<std::uint64_t>();
    } else if (opcode == kEndSequence) {
      end_sequence();
    }
  }

  void end_sequence() {
    lines_.rows_.push_back({address_, SourceLines::kEnd, 0});
    // The linker leaves the tables of code that it removed, at address 0.
    if (lines_.rows_[sequence_].address == 0) lines_.rows_.resize(sequence_);
    sequence_ = lines_.rows_.size();
    address_ = 0;
    line_ = 1;
    file_ = 1;
  }

  // Several operations per instruction, as in VLIW code, have the address of their instruction.
  void advance(std::uint64_t operations) {
    address_ +=
        operations / std::max<std::uint64_t>(header_.max_operations, 1) * header_.min_length;
  }

  void add_row() {
    const bool fits = line_ > 0 && line_ < std::numeric_limits<std::uint32_t>::max();
    lines_.rows_.push_back({address_, find_file(), fits ? static_cast<std::uint32_t>(line_) : 0});
  }

  // Returns the index of the current file in files_.
  std::uint32_t find_file() {
    if (last_ && last_->first == file_) return last_->second;
    const auto [known, is_new] =
        indices_.try_emplace(file_, static_cast<std::uint32_t>(lines_.files_.size()));
    if (is_new)
      lines_.files_.push_back(lines_.files_.size() < kMaxFiles ? header_.path(file_) : "");
    last_ = *known;
    return known->second;
  }

  const LineHeader& header_;
  SourceLines& lines_;
  std::map<std::uint64_t, std::uint32_t> indices_;  // by the number of the file in the header
  std::optional<std::pair<std::uint64_t, std::uint32_t>> last_;
  std::size_t sequence_ = 0;  // index of the first row of the current sequence
  std::uint64_t address_ = 0, file_ = 1;
  std::int64_t line_ = 1;
};

SourceLines SourceLines::parse(const LineSections& sections) {
  SourceLines lines;
  DwarfCursor units(sections.line);
  constexpr std::uint32_t k64Bit = 0xffffffff;
  while (!units.at_end() && lines.files_.size() < kMaxFiles) {
    LineHeader header;
    std::uint64_t size = units.number<std::uint32_t>();
    header.is_64_bit = size == k64Bit;
    if (header.is_64_bit) size = units.number<std::uint64_t>();
    DwarfCursor unit(units.take(size));
    if (!units.ok()) break;
    // A table that this reader does not know hides only itself.
    if (!read_line_header(unit, sections, header)) continue;
    LineProgram program(header, lines);
    program.begin();
    program.run(unit);
  }
  std::stable_sort(lines.rows_.begin(), lines.rows_.end(), [](const Row& a, const Row& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.file == kEnd && b.file != kEnd;
  });
  return lines;
}

SourceLines SourceLines::read(const std::string& path) {
  ElfFile file(path);
  const std::string line = file.section_text(".debug_line");
  if (line.empty()) return {};
  const std::string line_string = file.section_text(".debug_line_str");
  const std::string string = file.section_text(".debug_str");
  return parse({line, line_string, string});
}

std::optional<std::string> SourceLines::place_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), address,
                       [](std::uint64_t value, const Row& row) { return value < row.address; });
  if (after == rows_.begin()) return std::nullopt;
  const Row& row = *std::prev(after);
  if (row.file == kEnd || row.line == 0 || files_[row.file].empty()) return std::nullopt;
  return fmt::format("{}:{}", files_[row.file], row.line);
}

std::optional<CodeFrame> parse_frame(std::string_view frame) {
  const std::size_t plus = frame.rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  const std::string_view digits = frame.substr(plus + 3);
  CodeFrame result{frame.substr(0, plus)};
  const char* const last = digits.data() + digits.size();
  const auto [end, code] = std::from_chars(digits.data(), last, result.address, 16);
  if (code != std::errc() || end != last) return std::nullopt;
  return result;
}

std::optional<std::string> FramePlaces::place(std::string_view frame) {
  const auto parts = parse_frame(frame);
  if (!parts) return std::nullopt;
  auto known = files_.find(parts->file);
  if (known == files_.end()) {
    const std::string path(parts->file);
    known = files_.emplace(path, SourceLines::read(path)).first;
  }
  return known->second.place_at(parts->address);
}

}  // namespace bench
