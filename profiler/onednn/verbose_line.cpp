// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_line.hpp"

#include "base/characters.hpp"
#include "profiler/onednn/verbose_pieces.hpp"

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

bool is_engine(std::string_view text) { return text.starts_with("cpu") || text.starts_with("gpu"); }

// Matches "src/common/matmul.cpp:176".
bool is_location(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && text.substr(0, colon).find('.') != text.npos &&
         text.find(' ') == text.npos && is_number(text.substr(colon + 1));
}

void split(std::string_view text, std::vector<std::string_view>& parts) {
  parts.clear();
  for (std::size_t end = text.find(','); end != std::string_view::npos; end = text.find(',')) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
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

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
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
  decode_record(trimmed(line.substr(begin, next - begin)));
  return line_;
}

// Format: marker[,v1][,timestamp][,interface],operation,...
void VerboseDecoder::decode_record(std::string_view record) {
  line_.marker = cut_field(record, ',');
  const std::string_view format = record.substr(0, record.find(','));
  if (format.size() > 1 && format[0] == 'v' && is_number(format.substr(1))) {
    line_.format = cut_field(record, ',');
    if (format != "v0" && format != "v1") {
      return fail(VerboseKind::unknown,
                  fmt::format("unknown format `{}`, supported up to `v1`", format));
    }
  }
  if (is_timestamp(record.substr(0, record.find(',')))) {
    std::string_view time = cut_field(record, ',');
    if (is_number(time) && is_number(record.substr(0, record.find(',')))) {
      time = join(time, cut_field(record, ','));  // with a decimal comma
    }
    line_.start = parse_milliseconds(time);
  }
  decode_operation(record);
}

// Format: [interface,]operation,...
void VerboseDecoder::decode_operation(std::string_view text) {
  std::string_view rest = text;
  line_.operation = cut_field(rest, ',');
  std::optional<VerboseKind> kind = parse_kind(line_.operation);
  if (!kind && !rest.empty()) {
    line_.interface = line_.operation;
    line_.operation = cut_field(rest, ',');
    kind = parse_kind(line_.operation);
  }
  if (!kind) {
    // A line that ends before its second field may be the beginning of any record.
    const bool is_truncated = text.find(',') == std::string_view::npos;
    return fail(is_truncated ? VerboseKind::partial : VerboseKind::unknown,
                is_truncated ? "ends before its operation"
                             : fmt::format("unknown operation `{}`", shown(line_.operation)));
  }
  const bool is_execution = *kind == VerboseKind::exec || *kind == VerboseKind::create;
  line_.kind = is_execution && line_.interface == "graph" ? VerboseKind::graph : *kind;
  decode_kind(rest);
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

void VerboseDecoder::decode_info(std::string_view text) {
  line_.text = text;
  for (const std::string_view name : {"prim_template:", "template:"}) {
    if (text.starts_with(name)) return decode_template(text.substr(name.size()));
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
  if (colon != std::string_view::npos)
    line_.cache = without_prefix(line_.operation.substr(colon + 1), "cache_");
  split(text, parts_);
  if (decode_external_kernel()) return;
  const auto fields = execution_fields();
  if (!fields) return;
  join_decimals(*fields);
  if (parts_.size() == fields->size()) {
    // MKL-DNN 0.x prints no engine: it computes on processors only.
    if (std::ranges::find(*fields, VerboseField::engine) == fields->end()) line_.engine = "cpu";
    set_fields(*fields);
    return check_execution();
  }
  const std::string fault =
      fmt::format("{} fields after the operation, expected {}", parts_.size(), fields->size());
  // Lines of inner kernels (interface "ukernel") have their own order of fields.
  const bool has_own_fields = !line_.interface.empty() && line_.interface != "primitive";
  fail(parts_.size() < fields->size() ? VerboseKind::partial
       : has_own_fields               ? VerboseKind::unknown
                                      : VerboseKind::malformed,
       fault);
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

// Fields beyond those of the template belong to the attributes: 3.13 prints its scratchpad there.
void VerboseDecoder::decode_graph(std::string_view text) {
  split(text, parts_);
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
