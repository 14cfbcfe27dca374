// SPDX-License-Identifier: Apache-2.0
#include "harness/import/suite_text.hpp"

#include "base/characters.hpp"
#include "base/data_type.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/config/plan.hpp"
#include "ops/number_text.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace bench {
namespace {

using ops::ParameterKind;

constexpr std::array<std::string_view, 4> kSuiteAxes = {"direction", "dtype", "layout", "math"};
constexpr std::string_view kPostOps = "post_ops";
// A longer text of a problem is cut in the comment above its case.
constexpr std::size_t kMaxComment = 120;

std::string format_spatial_value(const std::vector<std::int64_t>& numbers) {
  const bool is_uniform =
      std::ranges::all_of(numbers, [&](std::int64_t number) { return number == numbers.front(); });
  return is_uniform ? fmt::to_string(numbers.front())
                    : fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string format_padding_value(const std::vector<ops::PadPair>& pads) {
  const bool is_even =
      std::ranges::all_of(pads, [](const ops::PadPair& pad) { return pad.begin == pad.end; });
  if (is_even) {
    std::vector<std::int64_t> numbers;
    for (const ops::PadPair& pad : pads) numbers.push_back(pad.begin);
    return format_spatial_value(numbers);
  }
  std::string text;
  for (const ops::PadPair& pad : pads)
    text += fmt::format("{}[{}, {}]", text.empty() ? "[" : ", ", pad.begin, pad.end);
  return text + "]";
}

// Whether a size repeats the one that its default names: `w` of "like h".
bool repeats_earlier(const ops::ParameterSet& set, const ops::Parameter& parameter) {
  constexpr std::string_view kLike = "like ";
  if (!parameter.fallback.starts_with(kLike)) return false;
  const std::string_view earlier = parameter.fallback.substr(kLike.size());
  return set.has(earlier) && set.has(parameter.name) &&
         set.value(earlier) == set.value(parameter.name);
}

// Whether values of the kind can be the items of a list in `sweep`.
bool can_sweep(ParameterKind kind) {
  return kind == ParameterKind::count || kind == ParameterKind::flag ||
         kind == ParameterKind::word || kind == ParameterKind::real;
}

// One entry of `cases:`: the values of each field. Several values give one case per combination.
struct SuiteEntry {
  std::vector<std::vector<std::string>> values;
  std::vector<bool> is_default;  // by field
};

SuiteEntry make_entry(const ImportedCase& imported) {
  SuiteEntry entry;
  for (const SuiteField& field : imported.fields) {
    entry.values.push_back({field.value});
    entry.is_default.push_back(field.is_default);
  }
  return entry;
}

// Joins entries that differ in this field alone. The order of their first cases is kept.
void merge_field(std::size_t field, std::vector<SuiteEntry>& entries) {
  std::map<std::vector<std::vector<std::string>>, std::size_t> first;  // by all other fields
  std::vector<SuiteEntry> merged;
  for (SuiteEntry& entry : entries) {
    auto key = entry.values;
    key[field].clear();
    const auto [found, is_new] = first.emplace(std::move(key), merged.size());
    if (is_new) {
      merged.push_back(std::move(entry));
      continue;
    }
    SuiteEntry& target = merged[found->second];
    for (std::string& value : entry.values[field]) {
      auto& values = target.values[field];
      if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
    }
    for (std::size_t i = 0; i < target.is_default.size(); ++i)
      target.is_default[i] = target.is_default[i] && entry.is_default[i];
  }
  entries = std::move(merged);
}

std::string format_list(const std::vector<std::string>& values) {
  return values.size() == 1 ? values.front() : fmt::format("[{}]", fmt::join(values, ", "));
}

// How often the program executes the case, or the model has it: its weight in sums.
std::optional<std::int64_t> find_count(const ImportedCase& imported) {
  if (imported.use) return imported.use->count;
  if (imported.in_model) return imported.in_model->count;
  return std::nullopt;
}

// `imported`: the first case of the entry.
std::string format_entry(const SuiteEntry& entry, const ImportedCase& imported) {
  const ops::Operator& op = *imported.op;
  std::string text = fmt::format("{{ op: {}", op.name);
  std::string sweep;
  const std::span parameters = op.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& values = entry.values[i];
    if (values.size() > 1) {
      sweep += fmt::format("{}{}: {}", sweep.empty() ? "" : ", ", parameters[i].name,
                           format_list(values));
    } else if (!values.front().empty() && !entry.is_default[i]) {
      text += fmt::format(", {}: {}", parameters[i].name, values.front());
    }
  }
  if (!sweep.empty()) text += fmt::format(", sweep: {{ {} }}", sweep);
  for (std::size_t i = 0; i <= kSuiteAxes.size(); ++i) {
    const std::size_t field = parameters.size() + i;
    if (entry.values[field].size() == 1 && entry.is_default[field]) continue;
    text += fmt::format(", {}: {}", i < kSuiteAxes.size() ? kSuiteAxes[i] : kPostOps,
                        format_list(entry.values[field]));
  }
  if (imported.use && imported.use->source == ExecutionSource::gpu) text += ", device: cuda";
  if (imported.cache != CacheMode::hot)
    text += fmt::format(", cache: {}", to_string(imported.cache));
  if (const auto count = find_count(imported))
    text += fmt::format(", multiplicity: {}", std::min(*count, kMaxCaseCount));
  return text + " }";
}

// Appends lines and remembers where they come from.
class SuiteWriter {
 public:
  void add(std::string_view line, std::optional<ImportPlace> origin = std::nullopt) {
    suite_.text += line;
    suite_.text += '\n';
    suite_.origins.push_back(origin);
  }
  SuiteText take() && { return std::move(suite_); }

 private:
  SuiteText suite_;
};

// "312 executions, 45.2 ms: 31.2 % of the time in primitives"
std::string format_use(const ProgramUse& use, const Imported& imported) {
  return fmt::format(
      "{}, {}: {} of {}", pluralise(use.count, "execution"), format_time(use.time),
      format_part(use.time, imported.time(use.source)),
      use.source == ExecutionSource::gpu ? "the GPU's work" : "the time in primitives");
}

// "12 nodes, 3.62 GFLOP: 41.2 % of all"
std::string format_model_use(const ModelUse& use, std::int64_t flops) {
  return fmt::format("{}, {}: {} of all", pluralise(use.count, "node"), format_flops(use.flops),
                     format_fraction(use.flops, flops));
}

void add_comment(std::string_view text, SuiteWriter& writer) {
  while (!text.empty()) writer.add("# " + printable(cut_field(text, '\n')));
}

// Writes the cases of one line and operator.
void add_entries(std::span<const ImportedCase> cases, SuiteWriter& writer) {
  const ops::Operator& op = *cases.front().op;
  std::vector<SuiteEntry> entries;
  entries.reserve(cases.size());
  for (const ImportedCase& imported : cases) entries.push_back(make_entry(imported));
  for (std::size_t field = 0; field < op.parameters.size() + kSuiteAxes.size(); ++field) {
    if (entries.size() == 1) break;
    const bool is_axis = field >= op.parameters.size();
    if (is_axis || can_sweep(op.parameters[field].kind)) merge_field(field, entries);
  }
  for (const SuiteEntry& entry : entries)
    writer.add("  - " + format_entry(entry, cases.front()), cases.front().place);
}

}  // namespace

std::string format_suite_value(const ops::Parameter& parameter, const ops::Value& value) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<Held, double>) {
          return ops::format_real(held);
        } else if constexpr (std::is_same_v<Held, std::vector<ops::PadPair>>) {
          return format_padding_value(held);
        } else if constexpr (std::is_same_v<Held, std::vector<std::int64_t>>) {
          return parameter.kind == ParameterKind::spatial
                     ? format_spatial_value(held)
                     : fmt::format("[{}]", fmt::join(held, ", "));
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string format_flops(std::int64_t flops) {
  const std::string count = format_count(flops);
  return count + (is_digit(count.back()) ? " FLOP" : "FLOP");
}

std::string format_fraction(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "0 %";
  if (part == whole) return "100 %";
  constexpr double kPercent = 100;
  return fmt::format("{:.1f} %", kPercent * static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<SuiteField> suite_fields(const ops::Problem& problem) {
  const ops::ParameterSet& set = problem.parameters;
  std::vector<SuiteField> fields;
  for (std::size_t i = 0; i < set.table().size(); ++i) {
    const ops::Parameter& parameter = set.table()[i];
    fields.push_back({format_suite_value(parameter, set.value(i)),
                      ops::is_default(set, i) || repeats_earlier(set, parameter)});
  }
  const auto add_axis = [&](std::string_view value, bool is_default) {
    fields.push_back({std::string(value), is_default});
  };
  add_axis(to_string(problem.direction), problem.direction == ops::Direction::forward);
  add_axis(info(problem.dtype).name, problem.dtype == DataType::f32);
  add_axis(to_string(problem.layout), problem.layout == ops::Layout::any);
  add_axis(to_string(problem.math), problem.math == ops::Math::standard);
  std::vector<std::string> post_ops;
  for (const ops::PostOp& post_op : problem.post_ops)
    post_ops.push_back(ops::format_post_op(post_op));
  fields.push_back({fmt::format("[{}]", fmt::join(post_ops, ", ")), post_ops.empty()});
  return fields;
}

SuiteText format_suite(const Imported& imported, std::string_view name, std::string_view title) {
  SuiteWriter writer;
  add_comment(title, writer);
  writer.add("version: 1");
  writer.add(fmt::format("name: \"{}\"", name));
  writer.add("cases:");
  const std::span<const ImportedCase> cases = imported.cases;
  const std::int64_t model_flops = imported.model ? imported.model->all_flops() : 0;
  std::optional<ImportPlace> commented;
  for (std::size_t begin = 0; begin < cases.size();) {
    const ImportedCase& head = cases[begin];
    std::size_t end = begin + 1;
    // Each case of a program or model has its own comment, with its part.
    const bool is_alone = head.use || head.in_model;
    while (!is_alone && end < cases.size() && cases[end].place == head.place &&
           cases[end].op == head.op)
      ++end;
    if (is_alone || commented != head.place) {
      writer.add(fmt::format("  # {}: {}", printable(imported.place_text(head.place)),
                             shorten(printable(head.text), kMaxComment)),
                 head.place);
    }
    if (head.use) writer.add("  # " + format_use(*head.use, imported), head.place);
    if (head.in_model)
      writer.add("  # " + format_model_use(*head.in_model, model_flops), head.place);
    commented = head.place;
    add_entries(cases.subspan(begin, end - begin), writer);
    begin = end;
  }
  return std::move(writer).take();
}

}  // namespace bench
