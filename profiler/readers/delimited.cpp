// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/delimited.hpp"

#include <cstddef>

namespace bench {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Writes the fields of a line over those of the previous line, so that their memory is reused.
class FieldWriter {
 public:
  explicit FieldWriter(std::vector<std::string>& fields) : fields_(fields) {}
  std::string& next() {
    if (used_ == fields_.size()) fields_.emplace_back();
    fields_[used_].clear();
    return fields_[used_++];
  }
  void finish() { fields_.resize(used_); }

 private:
  std::vector<std::string>& fields_;
  std::size_t used_ = 0;
};

void split_blanks(std::string_view line, FieldWriter& fields) {
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = line.find_first_of(kBlanks, begin);
    fields.next() = line.substr(begin, end - begin);
    begin = line.find_first_not_of(kBlanks, end);
  }
}

void split_tabs(std::string_view line, FieldWriter& fields) {
  while (true) {
    const std::size_t end = line.find('\t');
    fields.next() = line.substr(0, end);
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

// Appends the quoted field at the beginning of `line` to `field`, and removes it from `line`.
// Returns false if its quote is not closed or a character other than a comma follows it.
bool take_quoted(std::string_view& line, std::string& field) {
  line.remove_prefix(1);
  while (true) {
    const std::size_t quote = line.find('"');
    if (quote == std::string_view::npos) return false;
    field += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) return line.empty() || line.front() == ',';
    field += '"';
    line.remove_prefix(1);
  }
}

bool split_commas(std::string_view line, FieldWriter& fields) {
  while (true) {
    std::string& field = fields.next();
    if (line.starts_with('"')) {
      if (!take_quoted(line, field)) return false;
    } else {
      const std::size_t end = line.find(',');
      field = line.substr(0, end);
      line.remove_prefix(field.size());
    }
    if (line.empty()) return true;
    line.remove_prefix(1);
  }
}

}  // namespace

Delimiter detect_delimiter(std::string_view header) {
  if (header.find('\t') != std::string_view::npos) return Delimiter::tab;
  const bool is_quoted = header.starts_with('"');
  if (is_quoted || header.find(',') != std::string_view::npos) return Delimiter::comma;
  return Delimiter::blank;
}

bool split_fields(std::string_view line, Delimiter delimiter, std::vector<std::string>& fields) {
  FieldWriter writer(fields);
  bool is_complete = true;
  switch (delimiter) {
    case Delimiter::tab:
      split_tabs(line, writer);
      break;
    case Delimiter::comma:
      is_complete = split_commas(line, writer);
      break;
    case Delimiter::blank:
      split_blanks(line, writer);
      break;
  }
  writer.finish();
  return is_complete;
}

}  // namespace bench
