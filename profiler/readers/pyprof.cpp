// SPDX-License-Identifier: Apache-2.0
// Reads PyProf's table of kernels (`prof.py`, with --csv, with -w or plain). The header names the
// columns, which may be any selection in any order. The table contains no start times, so kernels
// are placed one after the other, in the order of the rows. FLOPs and bytes become given_flops and
// given_bytes, since the parameters may give better values. PyProf prints zeros if it has no
// formula; these become unknown.
#include "base/characters.hpp"
#include "base/lines.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/kernel_names/kernel_names.hpp"
#include "profiler/readers/delimited.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace bench {
namespace {

struct Row {
  Activity activity;
  bool bad_time = false;        // the time is not a number, so the kernel is dropped
  std::int64_t unreadable = 0;  // number of other values that could not be read
};

bool is_unknown(std::string_view text) {
  return text.empty() || text == "na" || text == "-" || text == "na=na,";
}

// Also accepts integers in another notation: "1.0", "1e6".
std::optional<std::int64_t> whole_number(std::string_view text) {
  const char* end = text.data() + text.size();
  std::int64_t number = 0;
  const auto integer = std::from_chars(text.data(), end, number);
  if (integer.ec == std::errc() && integer.ptr == end) return number;
  double real = 0;
  const auto parsed = std::from_chars(text.data(), end, real);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  if (!(std::abs(real) <= kExact) || std::trunc(real) != real) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

template <Attribute kAttribute>
void set_text(Row& row, std::string_view text) {
  row.activity.attributes.set(kAttribute, text);
}

void add_alternates(Row& row, std::string_view text) {
  Attributes& attributes = row.activity.attributes;
  const std::string_view known = attributes.text(Attribute::alternate_sequence);
  attributes.set(Attribute::alternate_sequence,
                 known.empty() ? std::string(text) : fmt::format("{},{}", known, text));
}

template <Attribute kAttribute>
void set_number(Row& row, std::string_view text) {
  const auto number = whole_number(text);
  if (number && *number >= 0) {
    row.activity.attributes.set(kAttribute, *number);
  } else {
    ++row.unreadable;
  }
}

// Reads "4", or "4,5" for a kernel with several sequence numbers. The first one belongs to the
// kernel; the others are alternatives.
void set_sequence(Row& row, std::string_view text) {
  const std::size_t comma = text.find(',');
  set_number<Attribute::sequence>(row, text.substr(0, comma));
  if (comma != std::string_view::npos) add_alternates(row, text.substr(comma + 1));
}

// PyProf decides this with a list of kernel name parts that ends before Hopper.
void set_tensor_cores(Row& row, std::string_view text) {
  if (text == "1") row.activity.attributes.set(Attribute::tensor_cores, "used (PyProf)");
  if (text == "0") row.activity.attributes.set(Attribute::tensor_cores, "not used (PyProf)");
}

// For columns with names that only PyProf's own tools use.
void ignore(Row&, std::string_view) {}

void set_time(Row& row, std::string_view text) {
  // 2^62 ns are 146 years. A kernel may take a quarter of it, so that sums of start and duration
  // stay in range.
  constexpr std::int64_t kTimeRange = std::int64_t{1} << 62;
  const auto time = whole_number(text);
  row.bad_time = !time || *time < 0 || *time >= kTimeRange / 4;
  if (!row.bad_time) row.activity.duration = Nanoseconds(*time);
}

void set_thread(Row& row, std::string_view text) {
  if (const auto number = whole_number(text)) {
    row.activity.track.tid = *number;
  } else {
    ++row.unreadable;
  }
}

void set_device(Row& row, std::string_view text) {
  row.activity.track.device = whole_number(text);
  row.unreadable += row.activity.track.device ? 0 : 1;
}

void set_stream(Row& row, std::string_view text) {
  row.activity.track.stream = whole_number(text);
  row.unreadable += row.activity.track.stream ? 0 : 1;
}

// PyProf joins nested layers with ":". Layer names may contain characters that scope paths escape.
void set_layer(Row& row, std::string_view text) {
  std::string path;
  while (true) {
    const std::size_t end = text.find(':');
    path = append_scope(path, text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  row.activity.scope = std::move(path);
}

void set_direction(Row& row, std::string_view text) {
  row.activity.direction = text == "fprop" ? "forward" : text == "bprop" ? "backward" : text;
}

void set_name(Row& row, std::string_view text) { row.activity.name = text; }

// Spellings of a data type in the tables of both PyProf versions, gen1 and gen2.
struct TypeName {
  std::string_view spelling;
  std::string_view dtype;
};
constexpr std::array<TypeName, 15> kTypeNames = {{{"fp16", "f16"},
                                                  {"float16", "f16"},
                                                  {"half", "f16"},
                                                  {"fp32", "f32"},
                                                  {"float32", "f32"},
                                                  {"float", "f32"},
                                                  {"fp64", "f64"},
                                                  {"float64", "f64"},
                                                  {"double", "f64"},
                                                  {"bf16", "bf16"},
                                                  {"bfloat16", "bf16"},
                                                  {"int8", "s8"},
                                                  {"uint8", "u8"},
                                                  {"int32", "s32"},
                                                  {"int64", "s64"}}};

// -w cuts texts, so "float" at the end of a text may be the beginning of "float16".
bool may_be_cut(std::string_view word) {
  return std::any_of(kTypeNames.begin(), kTypeNames.end(), [&](const TypeName& type) {
    return type.spelling != word && type.spelling.starts_with(word);
  });
}

// Returns the first type in the parameters: "T=(32,64),fp16," and "T=[(2,3)],["float16"]".
std::string_view find_data_type(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto begin = std::find_if(parameters.begin(), parameters.end(), is_letter_or_digit);
    const auto end = std::find_if_not(begin, parameters.end(), is_letter_or_digit);
    const std::string_view word(begin, end);
    for (const TypeName& type : kTypeNames) {
      if (type.spelling != word) continue;
      return end == parameters.end() && may_be_cut(word) ? std::string_view() : type.dtype;
    }
    parameters.remove_prefix(static_cast<std::size_t>(end - parameters.begin()));
  }
  return {};
}

// How parameters that are tensors begin, and the brackets around the sizes of each tensor.
struct TensorForm {
  std::string_view begin;
  char open, close;
  std::size_t min_tensors;  // if the text has fewer, it was cut
};
constexpr std::array<TensorForm, 4> kTensorForms = {
    {{"T=", '(', ')', 1}, {"A=", '(', ')', 2}, {"X=", '(', ')', 2}, {"[", '[', ']', 1}}};

// Converts "T=[(32,256,56,56),(1,)]" to "32x256x56x56 1", "A=(2,3),B=(3,4),fp16," to "2x3 3x4", and
// "[2,3]fp16;[3]fp16" to "2x3 3". Returns an empty text if the parameters contain no tensors or
// were cut.
std::string format_shapes(std::string_view parameters) {
  const auto* form =
      std::find_if(kTensorForms.begin(), kTensorForms.end(),
                   [&](const TensorForm& row) { return parameters.starts_with(row.begin); });
  const auto brackets = std::count(parameters.begin(), parameters.end(), '[');
  if (form == kTensorForms.end() ||
      brackets != std::count(parameters.begin(), parameters.end(), ']')) {
    return {};
  }
  std::vector<std::string> shapes;
  std::size_t begin = parameters.find(form->open);
  while (begin != std::string_view::npos) {
    const std::size_t end = parameters.find(form->close, begin);
    if (end == std::string_view::npos) return {};
    std::string shape(parameters.substr(begin + 1, end - begin - 1));
    if (shape.ends_with(',')) shape.pop_back();
    std::replace(shape.begin(), shape.end(), ',', 'x');
    if (!shape.empty()) shapes.push_back(std::move(shape));
    begin = parameters.find(form->open, end);
  }
  return shapes.size() < form->min_tensors ? std::string()
                                           : fmt::format("{}", fmt::join(shapes, " "));
}

void set_parameters(Row& row, std::string_view text) {
  row.activity.attributes.set(Attribute::parameters, text);
  const std::string_view dtype = find_data_type(text);
  if (!dtype.empty()) row.activity.attributes.set(Attribute::dtype, dtype);
  const std::string shapes = format_shapes(text);
  if (!shapes.empty()) row.activity.attributes.set(Attribute::in_shapes, shapes);
}

enum class Content { text, number };

struct Column {
  std::string_view header;
  Content content;
  void (*set)(Row& row, std::string_view text);  // sets a known value
  // Width of a text column under -w, if it does not depend on the width of the table.
  std::size_t printed_width = 0;
  // Minimum length of a header that -w has cut to the column's width; 0 if -w never cuts it.
  std::size_t min_header_size = 0;
};
constexpr std::array kColumns = {
    Column{"Idx", Content::number, set_number<Attribute::index>},
    Column{"SeqId", Content::text, set_sequence, 7},
    Column{"AltSeqId", Content::text, add_alternates, 7, 7},
    Column{"TId", Content::number, set_thread},
    Column{"Layer", Content::text, set_layer, 10},
    Column{"Trace", Content::text, set_text<Attribute::source_location>, 25},
    Column{"Direction", Content::text, set_direction, 5, 5},
    Column{"Sub", Content::number, set_number<Attribute::sub>},
    Column{"Module", Content::text, set_text<Attribute::module>, 15},
    Column{"Mod", Content::text, set_text<Attribute::module>, 15},
    Column{"Op", Content::text, set_text<Attribute::op>, 15},
    Column{"Kernel", Content::text, set_name, 0, 4},
    Column{"KernelLName", Content::text, set_text<Attribute::long_name>},
    Column{"Params", Content::text, set_parameters, 0, 4},
    Column{"Sil(ns)", Content::number, set_time},
    Column{"TC", Content::text, set_tensor_cores, 2},
    Column{"Device", Content::number, set_device, 0, 3},
    Column{"Stream", Content::number, set_stream, 0, 3},
    Column{"Grid", Content::text, set_text<Attribute::grid>, 12},
    Column{"Block", Content::text, set_text<Attribute::block>, 12},
    Column{"FLOPs", Content::number, set_number<Attribute::given_flops>},
    Column{"Bytes", Content::number, set_number<Attribute::given_bytes>},
    Column{"callid", Content::text, ignore, 7},
    Column{"input_callids", Content::text, ignore, 7, 7},
    Column{"unique_name", Content::text, ignore, 25},
};
// Columns that name what ran: a cut value changes the meaning of the row. A value that fills its
// column may be cut.
constexpr std::array<std::string_view, 5> kNamingColumns = {"Layer", "Op", "Kernel", "Params",
                                                            "Module"};

const Column* find_column(std::string_view header) {
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                   [&](const Column& column) { return column.header == header; });
  return found == kColumns.end() ? nullptr : found;
}

// Also finds a column by a header that -w has cut.
const Column* find_cut_column(std::string_view header) {
  if (const Column* column = find_column(header)) return column;
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(), [&](const Column& candidate) {
    return candidate.min_header_size > 0 && header.size() >= candidate.min_header_size &&
           candidate.header.starts_with(header);
  });
  return found == kColumns.end() ? nullptr : found;
}

struct Layout {
  Delimiter delimiter = Delimiter::blank;
  std::vector<const Column*> columns;
  // Column widths of a table that -w has aligned, with one blank between columns; otherwise empty.
  std::vector<std::size_t> widths;
};

// Returns the column for a header field. Some tables number their lines, including the header.
const Column* field_column(std::string_view field, const Layout& layout) {
  const bool is_number = layout.columns.empty() && whole_number(field).has_value();
  if (is_number) return find_column("Idx");
  return layout.delimiter == Delimiter::blank ? find_cut_column(field) : find_column(field);
}

// Returns the widths between the beginnings of the names in an aligned header. The last column
// takes the rest of a row.
std::vector<std::size_t> find_widths(std::string_view header) {
  std::vector<std::size_t> widths;
  std::size_t begin = 0;
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(header.find(' ', begin), header.size());
    const std::size_t next = header.find_first_not_of(' ', end);
    widths.push_back((next == std::string_view::npos ? header.size() : next - 1) - begin);
    begin = next;
  }
  return widths;
}

// Returns the columns if the line is a header: it contains only names that PyProf uses, among them
// the kernel or the operator.
std::optional<Layout> read_layout(std::string_view line) {
  constexpr std::size_t kMinColumns = 3;  // fewer could be prose
  std::vector<std::string> fields;
  Layout layout{detect_delimiter(line), {}, {}};
  if (!split_fields(line, layout.delimiter, fields)) return std::nullopt;
  bool names_operation = false;
  for (const std::string& field : fields) {
    const Column* column = field_column(field, layout);
    if (column == nullptr) return std::nullopt;
    names_operation = names_operation || column->header == "Kernel" || column->header == "Op";
    layout.columns.push_back(column);
  }
  if (!names_operation || layout.columns.size() < kMinColumns) return std::nullopt;
  while (line.ends_with('\r')) line.remove_suffix(1);
  const bool is_aligned = line.find("  ") != std::string_view::npos || line.ends_with(' ');
  if (layout.delimiter == Delimiter::blank && is_aligned && !line.starts_with(' ')) {
    layout.widths = find_widths(line);
  }
  return layout;
}

// Returns the field of an aligned row at `position`, and moves `position` to the next field. A
// number that is longer than its column shifts the following fields, as with printf. Texts never
// do.
std::optional<std::string_view> take_aligned(std::string_view line, const Column& column,
                                             std::size_t width, std::size_t& position) {
  std::size_t end = std::min(position + width, line.size());
  std::string_view field;
  if (column.content == Content::number) {
    const std::size_t begin = line.find_first_not_of(' ', position);
    if (begin >= end) return std::nullopt;
    const std::size_t number_end = std::min(line.find(' ', begin), line.size());
    field = line.substr(begin, number_end - begin);
    if (!is_unknown(field) && !whole_number(field)) return std::nullopt;
    end = std::max(end, number_end);
  } else if (position < line.size()) {
    field = line.substr(position, end - position);
    if (field.starts_with(' ') && field.find_first_not_of(' ') != std::string_view::npos) {
      return std::nullopt;
    }
    field = field.substr(0, field.find_last_not_of(' ') + 1);
  }
  if (end < line.size() && line[end] != ' ') return std::nullopt;
  position = end + 1;
  return field;
}

// Returns false if the row is not aligned like the header.
bool split_aligned(std::string_view line, const Layout& layout, std::vector<std::string>& fields) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  fields.resize(layout.columns.size());
  std::size_t position = 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const bool is_last = i + 1 == layout.columns.size();
    const std::size_t width = is_last ? std::max(layout.widths[i], line.size()) : layout.widths[i];
    const auto field = take_aligned(line, *layout.columns[i], width, position);
    if (!field) return false;
    fields[i] = *field;
  }
  return true;
}

// Parts of the names of kernels that only prepare, reorder or index. PyProf knows that they have no
// work.
constexpr std::array<std::string_view, 14> kAuxiliaryNames = {
    "OffsetsKernel",     "nchwToNh",           "nhwcToNchw",          "generateWinogradTilesKernel",
    "winogradWgradData", "winogradWgradDelta", "winogradWgradOutput", "compute_gemm_pointers",
    "flip_filter",       "fft2d_r2c_",         "fft2d_c2r_",          "fft1d_r2c",
    "fft1d_c2r",         "scaleTensor_kernel"};

bool is_auxiliary(std::string_view kernel) {
  return std::any_of(kAuxiliaryNames.begin(), kAuxiliaryNames.end(), [&](std::string_view name) {
    return kernel.find(name) != std::string_view::npos;
  });
}

// Removes work that PyProf does not know, or that another row already has. PyProf prints 0 if it
// has no formula. It also prints 0 bytes for an operator's later kernels if it gave the bytes to
// the first one. A kernel that adds up a split product has the product's work, which another row
// already has.
void drop_unknown_work(Activity& activity) {
  Attributes& attributes = activity.attributes;
  if (find_auxiliary(activity.name) != nullptr &&
      attributes.integer(Attribute::given_flops).value_or(0) > 0) {
    attributes.erase(Attribute::given_flops);
    attributes.erase(Attribute::given_bytes);
    return;
  }
  if (attributes.integer(Attribute::given_bytes) != 0 || is_auxiliary(activity.name)) return;
  attributes.erase(Attribute::given_bytes);
  if (attributes.integer(Attribute::given_flops) == 0) attributes.erase(Attribute::given_flops);
}

// The operator of a row, and the FLOPs that PyProf states for it. PyProf repeats the FLOPs of some
// operators (batch norm, sums) on each of their kernels, which are consecutive rows.
struct StatedWork {
  std::string scope, direction, op, parameters;
  std::optional<std::int64_t> flops;
  friend bool operator==(const StatedWork&, const StatedWork&) = default;
};

StatedWork stated_work(const Activity& activity) {
  return {activity.scope, activity.direction, std::string(activity.attributes.text(Attribute::op)),
          std::string(activity.attributes.text(Attribute::parameters)),
          activity.attributes.integer(Attribute::given_flops)};
}

class TableReading {
 public:
  TableReading(TextSource& source, ActivitySink& sink) : source_(source), sink_(sink) {}

  Result<ReadReport> read() {
    report_.format = "pyprof";
    report_.starts = StartTimes::computed;
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.lines;
      if (auto layout = starts_table(line.text)) {
        layout_ = std::move(*layout);
      } else if (!split_row(line)) {
        continue;
      } else {
        BENCH_RETURN_IF_ERROR(take_row(line));
      }
    }
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
    }
    if (!cut_columns_.empty()) {
      report_.note(
          fmt::format("{}: values that fill their column may be cut ({}): `prof.py --csv` "
                      "prints them completely",
                      source_.name(), fmt::join(cut_columns_, ", ")));
    }
    return std::move(report_);
  }

 private:
  // Rows begin with a number or a name of a column, so only few lines are examined closely.
  static std::optional<Layout> starts_table(std::string_view line) {
    constexpr std::size_t kMaxTableHead = 10'000;
    if (line.size() > kMaxTableHead) return std::nullopt;
    if (line.find("Op") == std::string_view::npos && line.find("Kern") == std::string_view::npos)
      return std::nullopt;
    return read_layout(line);
  }

  // Returns false if the line is not a row, and counts it.
  bool split_row(const TextSource::Line& line) {
    if (!layout_.widths.empty() && split_aligned(line.text, layout_, fields_)) {
      note_cut_values();
      return !line.text.empty();
    }
    const bool is_split = split_fields(line.text, layout_.delimiter, fields_);
    if (is_split && !layout_.columns.empty() && fields_.size() == layout_.columns.size())
      return true;
    const bool is_prose = layout_.columns.empty() || fields_.size() < 2;
    if (line.text.empty()) return false;
    ++(is_prose ? report_.ignored : report_.malformed);
    if (!is_prose) {
      note(line, is_split
                     ? fmt::format("{} fields, expected {}", fields_.size(), layout_.columns.size())
                     : "a quote is not closed");
    }
    return false;
  }

  void note_cut_values() {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Column& column = *layout_.columns[i];
      const bool is_last = i + 1 == fields_.size();
      const std::size_t width = column.printed_width > 0 ? column.printed_width
                                : is_last                ? 0
                                                         : layout_.widths[i];
      const bool is_naming = std::find(kNamingColumns.begin(), kNamingColumns.end(),
                                       column.header) != kNamingColumns.end();
      if (is_naming && width > 0 && fields_[i].size() >= width) cut_columns_.insert(column.header);
    }
  }

  Status take_row(const TextSource::Line& line) {
    if (!line.has_end) {
      ++report_.malformed;
      note(line, "the text ends before this line does: its last number may be cut");
      return Done{};
    }
    row_.activity = Activity();
    row_.activity.kind = ActivityKind::kernel;
    row_.activity.start = end_;
    row_.bad_time = false;
    row_.unreadable = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Column& column = *layout_.columns[i];
      if (!is_unknown(fields_[i])) column.set(row_, fields_[i]);
    }
    if (row_.bad_time) {
      ++report_.malformed;
      note(line, "the time is not an integer number of nanoseconds");
      return Done{};
    }
    if (row_.unreadable > 0) {
      report_.unknown += row_.unreadable;
      note(line, fmt::format("{} values could not be read", row_.unreadable));
    }
    return forward(line);
  }

  Status forward(const TextSource::Line& line) {
    Activity& activity = row_.activity;
    if (activity.name.empty()) activity.name = activity.attributes.text(Attribute::op);
    activity.attributes.set(Attribute::line, line.number);
    drop_repeated_flops(activity);
    drop_unknown_work(activity);
    set_tensor_cores_by_name(activity);
    advance(activity.duration.value_or(Nanoseconds(0)));
    ++report_.activities;
    return sink_.consume(activity);
  }

  // A later kernel of the same operator has no bytes: the first one has those of the operator. If
  // its FLOPs are also those of the first one, they count there.
  void drop_repeated_flops(Activity& activity) {
    StatedWork stated = stated_work(activity);
    const bool is_later = activity.attributes.integer(Attribute::given_bytes) == 0;
    if (is_later && stated.flops.value_or(0) > 0 && stated == previous_) {
      activity.attributes.erase(Attribute::given_flops);
    }
    previous_ = std::move(stated);
  }

  // The name rules (kernel_names.hpp) cover later kernels than PyProf. If no rule decides, PyProf's
  // value stays.
  void set_tensor_cores_by_name(Activity& activity) {
    const TensorCoreVerdict verdict =
        kernel_names_.tensor_cores(activity.name, activity.attributes.text(Attribute::long_name));
    if (verdict.use == TensorCoreUse::unknown) return;
    activity.attributes.set(Attribute::tensor_cores, format_verdict(verdict));
  }

  void advance(Nanoseconds duration) {
    constexpr Nanoseconds kLast{std::int64_t{1} << 60};
    end_ = std::min(kLast, end_ + duration);
  }

  void note(const TextSource::Line& line, std::string_view what) {
    report_.note(fmt::format("{}:{}: {}", source_.name(), line.number, what));
  }

  TextSource& source_;
  ActivitySink& sink_;
  ReadReport report_;
  Layout layout_;
  std::vector<std::string> fields_;
  Row row_;
  StatedWork previous_;  // work of the previous row
  KernelNames kernel_names_;
  std::set<std::string_view> cut_columns_;  // columns with a value that may be cut
  Nanoseconds end_{0};
};

bool recognises_pyprof(std::string_view head) {
  for (const NumberedLine& line : Lines(head)) {
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (read_layout(text)) return true;
  }
  return false;
}

Result<ReadReport> read_pyprof(TextSource& source, ActivitySink& sink) {
  return TableReading(source, sink).read();
}

}  // namespace

const ActivityReader pyprof_reader = {"pyprof", "PyProf's table, as CSV or columns",
                                      recognises_pyprof, read_pyprof};

}  // namespace bench
