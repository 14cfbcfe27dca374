// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_line.hpp"

#include "base/characters.hpp"
#include "base/text.hpp"
#include "profiler/device_number.hpp"
#include "profiler/onednn/log_text.hpp"
#include "profiler/onednn/milliseconds.hpp"
#include "profiler/onednn/verbose_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace bench {

namespace {

constexpr std::array<std::string_view, 3> kMarkers = {"onednn_verbose", "mkldnn_verbose",
                                                      "dnnl_verbose"};
constexpr std::string_view kMarkerEnd = "_verbose,";

struct OperationRow {
  std::string_view name;
  std::string_view subtype;  // the text after ':'; "*" means any or none
  VerboseKind kind;
};

constexpr std::array<OperationRow, 16> kOperations = {{
    {"exec", "", VerboseKind::exec},
    {"exec", "external", VerboseKind::external},
    {"exec", "check", VerboseKind::check},
    {"exec", "debug", VerboseKind::debuginfo},
    {"exec", "start", VerboseKind::debuginfo},
    {"create", "start", VerboseKind::debuginfo},
    {"create_nested", "start", VerboseKind::debuginfo},
    {"create", "check", VerboseKind::check},
    {"create", "dispatch", VerboseKind::dispatch},
    {"create", "debug", VerboseKind::debuginfo},
    {"create", "*", VerboseKind::create},
    {"create_nested", "*", VerboseKind::create_nested},
    {"compile", "*", VerboseKind::graph},
    {"error", "*", VerboseKind::error},
    {"warning", "*", VerboseKind::warning},
    {"debuginfo", "*", VerboseKind::debuginfo},
}};

// Returns nullopt if the text is not an operation.
std::optional<VerboseKind> parse_kind(std::string_view operation) {
  if (operation == "info") return VerboseKind::info;
  const std::size_t colon = operation.find(':');
  const std::string_view name = operation.substr(0, colon);
  const std::string_view subtype =
      colon == std::string_view::npos ? std::string_view() : operation.substr(colon + 1);
  for (const OperationRow& row : kOperations) {
    if (row.name == name && (row.subtype == subtype || row.subtype == "*")) return row.kind;
  }
  return std::nullopt;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool is_timestamp(std::string_view text) {
  return !text.empty() && is_digit(text.front()) &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "cpu", "cpu2gpu", "gpu", or "gpu:0" with the number of a device.
bool is_engine(std::string_view text) {
  constexpr std::string_view kNumbered = "gpu:";
  if (!text.starts_with(kNumbered)) return text.starts_with("cpu") || text.starts_with("gpu");
  const auto device = parse_number<std::int64_t>(text.substr(kNumbered.size()));
  return device && is_device_number(*device);
}

// Matches "src/common/matmul.cpp:176".
bool is_location(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && text.substr(0, colon).find('.') != text.npos &&
         text.find(' ') == text.npos && is_number(text.substr(colon + 1));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n*";  // "**" is emphasis in Markdown
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text.substr(text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// The parts between commas, without blanks around them.
void split(std::string_view text, std::vector<std::string_view>& parts) {
  parts.clear();
  for (std::size_t end = text.find(','); end != std::string_view::npos; end = text.find(',')) {
    parts.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  parts.push_back(trimmed(text));
}

// Cuts the first field of a record, without blanks around it.
std::string_view cut_part(std::string_view& text) { return trimmed(cut_field(text, ',')); }
std::string_view first_part(std::string_view text) { return cut_part(text); }

// Matches a problem: "8x16x28x28", "1x512:512x512", "mb8ic16". An auxiliary text has names before
// its colons: "alg:eltwise_relu".
bool is_problem(std::string_view text) {
  const auto is_character = [](char c) { return is_word(c) || c == ':'; };
  if (text.empty() || text.find_first_of("0123456789") == std::string_view::npos ||
      !std::ranges::all_of(text, is_character)) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && (i == 0 || !is_digit(text[i - 1]))) return false;
  }
  return true;
}

// Returns the text without quotes, tags and the like behind it.
std::string_view without_markup(std::string_view text) {
  while (const std::size_t size = closing_size(text)) text.remove_suffix(size);
  return text;
}

bool is_propagation(std::string_view text) {
  return text == "undef" || text.starts_with("forward") || text.starts_with("backward");
}

// Returns the text without what quotes, markup or a list add behind the number that a record ends
// in: "0.25`", "0.25</code>", "0.25\",". Returns the text itself if it has no such end. A comma
// directly behind a number begins another field.
std::string_view without_closing(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && !is_digit(rest.back())) {
    const std::size_t size = closing_size(rest);
    if (size == 0) return text;
    rest.remove_suffix(size);
  }
  if (rest.empty() || rest.size() == text.size()) return rest.empty() ? text : rest;
  const char next = text[rest.size()];
  // A point behind an integer is that of a number whose digits are missing.
  const bool has_point = rest.find('.', rest.rfind(',') + 1) != std::string_view::npos;
  return next == ',' || (next == '.' && !has_point) ? text : rest;
}

// Matches what follows the comma of "12,3723" or "1,5e-05" up to a character in `end`, or the end.
bool is_fraction(std::string_view text, std::string_view end) {
  text = text.substr(0, text.find_first_of(end));
  const std::size_t exponent = text.find('e');
  if (!is_number(text.substr(0, exponent))) return false;
  if (exponent == std::string_view::npos) return true;
  text.remove_prefix(exponent + 1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_number(text);
}

// Matches what precedes the comma of a coefficient: "alg:eltwise_clip alpha:-0".
bool ends_in_coefficient(std::string_view text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == text.size()) return false;
  return text[last] == ':' || (text[last] == '-' && last > 0 && text[last - 1] == ':');
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Shortens a field for a message, because a hostile log may contain anything.
std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  std::string result(text.substr(0, kMaxShown));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kMaxShown ? result + "..." : result;
}

// Returns the text from the beginning of `first` to the end of `last`. Both must be views into the
// same text.
std::string_view join(std::string_view first, std::string_view last) {
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

// Returns the marker that ends where kMarkerEnd begins at `position`; empty if there is none.
std::string_view marker_at(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position + kMarkerEnd.size() - 1);
  for (const std::string_view marker : kMarkers) {
    if (before.ends_with(marker)) return marker;
  }
  return {};
}

}  // namespace

std::size_t find_verbose(std::string_view text, std::size_t from) {
  for (std::size_t position = text.find(kMarkerEnd, from); position != std::string_view::npos;
       position = text.find(kMarkerEnd, position + 1)) {
    const std::string_view marker = marker_at(text, position);
    if (marker.empty()) continue;
    const std::size_t begin = position + kMarkerEnd.size() - 1 - marker.size();
    if (begin >= from) return begin;
  }
  return std::string_view::npos;
}

void VerboseDecoder::fail(VerboseKind kind, std::string fault) {
  line_.kind = kind;
  line_.fault = std::move(fault);
}

const VerboseLine& VerboseDecoder::decode(std::string_view line) {
  line_ = {};
  const std::size_t begin = find_verbose(line);
  if (begin == std::string_view::npos) return line_;
  const std::size_t next = find_verbose(line, begin + 1);
  if (next != std::string_view::npos) line_.rest = line.substr(next);
  std::string_view record = line.substr(begin, next - begin);
  const std::size_t carriage_return = record.find('\r');
  line_.is_closed = carriage_return != std::string_view::npos;
  record = trimmed(record.substr(0, carriage_return));
  if (record.ends_with("\\n")) {
    line_.is_closed = true;
    record.remove_suffix(2);
  }
  decode_record(record);
  return line_;
}

// Format: marker[,v1][,timestamp][,interface],operation,...
void VerboseDecoder::decode_record(std::string_view record) {
  line_.marker = cut_part(record);
  const std::string_view format = first_part(record);
  if (format.size() > 1 && format[0] == 'v' && is_number(format.substr(1))) {
    line_.format = cut_part(record);
    if (format != "v0" && format != "v1") {
      return fail(VerboseKind::unknown,
                  fmt::format("unknown format `{}`, supported up to `v1`", format));
    }
  }
  if (is_timestamp(first_part(record))) {
    std::string_view time = cut_part(record);
    if (is_number(time) && is_number(first_part(record))) {
      time = join(time, cut_part(record));  // with a decimal comma
    }
    line_.start = parse_milliseconds(time);
  }
  decode_operation(record);
}

// Format: [interface,]operation,...
void VerboseDecoder::decode_operation(std::string_view text) {
  std::string_view rest = text;
  line_.operation = cut_part(rest);
  std::optional<VerboseKind> kind = parse_kind(line_.operation);
  if (!kind && !rest.empty()) {
    const std::string_view behind_interface = rest;
    line_.interface = line_.operation;
    line_.operation = cut_part(rest);
    kind = parse_kind(line_.operation);
    if (!kind && is_engine(line_.interface)) return decode_refusal(behind_interface);
  }
  if (!kind) {
    // A line that ends before its second field may be the beginning of any record.
    const bool is_truncated = text.find(',') == std::string_view::npos;
    return fail(is_truncated ? VerboseKind::partial : VerboseKind::unknown,
                is_truncated ? "ends before its operation"
                             : fmt::format("unknown operation `{}`", shown(line_.operation)));
  }
  const bool may_be_of_graph = *kind == VerboseKind::exec || *kind == VerboseKind::create;
  line_.kind = may_be_of_graph && line_.interface == "graph" ? VerboseKind::graph : *kind;
  decode_kind(rest);
}

// Format: engine,library,message. An implementation that calls another library prints why it is not
// used: "cpu,acl,unsupported: ...".
void VerboseDecoder::decode_refusal(std::string_view text) {
  line_.kind = VerboseKind::dispatch;
  decode_message(text);
}

void VerboseDecoder::decode_kind(std::string_view text) {
  switch (line_.kind) {
    case VerboseKind::info:
      return decode_info(text);
    case VerboseKind::create:
    case VerboseKind::create_nested:
    case VerboseKind::exec:
    case VerboseKind::external:
      return decode_execution(text);
    case VerboseKind::graph:
      return decode_graph(text);
    case VerboseKind::dispatch:
    case VerboseKind::check:
    case VerboseKind::error:
    case VerboseKind::warning:
    case VerboseKind::debuginfo:
      return decode_message(text);
    case VerboseKind::other:
    case VerboseKind::partial:
    case VerboseKind::malformed:
    case VerboseKind::unknown:
      return;
  }
}

void VerboseDecoder::decode_info(std::string_view untrimmed) {
  const std::string_view text = trimmed(untrimmed);
  line_.text = text;
  for (const std::string_view name : {"prim_template:", "template:"}) {
    if (text.starts_with(name)) return decode_template(without_markup(text.substr(name.size())));
  }
  if (is_version_line(text)) {  // another log begins, maybe of another version
    primitive_template_.reset();
    graph_template_.reset();
  }
  if (!line_.format.empty()) facts_["library.onednn.verbose_format"] = line_.format;
  add_facts(text, facts_);
}

void VerboseDecoder::decode_template(std::string_view text) {
  VerboseTemplate parsed = parse_template(text);
  if (parsed.state == VerboseTemplate::State::partial) {
    return fail(VerboseKind::partial, "the template ends before its last field");
  }
  if (parsed.state == VerboseTemplate::State::not_understood) {
    fail(VerboseKind::unknown, fmt::format("unknown format: the template `{}` lacks engine, "
                                           "primitive or exec_time",
                                           shown(text)));
  } else if (parsed.state == VerboseTemplate::State::repaired) {
    line_.fault = fmt::format("the template `{}` is malformed; the usual order of fields applies",
                              shown(text));
  } else if (std::ranges::count(parsed.fields, VerboseField::unknown) > 0) {
    line_.fault =
        fmt::format("the template `{}` contains unknown fields, which are skipped", shown(text));
  }
  (line_.interface == "graph" ? graph_template_ : primitive_template_) = std::move(parsed);
}

// Returns the order of fields of the line in parts_. Returns nullopt if line_ states the reason.
std::optional<std::span<const VerboseField>> VerboseDecoder::execution_fields() {
  if (primitive_template_) {
    if (primitive_template_->state != VerboseTemplate::State::not_understood) {
      return primitive_template_->fields;
    }
    // A malformed template must not cost the lines: one that fits the usual order is understood.
    if (parts_.size() >= primitive_fields().size() && is_engine(parts_.front())) {
      return primitive_fields();
    }
    fail(VerboseKind::unknown, "unknown format: its template was not understood");
    return std::nullopt;
  }
  if (line_.marker != "mkldnn_verbose") return primitive_fields();
  return is_engine(parts_.front()) ? primitive_fields_of_1_0() : primitive_fields_of_0();
}

// Joins the parts of numbers that have a decimal comma, as long as there are more parts than
// fields. First come coefficients with more text behind them, which can be nothing else. Then comes
// the time, which nearly always has a fraction, and at last the other coefficients.
void VerboseDecoder::join_decimals(std::span<const VerboseField> fields) {
  enum class Rest { text, any };
  const auto join_coefficients = [&](Rest rest) {
    for (std::size_t i = 0; i + 2 < parts_.size() && parts_.size() > fields.size();) {
      const bool is_joined = ends_in_coefficient(parts_[i]) &&
                             is_fraction(parts_[i + 1], " :+;'") &&
                             (rest == Rest::any || !is_fraction(parts_[i + 1], {}));
      if (is_joined) {
        join_with_next(i);
      } else {
        ++i;
      }
    }
  };
  if (parts_.size() <= fields.size() || fields.back() != VerboseField::time) return;
  join_coefficients(Rest::text);
  join_split_time(fields.size());
  join_coefficients(Rest::any);
}

// Joins the last two parts if they are one time with a decimal comma and there are more parts than
// usual.
void VerboseDecoder::join_split_time(std::size_t usual_parts) {
  const bool is_split = parts_.size() > usual_parts && is_number(parts_[parts_.size() - 2]) &&
                        is_fraction(parts_.back(), {});
  if (is_split) join_with_next(parts_.size() - 2);
}

void VerboseDecoder::join_with_next(std::size_t part) {
  parts_[part] = join(parts_[part], parts_[part + 1]);
  parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part) + 1);
}

// Format: NAME,TIME; names may contain commas. Compute Library's kernels are printed so. Returns
// false if the line has other fields.
bool VerboseDecoder::decode_external_kernel() {
  constexpr std::size_t kFields = 2;
  if (line_.kind != VerboseKind::external || is_engine(parts_.front())) return false;
  if (parts_.size() < kFields) {
    fail(VerboseKind::partial, "ends before its time");
    return true;
  }
  join_split_time(kFields);
  line_.component = join(parts_.front(), parts_[parts_.size() - 2]);
  line_.time = parse_milliseconds(parts_.back());
  if (!line_.time) {
    fail(VerboseKind::malformed, fmt::format("`{}` is not a time", shown(parts_.back())));
  }
  return true;
}

void VerboseDecoder::decode_execution(std::string_view text) {
  const std::size_t colon = line_.operation.find(':');
  // The other one is "exec:external".
  const bool is_creation =
      line_.kind == VerboseKind::create || line_.kind == VerboseKind::create_nested;
  if (is_creation && colon != std::string_view::npos)
    line_.cache = without_prefix(line_.operation.substr(colon + 1), "cache_");
  split_execution(text);
  if (decode_external_kernel()) return;
  auto fields = execution_fields();
  if (!fields) return;
  join_decimals(*fields);
  if (const auto shorter = find_shorter_fields(*fields)) fields = shorter;
  if (parts_.size() == fields->size()) {
    // MKL-DNN 0.x prints no engine: it computes on processors only.
    if (std::ranges::find(*fields, VerboseField::engine) == fields->end()) line_.engine = "cpu";
    set_fields(*fields);
    return check_execution();
  }
  const bool lacks_time = parts_.size() + 1 == fields->size() && is_problem(parts_.back());
  const std::string fault = lacks_time ? "ends before its time"
                                       : fmt::format("{} fields after the operation, expected {}",
                                                     parts_.size(), fields->size());
  // Lines of inner kernels (interface "ukernel") have their own order of fields.
  const bool has_own_fields = !line_.interface.empty() && line_.interface != "primitive";
  fail(parts_.size() < fields->size() ? VerboseKind::partial
       : has_own_fields               ? VerboseKind::unknown
                                      : VerboseKind::malformed,
       fault);
}

// Splits a record that ends in a time, without the markup that follows that time.
void VerboseDecoder::split_execution(std::string_view text) {
  const std::string_view record = without_closing(text);
  line_.is_closed = line_.is_closed || record.size() < text.size();
  split(record, parts_);
}

// Some lines have fewer fields than their version usually prints: those of gemm_api in 2.7 and of
// the first releases of DNNL have no attributes, and those of MKL-DNN 0.10 no implementation.
// Returns nullopt for other lines, which may be incomplete.
std::optional<std::span<const VerboseField>> VerboseDecoder::find_shorter_fields(
    std::span<const VerboseField> usual) {
  const std::size_t without_attributes = primitive_fields_of_1_0().size();
  const bool may_lack_attributes = is_engine(parts_.front()) && parts_.size() > 6 &&
                                   is_problem(parts_[6]) && usual.size() > without_attributes;
  if (may_lack_attributes && parts_.size() == without_attributes + 1) {
    join_split_time(without_attributes);
  }
  const bool has_time = parse_milliseconds(parts_.back()).has_value();
  if (may_lack_attributes && has_time && parts_.size() == without_attributes) {
    return primitive_fields_of_1_0();
  }
  const std::span<const VerboseField> oldest = primitive_fields_of_0_10();
  const bool is_oldest = has_time && line_.marker == "mkldnn_verbose" &&
                         parts_.size() == oldest.size() && is_propagation(parts_[1]);
  return is_oldest ? std::optional(oldest) : std::nullopt;
}

void VerboseDecoder::check_execution() {
  if (!is_engine(line_.engine)) {
    fail(VerboseKind::malformed, fmt::format("`{}` is not an engine", shown(line_.engine)));
  } else if (!line_.time && parts_.back().empty()) {
    fail(VerboseKind::partial, "ends before its time");
  } else if (!line_.time) {
    fail(VerboseKind::malformed, fmt::format("`{}` is not a time", shown(parts_.back())));
  }
}

// Format: engine,name,number,attrs:{...},inputs:{...},outputs:{...},time. A kernel of a partition
// that is not a primitive is printed so; its time is within that of the partition, as a
// primitive's. Returns false if the line has other fields.
bool VerboseDecoder::decode_graph_kernel() {
  const auto begins_with = [](std::string_view begin) {
    return [begin](std::string_view part) { return part.starts_with(begin); };
  };
  const auto attributes = std::ranges::find_if(parts_, begins_with("attrs:{"));
  const auto inputs = std::find_if(attributes, parts_.end(), begins_with("inputs:{"));
  const auto outputs = std::find_if(inputs, parts_.end(), begins_with("outputs:{"));
  constexpr std::ptrdiff_t kNameAndNumber = 3;
  if (outputs == parts_.end() || attributes - parts_.begin() < kNameAndNumber) return false;
  if (outputs + 1 == parts_.end()) {
    fail(VerboseKind::partial, "ends before its time");
    return true;
  }
  line_.kind = VerboseKind::exec;
  line_.engine = parts_.front();
  line_.primitive = parts_[1];
  line_.attributes = join(*attributes, *(inputs - 1));
  line_.problem = join(*inputs, *(outputs - 1));
  line_.auxiliary = join(*outputs, *(parts_.end() - 2));
  line_.time = parse_milliseconds(parts_.back());
  check_execution();
  return true;
}

// Fields beyond those of the template belong to the attributes: 3.13 prints its scratchpad there.
void VerboseDecoder::decode_graph(std::string_view text) {
  split_execution(text);
  if (decode_graph_kernel()) return;
  std::span<const VerboseField> fields = graph_fields();
  if (graph_template_) {
    const bool is_understood = graph_template_->state == VerboseTemplate::State::understood;
    if (!is_understood && (parts_.size() < fields.size() || !is_engine(parts_.front()))) {
      return fail(VerboseKind::unknown, "unknown format: its template was not understood");
    }
    if (is_understood) fields = graph_template_->fields;
  }
  if (parts_.size() < fields.size()) {
    return fail(VerboseKind::partial, fmt::format("{} fields after the operation, expected {}",
                                                  parts_.size(), fields.size()));
  }
  const std::size_t surplus = parts_.size() - fields.size();
  const auto attributes = static_cast<std::size_t>(
      std::ranges::find(fields, VerboseField::attributes) - fields.begin());
  if (surplus > 0 && attributes < fields.size()) {
    parts_[attributes] = join(parts_[attributes], parts_[attributes + surplus]);
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(attributes) + 1,
                 parts_.begin() + static_cast<std::ptrdiff_t>(attributes + surplus) + 1);
  }
  set_fields(fields);
  check_execution();
}

// Format: component,[engine,primitive,...,problem,]message[,location]. Messages may contain commas.
void VerboseDecoder::decode_message(std::string_view text) {
  split(text, parts_);
  line_.component = parts_.front();
  std::size_t begin = 1;
  std::size_t end = parts_.size();
  const auto described_fields = primitive_fields().first(primitive_fields().size() - 1);  // no time
  if (parts_.size() > described_fields.size() + 1 && is_engine(parts_[1])) {
    for (std::size_t i = 0; i < described_fields.size(); ++i)
      set_field(described_fields[i], parts_[i + 1]);
    begin += described_fields.size();
  }
  if (end > begin && is_location(parts_[end - 1])) line_.location = parts_[--end];
  if (end > begin) line_.message = join(parts_[begin], parts_[end - 1]);
  if (line_.message.empty() && line_.location.empty() && line_.kind != VerboseKind::debuginfo) {
    fail(VerboseKind::partial, "ends before its message");
  }
}

void VerboseDecoder::set_field(VerboseField field, std::string_view text) {
  switch (field) {
    case VerboseField::engine:
      line_.engine = text;
      return;
    case VerboseField::primitive:
      line_.primitive = text;
      return;
    case VerboseField::implementation:
      line_.implementation = text;
      return;
    case VerboseField::propagation:
      line_.propagation = text;
      return;
    case VerboseField::memory:
      line_.memory_text = text;
      memory_.clear();
      parse_memory_descriptors(text, memory_);
      line_.memory = memory_;
      return;
    case VerboseField::attributes:
      line_.attributes = trimmed(text);
      return;
    case VerboseField::auxiliary:
      line_.auxiliary = text;
      return;
    case VerboseField::problem:
      line_.problem = text;
      return;
    case VerboseField::time:
      line_.time = parse_milliseconds(text);
      return;
    case VerboseField::backend:
      if (line_.implementation.empty()) line_.implementation = text;
      return;
    case VerboseField::partition_id:
    case VerboseField::data_formats:
    case VerboseField::unknown:
      return;
  }
}

void VerboseDecoder::set_fields(std::span<const VerboseField> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) set_field(fields[i], parts_[i]);
}

}  // namespace bench
