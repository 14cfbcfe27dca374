// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/file_contents.hpp"

#include "base/printable.hpp"
#include "profiler/analysis/column.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace bench::analysis {
namespace {

// Values that are kept and shown per filter. More would hide the answer.
constexpr std::size_t kMaxKeptValues = 1000;
constexpr std::size_t kMaxShownValues = 12;

std::string type_value(const Activity& activity) {
  const bool is_operator = !activity.attributes.text(Attribute::primitive).empty() ||
                           !activity.attributes.text(Attribute::op).empty();
  return is_operator ? std::string(operation_type(activity)) : std::string();
}

struct ContentFilter {
  std::string_view what;
  bool (*is_set)(const AnalysisOptions& options);
  std::string (*value_of)(const Activity& activity);  // empty if there is none
};
constexpr std::array<ContentFilter, 4> kFilters = {
    {{"types", [](const AnalysisOptions& options) { return !options.types.empty(); }, type_value},
     {"data types", [](const AnalysisOptions& options) { return !options.dtypes.empty(); },
      [](const Activity& activity) {
        return std::string(activity.attributes.text(Attribute::dtype));
      }},
     {"directions", [](const AnalysisOptions& options) { return options.direction.has_value(); },
      [](const Activity& activity) { return activity.direction; }},
     {"devices", [](const AnalysisOptions& options) { return !options.devices.empty(); },
      [](const Activity& activity) { return device_name(activity); }}}};

std::string list_values(const std::set<std::string, std::less<>>& values) {
  if (values.empty()) return "none";
  std::vector<std::string> shown;
  for (const std::string& value : values) {
    if (shown.size() == kMaxShownValues) break;
    shown.push_back(printable(value));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "), values.size() > shown.size() ? ", ..." : "");
}

}  // namespace

FileContents::FileContents(const AnalysisOptions& options) {
  static_assert(kFilters.size() == kFilterCount);
  for (std::size_t i = 0; i < kFilterCount; ++i) is_filtered_[i] = kFilters[i].is_set(options);
}

void FileContents::add(const Activity& activity) {
  ++kinds_[activity.kind];
  for (std::size_t i = 0; i < kFilterCount; ++i) {
    if (!is_filtered_[i] || values_[i].size() >= kMaxKeptValues) continue;
    if (std::string value = kFilters[i].value_of(activity); !value.empty())
      values_[i].insert(std::move(value));
  }
}

std::string FileContents::describe_empty_selection() const {
  if (kinds_.empty()) {
    return "nothing to show: the file contains no activities; `bench run CONFIG --profile` records "
           "them";
  }
  std::string held;
  for (const auto& [kind, count] : kinds_) {
    held += fmt::format("{}{} {}", held.empty() ? "" : ", ", count, to_string(kind));
  }
  for (std::size_t i = 0; i < kFilterCount; ++i) {
    if (is_filtered_[i]) held += fmt::format("; {}: {}", kFilters[i].what, list_values(values_[i]));
  }
  return fmt::format("nothing selected; the file contains {} (see --kind, --type, --phase)", held);
}

}  // namespace bench::analysis
