// SPDX-License-Identifier: Apache-2.0
// Reads PyProf's table of kernels (`prof.py`, with --csv, with -w or plain), which may have any
// selection of columns in any order, and the kernels that its `parse.py` prints (net.dict), one
// Python dictionary per line. Both lack start times, so kernels are placed one after the other.
// FLOPs and bytes of the table become given_flops and given_bytes, since the parameters may give
// better values. PyProf prints zeros if it has no formula; these become unknown.
#include "base/characters.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/kernel_names/kernel_names.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/readers/table_import.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace bench {
namespace {

void add_alternates(TableRow& row, const TableCell& cell) {
  append_text<Attribute::alternate_sequence>(row, cell);
}

// Reads "4", or "4,5" for a kernel with several sequence numbers. The first one belongs to the
// kernel; the others are alternatives.
void set_sequence(TableRow& row, const TableCell& cell) {
  const std::size_t comma = cell.text.find(',');
  set_number<Attribute::sequence>(row, {cell.text.substr(0, comma)});
  if (comma != std::string_view::npos) add_alternates(row, {cell.text.substr(comma + 1)});
}

// PyProf decides this with a list of kernel name parts that ends before Hopper.
void set_tensor_cores(TableRow& row, const TableCell& cell) {
  if (cell.text == "1") row.activity.attributes.set(Attribute::tensor_cores, "used (PyProf)");
  if (cell.text == "0") row.activity.attributes.set(Attribute::tensor_cores, "not used (PyProf)");
}

// PyProf joins nested layers with ":". Layer names may contain characters that scope paths escape.
void set_layer(TableRow& row, const TableCell& cell) {
  std::string_view text = cell.text;
  std::string path;
  while (true) {
    const std::size_t end = text.find(':');
    path = append_scope(path, text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  row.activity.scope = std::move(path);
}

void set_direction(TableRow& row, const TableCell& cell) {
  const std::string_view text = cell.text;
  row.activity.direction = text == "fprop" ? "forward" : text == "bprop" ? "backward" : text;
}

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

void set_parameters(TableRow& row, const TableCell& cell) {
  row.activity.attributes.set(Attribute::parameters, cell.text);
  const std::string_view dtype = find_data_type(cell.text);
  if (!dtype.empty()) row.activity.attributes.set(Attribute::dtype, dtype);
  const std::string shapes = format_shapes(cell.text);
  if (!shapes.empty()) row.activity.attributes.set(Attribute::in_shapes, shapes);
}

// The items of a list of markers or operators are lines; the first one is that of the outermost
// call, which counts in PyProf's table.
std::string_view first_item(const TableCell& cell) {
  return cell.text.substr(0, cell.text.find('\n'));
}

template <Attribute kAttribute>
void set_first_text(TableRow& row, const TableCell& cell) {
  const std::string_view text = first_item(cell);
  if (!text.empty() && text != "na") row.activity.attributes.set(kAttribute, text);
}

// Reads the marker of a call, which has all its arguments: the problem. Its tensors become
// parameters as in PyProf's table: "[2,3]float16;[3]float16".
void set_marker(TableRow& row, const TableCell& cell) {
  const std::string_view marker = first_item(cell);
  const auto call = parse_pyprof_marker(marker);
  if (!call) return;
  row.activity.attributes.set(Attribute::problem, marker);
  std::string tensors;
  for (const FrameworkArgument& argument : call->arguments) {
    if (argument.type != "tensor") continue;
    tensors += fmt::format("{}[{}]{}", tensors.empty() ? "" : ";", fmt::join(argument.shape, ","),
                           argument.dtype);
  }
  if (!tensors.empty()) set_parameters(row, {tensors});
}

constexpr auto kPyprofText = TableContent::text;
constexpr auto kPyprofNumber = TableContent::number;
constexpr std::array kPyprofColumns = {
    TableColumn{"Idx", kPyprofNumber, set_number<Attribute::index>},
    TableColumn{"SeqId", kPyprofText, set_sequence, 7},
    TableColumn{"AltSeqId", kPyprofText, add_alternates, 7, 7},
    TableColumn{"TId", kPyprofNumber, set_thread},
    TableColumn{"Layer", kPyprofText, set_layer, 10},
    TableColumn{"Trace", kPyprofText, set_text<Attribute::source_location>, 25},
    TableColumn{"Direction", kPyprofText, set_direction, 5, 5},
    TableColumn{"Sub", kPyprofNumber, set_number<Attribute::sub>},
    TableColumn{"Module", kPyprofText, set_text<Attribute::module>, 15},
    TableColumn{"Mod", kPyprofText, set_text<Attribute::module>, 15},
    TableColumn{"Op", kPyprofText, set_text<Attribute::op>, 15},
    TableColumn{"Kernel", kPyprofText, set_name, 0, 4},
    TableColumn{"KernelLName", kPyprofText, set_text<Attribute::long_name>},
    TableColumn{"Params", kPyprofText, set_parameters, 0, 4},
    TableColumn{"Sil(ns)", kPyprofNumber, set_duration},
    TableColumn{"TC", kPyprofText, set_tensor_cores, 2},
    TableColumn{"Device", kPyprofNumber, set_device, 0, 3},
    TableColumn{"Stream", kPyprofNumber, set_stream, 0, 3},
    TableColumn{"Grid", kPyprofText, set_text<Attribute::grid>, 12},
    TableColumn{"Block", kPyprofText, set_text<Attribute::block>, 12},
    TableColumn{"FLOPs", kPyprofNumber, set_number<Attribute::given_flops>},
    TableColumn{"Bytes", kPyprofNumber, set_number<Attribute::given_bytes>},
    // Columns with names that only PyProf's own tools use.
    TableColumn{"callid", kPyprofText, ignore_cell, 7},
    TableColumn{"input_callids", kPyprofText, ignore_cell, 7, 7},
    TableColumn{"unique_name", kPyprofText, ignore_cell, 25},
};
constexpr std::array<std::string_view, 2> kPyprofOperations = {"Kernel", "Op"};
constexpr std::array<std::string_view, 6> kPyprofContents = {"Kernel",  "KernelLName", "Op",
                                                             "Sil(ns)", "FLOPs",       "Params"};
constexpr std::array<std::string_view, 3> kPyprofUnknown = {"na", "-", "na=na,"};
// A cut value changes the meaning of the row.
constexpr std::array<std::string_view, 5> kPyprofNaming = {"Layer", "Op", "Kernel", "Params",
                                                           "Module"};

// The members of a kernel that parse.py prints. Its markers of modules and of autograd are not
// read: the sequence numbers in them have members of their own.
constexpr std::array kPyprofMembers = {
    TableColumn{"kShortName", kPyprofText, set_name},
    TableColumn{"kLongName", kPyprofText, set_text<Attribute::long_name>},
    TableColumn{"kDuration", kPyprofNumber, set_duration},
    TableColumn{"layer", kPyprofText, set_layer, 0, 0, ':'},
    TableColumn{"trace", kPyprofText, set_text<Attribute::source_location>},
    TableColumn{"marker", kPyprofText, set_marker, 0, 0, '\n'},
    TableColumn{"seqId", kPyprofText, set_sequence},
    TableColumn{"altSeqId", kPyprofText, add_alternates},
    TableColumn{"subSeqId", kPyprofNumber, set_number<Attribute::sub>},
    TableColumn{"dir", kPyprofText, set_direction},
    TableColumn{"mod", kPyprofText, set_first_text<Attribute::module>, 0, 0, '\n'},
    TableColumn{"op", kPyprofText, set_first_text<Attribute::op>, 0, 0, '\n'},
    TableColumn{"tid", kPyprofNumber, set_thread},
    TableColumn{"device", kPyprofNumber, set_device},
    TableColumn{"stream", kPyprofNumber, set_stream},
    TableColumn{"grid", kPyprofText, set_text<Attribute::grid>},
    TableColumn{"block", kPyprofText, set_text<Attribute::block>},
};
constexpr std::array<std::string_view, 2> kPyprofKeys = {"kShortName", "kDuration"};

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

// Corrects what PyProf states of the work and of tensor cores.
class PyprofFinisher final : public TableFinisher {
 public:
  void finish(Activity& activity) override {
    drop_repeated_flops(activity);
    drop_unknown_work(activity);
    set_tensor_cores_by_name(activity);
  }

 private:
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

  StatedWork previous_;  // work of the previous row
  KernelNames kernel_names_;
};

std::unique_ptr<TableFinisher> make_pyprof_finisher() { return std::make_unique<PyprofFinisher>(); }

// Gives a kernel of the backward pass what the forward kernel with its sequence number has, as
// PyProf's `prof` does: operator, parameters, layer and call stack. Only forward calls have
// markers.
class PyprofKernelFinisher final : public TableFinisher {
 public:
  void finish(Activity& activity) override {
    const auto sequence = activity.attributes.integer(Attribute::sequence);
    if (sequence && activity.direction == "forward") {
      forward_[*sequence] = activity;
    } else if (sequence && activity.attributes.text(Attribute::parameters).empty()) {
      if (const auto found = forward_.find(*sequence); found != forward_.end())
        copy_call(found->second, activity);
    }
    tensor_cores_.finish(activity);
  }

 private:
  static void copy_call(const Activity& forward, Activity& backward) {
    if (backward.scope.empty()) backward.scope = forward.scope;
    for (const Attribute attribute :
         {Attribute::module, Attribute::op, Attribute::problem, Attribute::parameters,
          Attribute::dtype, Attribute::in_shapes, Attribute::source_location}) {
      const std::string_view text = forward.attributes.text(attribute);
      if (!text.empty()) backward.attributes.set(attribute, text);
    }
  }

  std::map<std::int64_t, Activity> forward_;  // the last one by sequence number
  PyprofFinisher tensor_cores_;
};

std::unique_ptr<TableFinisher> make_pyprof_kernel_finisher() {
  return std::make_unique<PyprofKernelFinisher>();
}

constexpr TableMapping kPyprofTable = {
    .format = "pyprof",
    .columns = kPyprofColumns,
    .any_of = kPyprofOperations,
    .min_columns = 3,
    .any_of_quoted = kPyprofContents,
    .row_number = "Idx",
    .unknown_values = kPyprofUnknown,
    .naming_columns = kPyprofNaming,
    .prints_completely = "prof.py --csv",
    .make_finisher = make_pyprof_finisher,
};

constexpr TableMapping kPyprofKernels = {
    .format = "pyprof_dict",
    .form = TableMapping::Form::dictionary,
    .columns = kPyprofMembers,
    .all_of = kPyprofKeys,
    .unknown_values = kPyprofUnknown,
    .make_finisher = make_pyprof_kernel_finisher,
};

}  // namespace

const ActivityReader pyprof_reader =
    table_reader<kPyprofTable>("PyProf's table, as CSV or columns");
const ActivityReader pyprof_dict_reader =
    table_reader<kPyprofKernels>("the kernels that PyProf's `parse` prints (`net.dict`)");

}  // namespace bench
