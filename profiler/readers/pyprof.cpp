// SPDX-License-Identifier: Apache-2.0
// PyProf's table of kernels (`prof.py`, with --csv, with -w or plain): the columns that its header
// names, in any order and choice. The table gives no start times: kernels are laid one after the
// other, in the order of the rows. Zeros for work that PyProf had no formula for become unknown.
#include "base/lines.hpp"
#include "profiler/readers/delimited.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace bench {
namespace {

struct Row {
  Activity activity;
  bool bad_time = false;     // the time is no number: nothing to tell of this kernel
  std::int64_t strange = 0;  // other values that could not be read
};

bool is_unknown(std::string_view text) { return text.empty() || text == "na" || text == "-"; }

// Also whole numbers in another form: "1.0", "1e6".
std::optional<std::int64_t> whole_number(std::string_view text) {
  const char* end = text.data() + text.size();
  std::int64_t number = 0;
  const auto whole = std::from_chars(text.data(), end, number);
  if (whole.ec == std::errc() && whole.ptr == end) return number;
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

template <Attribute kAttribute>
void set_number(Row& row, std::string_view text) {
  const auto number = whole_number(text);
  if (number && *number >= 0) {
    row.activity.attributes.set(kAttribute, *number);
  } else {
    ++row.strange;
  }
}

void set_time(Row& row, std::string_view text) {
  // 146 years; so that sums of start and duration stay in range.
  constexpr std::int64_t kLongest = std::int64_t{1} << 62;
  const auto time = whole_number(text);
  row.bad_time = !time || *time < 0 || *time >= kLongest / 4;
  if (!row.bad_time) row.activity.duration = Nanoseconds(*time);
}

void set_thread(Row& row, std::string_view text) {
  if (const auto number = whole_number(text)) {
    row.activity.track.tid = *number;
  } else {
    ++row.strange;
  }
}

void set_device(Row& row, std::string_view text) {
  row.activity.track.device = whole_number(text);
  row.strange += row.activity.track.device ? 0 : 1;
}

void set_stream(Row& row, std::string_view text) {
  row.activity.track.stream = whole_number(text);
  row.strange += row.activity.track.stream ? 0 : 1;
}

// PyProf joins nested layers with ":"; names within may hold what our paths escape.
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

// PyProf's two spellings of a type, in gen1 and gen2.
struct TypeName {
  std::string_view written;
  std::string_view dtype;
};
constexpr std::array<TypeName, 15> kTypes = {{{"fp16", "f16"},
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

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The first type that the parameters name: "T=(32,64),fp16," and "T=[(2,3)],["float16"]".
std::string_view dtype_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto begin = std::find_if(parameters.begin(), parameters.end(), is_word);
    const auto end = std::find_if_not(begin, parameters.end(), is_word);
    const std::string_view word(begin, end);
    for (const TypeName& type : kTypes) {
      if (type.written == word) return type.dtype;
    }
    parameters.remove_prefix(static_cast<std::size_t>(end - parameters.begin()));
  }
  return {};
}

// "T=[(32,256,56,56),(1,)]" -> "32x256x56x56 1"; empty where the parameters give no tensors.
std::string shapes_of(std::string_view parameters) {
  if (!parameters.starts_with("T=")) return {};
  std::string shapes;
  std::size_t begin = parameters.find('(');
  while (begin != std::string_view::npos) {
    const std::size_t end = parameters.find(')', begin);
    if (end == std::string_view::npos) return {};  // cut off
    std::string shape(parameters.substr(begin + 1, end - begin - 1));
    if (shape.ends_with(',')) shape.pop_back();
    std::replace(shape.begin(), shape.end(), ',', 'x');
    shapes += fmt::format("{}{}", shapes.empty() ? "" : " ", shape);
    begin = parameters.find('(', end);
  }
  return shapes;
}

void set_parameters(Row& row, std::string_view text) {
  row.activity.attributes.set(Attribute::parameters, text);
  const std::string_view dtype = dtype_of(text);
  if (!dtype.empty()) row.activity.attributes.set(Attribute::dtype, dtype);
  const std::string shapes = shapes_of(text);
  if (!shapes.empty()) row.activity.attributes.set(Attribute::in_shapes, shapes);
}

struct Column {
  std::string_view header;
  void (*set)(Row& row, std::string_view text);  // a value that is known
};
constexpr std::array<Column, 20> kColumns = {{
    {"Idx", set_number<Attribute::index>},
    {"SeqId", set_number<Attribute::sequence>},
    {"AltSeqId", set_text<Attribute::alternate_sequence>},
    {"TId", set_thread},
    {"Layer", set_layer},
    {"Trace", set_text<Attribute::trace>},
    {"Direction", set_direction},
    {"Sub", set_number<Attribute::sub>},
    {"Mod", set_text<Attribute::module>},
    {"Op", set_text<Attribute::op>},
    {"Kernel", set_name},
    {"Params", set_parameters},
    {"Sil(ns)", set_time},
    {"TC", set_text<Attribute::tensor_cores>},
    {"Device", set_device},
    {"Stream", set_stream},
    {"Grid", set_text<Attribute::grid>},
    {"Block", set_text<Attribute::block>},
    {"FLOPs", set_number<Attribute::flops>},
    {"Bytes", set_number<Attribute::bytes>},
}};

const Column* find_column(std::string_view header) {
  for (const Column& column : kColumns) {
    if (column.header == header) return &column;
  }
  return nullptr;
}

struct Layout {
  Delimiter delimiter = Delimiter::blank;
  std::vector<const Column*> columns;
};

// The columns of a line that is a header: nothing but PyProf's names, one of them the kernel or the
// operator. Some tables number their lines, the header too.
std::optional<Layout> layout_of(std::string_view line) {
  constexpr std::size_t kFewestColumns = 3;  // fewer could be prose
  std::vector<std::string> fields;
  Layout layout{delimiter_of(line), {}};
  if (!split_fields(line, layout.delimiter, fields)) return std::nullopt;
  bool names_it = false;
  for (const std::string& field : fields) {
    const bool numbered = layout.columns.empty() && whole_number(field).has_value();
    const Column* column = find_column(numbered ? "Idx" : field);
    if (column == nullptr) return std::nullopt;
    names_it = names_it || field == "Kernel" || field == "Op";
    layout.columns.push_back(column);
  }
  if (!names_it || layout.columns.size() < kFewestColumns) return std::nullopt;
  return layout;
}

// Kernels that only prepare, reorder or index: no work by PyProf's own classification.
constexpr std::array<std::string_view, 14> kAuxiliary = {
    "OffsetsKernel",     "nchwToNh",           "nhwcToNchw",          "generateWinogradTilesKernel",
    "winogradWgradData", "winogradWgradDelta", "winogradWgradOutput", "compute_gemm_pointers",
    "flip_filter",       "fft2d_r2c_",         "fft2d_c2r_",          "fft1d_r2c",
    "fft1d_c2r",         "scaleTensor_kernel"};

bool is_auxiliary(std::string_view kernel) {
  return std::any_of(kAuxiliary.begin(), kAuxiliary.end(), [&](std::string_view name) {
    return kernel.find(name) != std::string_view::npos;
  });
}

// PyProf prints 0 for what it has no formula for, and 0 bytes for the later kernels of an operator
// whose bytes it gave to the first one.
void drop_unknown_work(Activity& activity) {
  Attributes& attributes = activity.attributes;
  if (attributes.integer(Attribute::bytes) != 0 || is_auxiliary(activity.name)) return;
  attributes.erase(Attribute::bytes);
  if (attributes.integer(Attribute::flops) == 0) attributes.erase(Attribute::flops);
}

class Reading {
 public:
  Reading(TextSource& source, ActivitySink& sink) : source_(source), sink_(sink) {}

  Result<ReadReport> read() {
    report_.format = "pyprof";
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
      ++report_.damaged;
      report_.note(status.error().message());
    }
    return std::move(report_);
  }

 private:
  // Rows begin with a number or a name of theirs, so few lines are looked at closely.
  static std::optional<Layout> starts_table(std::string_view line) {
    constexpr std::size_t kLongestHeader = 1000;
    if (line.size() > kLongestHeader) return std::nullopt;
    if (line.find("Op") == std::string_view::npos && line.find("Kernel") == std::string_view::npos)
      return std::nullopt;
    return layout_of(line);
  }

  // False: not a row; counted.
  bool split_row(const TextSource::Line& line) {
    const bool whole = split_fields(line.text, layout_.delimiter, fields_);
    if (whole && !layout_.columns.empty() && fields_.size() == layout_.columns.size()) return true;
    const bool prose = layout_.columns.empty() || fields_.size() < 2;
    if (line.text.empty()) return false;
    ++(prose ? report_.ignored : report_.damaged);
    if (!prose) {
      note(line, whole
                     ? fmt::format("{} fields, expected {}", fields_.size(), layout_.columns.size())
                     : "a quote is not closed");
    }
    return false;
  }

  Status take_row(const TextSource::Line& line) {
    if (!line.has_end) {
      ++report_.damaged;
      note(line, "the text ends before this line does: its last number may be cut");
      return Done{};
    }
    row_.activity = Activity();
    row_.activity.kind = ActivityKind::kernel;
    row_.activity.start = end_;
    row_.bad_time = false;
    row_.strange = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Column& column = *layout_.columns[i];
      if (!is_unknown(fields_[i]) || column.header == "TC") column.set(row_, fields_[i]);
    }
    if (row_.bad_time) {
      ++report_.damaged;
      note(line, "the time is no whole number of nanoseconds");
      return Done{};
    }
    if (row_.strange > 0) {
      report_.unknown += row_.strange;
      note(line, fmt::format("{} values could not be read", row_.strange));
    }
    return hand_on(line);
  }

  Status hand_on(const TextSource::Line& line) {
    Activity& activity = row_.activity;
    if (activity.name.empty()) activity.name = activity.attributes.text(Attribute::op);
    activity.attributes.set(Attribute::line, line.number);
    drop_unknown_work(activity);
    advance(activity.duration.value_or(Nanoseconds(0)));
    ++report_.activities;
    return sink_.take(activity);
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
  Nanoseconds end_{0};
};

bool recognises(std::string_view head) {
  for (const NumberedLine& line : Lines(head)) {
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (layout_of(text)) return true;
  }
  return false;
}

Result<ReadReport> read(TextSource& source, ActivitySink& sink) {
  return Reading(source, sink).read();
}

}  // namespace

const ActivityReader pyprof_reader = {"pyprof", "PyProf's table, as CSV or columns", recognises,
                                      read};

}  // namespace bench
