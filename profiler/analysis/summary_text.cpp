// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/text.hpp"
#include "profiler/analysis/cell.hpp"
#include "profiler/analysis/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace bench {
namespace {

using nlohmann::ordered_json;

// A table of text: first column to the left, numbers to the right.
class TextTable {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string result;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string padding(widths[i] - display_width(row[i]), ' ');
        result += i == 0 ? row[i] + padding : "  " + padding + row[i];
      }
      result.erase(result.find_last_not_of(' ') + 1);
      result += '\n';
    }
    return result;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Exact: six decimals of a millisecond are nanoseconds.
std::string milliseconds(Nanoseconds time) {
  const std::int64_t count = time.count();
  const auto [whole, rest] = std::div(count, std::int64_t{1'000'000});
  return fmt::format("{}.{:06}", whole, rest);
}

std::string milliseconds(const std::optional<Nanoseconds>& time) {
  return format_or_unknown(time, [](Nanoseconds value) { return milliseconds(value); });
}

std::string percent(const std::optional<double>& share) {
  return format_or_unknown(share, [](double value) { return fmt::format("{:.1f}", 100 * value); });
}

std::string number(const std::optional<double>& value) {
  return format_or_unknown(value, [](double known) { return fmt::format("{:.15g}", known); });
}

// "share [%]" is of the wall time, which the first line states; others say of what they are.
std::string time_table(std::string_view heading, const std::vector<TimeRow>& rows,
                       const char* share = "share [%]") {
  TextTable table;
  table.row({std::string(heading), "count [1]", "total [ms]", share, "cum. share [%]", "self [ms]",
             "min [ms]", "max [ms]", "mean [ms]", "p50 [ms]", "p95 [ms]"});
  for (const TimeRow& row : rows) {
    const std::string unfinished =
        row.unfinished > 0 ? fmt::format(" ({} unfinished)", row.unfinished) : "";
    // Of what is no activity there is no number.
    const std::string count = row.count > 0 ? fmt::format("{}", row.count) : std::string(kUnknown);
    table.row({printable(row.name) + unfinished, count, milliseconds(row.total), percent(row.share),
               percent(row.cumulative_share), milliseconds(row.self), milliseconds(row.min),
               milliseconds(row.max), milliseconds(row.mean), milliseconds(row.p50),
               milliseconds(row.p95)});
  }
  return table.text();
}

std::string memory_table(const std::vector<MemoryRow>& rows) {
  TextTable table;
  table.row({"memory", "count [1]", "total [B]", "min [B]", "max [B]", "mean [B]"});
  for (const MemoryRow& row : rows) {
    const auto bytes = [](std::int64_t value) { return fmt::format("{}", value); };
    table.row({printable(row.name), fmt::format("{}", row.count),
               fmt::format("{}", row.total_bytes), format_or_unknown(row.min_bytes, bytes),
               format_or_unknown(row.max_bytes, bytes), number(row.mean_bytes)});
  }
  return table.text();
}

std::string counter_table(const std::vector<CounterRow>& rows) {
  TextTable table;
  table.row({"counter", "unit", "count [1]", "min [unit]", "max [unit]", "mean over time [unit]",
             "last [unit]"});
  for (const CounterRow& row : rows) {
    table.row({printable(row.name), row.unit.empty() ? "1" : printable(row.unit),
               fmt::format("{}", row.count), number(row.min), number(row.max), number(row.mean),
               number(row.last)});
  }
  return table.text();
}

std::string attribution_text(const Attribution& attribution) {
  if (attribution.wall.count() == 0) return "";
  const auto share = [&](Nanoseconds time) {
    return 100 * static_cast<double>(time.count()) / static_cast<double>(attribution.wall.count());
  };
  return fmt::format("wall {} ms = attributed {} ms ({:.1f} %) + unattributed {} ms ({:.1f} %)\n",
                     milliseconds(attribution.wall), milliseconds(attribution.attributed),
                     share(attribution.attributed), milliseconds(attribution.unattributed),
                     share(attribution.unattributed));
}

void put(ordered_json& object, const char* name, const std::optional<Nanoseconds>& time) {
  if (time) object[name] = time->count();
}
template <class Number>
void put(ordered_json& object, const char* name, const std::optional<Number>& value) {
  if (value) object[name] = *value;
}

ordered_json json_of(const std::vector<TimeRow>& rows) {
  ordered_json array = ordered_json::array();
  for (const TimeRow& row : rows) {
    ordered_json object = {{"name", row.name}, {"count", row.count}};
    if (row.unfinished > 0) object["unfinished"] = row.unfinished;
    object["total_ns"] = row.total.count();
    put(object, "share", row.share);
    put(object, "cumulative_share", row.cumulative_share);
    put(object, "self_ns", row.self);
    put(object, "min_ns", row.min);
    put(object, "max_ns", row.max);
    put(object, "mean_ns", row.mean);
    put(object, "p50_ns", row.p50);
    put(object, "p95_ns", row.p95);
    array.push_back(std::move(object));
  }
  return array;
}

ordered_json json_of(const std::vector<MemoryRow>& rows) {
  ordered_json array = ordered_json::array();
  for (const MemoryRow& row : rows) {
    ordered_json object = {
        {"name", row.name}, {"count", row.count}, {"total_bytes", row.total_bytes}};
    put(object, "min_bytes", row.min_bytes);
    put(object, "max_bytes", row.max_bytes);
    put(object, "mean_bytes", row.mean_bytes);
    array.push_back(std::move(object));
  }
  return array;
}

ordered_json json_of(const std::vector<CounterRow>& rows) {
  ordered_json array = ordered_json::array();
  for (const CounterRow& row : rows) {
    ordered_json object = {{"name", row.name},
                           {"unit", row.unit.empty() ? std::string("1") : row.unit},
                           {"count", row.count}};
    put(object, "min", row.min);
    put(object, "max", row.max);
    put(object, "mean", row.mean);
    put(object, "last", row.last);
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

std::string summary_text(const Summary& summary, const SummaryOptions& options) {
  std::string text = attribution_text(summary.attribution());
  const auto add = [&](const std::string& table) { text += text.empty() ? table : "\n" + table; };
  if (const auto layers = summary.layers(options); !layers.empty())
    add(time_table("layer", layers));
  if (const auto operators = summary.operators(options); !operators.empty())
    add(time_table("operator type", operators));
  constexpr const char* kOfDevices = "of devices [%]";
  if (const auto layers = summary.device_layers(options); !layers.empty())
    add(time_table("layer, on devices", layers, kOfDevices));
  if (const auto operators = summary.device_operators(options); !operators.empty())
    add(time_table("operator type, on devices", operators, kOfDevices));
  for (const auto& [category, rows] : summary.categories(options)) {
    add(time_table(fmt::format("category {}", printable(category)), rows, "of category [%]"));
  }
  if (const auto rows = summary.memory(options); !rows.empty()) add(memory_table(rows));
  if (const auto rows = summary.counters(options); !rows.empty()) add(counter_table(rows));
  return text.empty() ? "no activities\n" : text;
}

std::string summary_json(const Summary& summary, const SummaryOptions& options) {
  const Attribution attribution = summary.attribution();
  ordered_json document;
  document["attribution"] = {{"wall_ns", attribution.wall.count()},
                             {"attributed_ns", attribution.attributed.count()},
                             {"unattributed_ns", attribution.unattributed.count()}};
  document["layers"] = json_of(summary.layers(options));
  document["operators"] = json_of(summary.operators(options));
  if (const auto rows = summary.device_layers(options); !rows.empty())
    document["device_layers"] = json_of(rows);
  if (const auto rows = summary.device_operators(options); !rows.empty())
    document["device_operators"] = json_of(rows);
  document["categories"] = ordered_json::object();
  for (const auto& [category, rows] : summary.categories(options))
    document["categories"][category] = json_of(rows);
  document["memory"] = json_of(summary.memory(options));
  document["counters"] = json_of(summary.counters(options));
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bench
