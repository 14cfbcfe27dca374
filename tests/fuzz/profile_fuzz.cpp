// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file to analyse: the result is an error, or what could be read with counts of what
// could not. Every activity is the same after writing and reading. No table contains control
// sequences for a terminal, or text that breaks its format.
#include "profiler/analysis/profile_diff.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/steps.hpp"
#include "profiler/analysis/summary.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using bench::fuzz::require;

class SummarySink final : public bench::fuzz::CheckingSink {
 public:
  bench::Status consume(const bench::Activity& activity) override {
    BENCH_RETURN_IF_ERROR(CheckingSink::consume(activity));
    return summary.consume(activity);
  }
  bench::Summary summary;
};

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; }

// Also checks U+0080 to U+009F, which terminals take for the beginning of escape sequences.
void require_printable(const std::string& text) {
  require(std::none_of(text.begin(), text.end(), is_control));
  for (std::size_t at = text.find('\xc2'); at != std::string::npos;
       at = text.find('\xc2', at + 1)) {
    require(static_cast<unsigned char>(text.at(at + 1)) >= 0xa0);
  }
}

void read_profile(const std::string& text) {
  const auto source = bench::text_source_for_test("fuzz", text);
  const auto reader = bench::find_reader(*source);
  if (!reader.ok()) {
    require(!reader.error().message().empty());
    return;
  }
  SummarySink sink;
  const auto report = (*reader)->read(*source, sink);
  if (!report.ok()) {
    require(!report.error().message().empty());
    return;
  }
  require(report->activities == sink.consumed);
  require(report->notes.size() <= bench::kMaxNotes);
  require(report->malformed + report->unknown == 0 || !report->notes.empty());
  const bench::Attribution attribution = sink.summary.attribution();
  require(attribution.attributed + attribution.unattributed == attribution.wall);
  require_printable(bench::format_summary(sink.summary));
  require(nlohmann::json::accept(bench::summary_json(sink.summary)));
}

bench::AnalysisOptions make_options(std::size_t number) {
  bench::AnalysisOptions options;
  switch (number % 8) {
    case 0:
      break;
    case 1:
      options.aggregate_by = {"type"};
      options.order_by = "+mean_ns";
      break;
    case 2:
      options.phase = bench::PhaseFilter::all;
      options.order_by = "bandwidth";
      options.width = 100;
      break;
    case 3:
      options.kinds = {"counter", "marker", "allocation", "operator", "api"};
      options.aggregate_by = {"name"};
      options.aggregate = bench::Aggregate::max;
      break;
    case 4:
      options.types = {"create", "dispatch", "conv2d", "range"};
      options.order_by = "name";
      break;
    case 5:
      options.layer = "a";
      options.peak_bandwidth = bench::BytesPerSecond{1e9};
      break;
    case 6:
      options.aggregate = bench::Aggregate::mean;
      options.peak_flops = bench::FlopsPerSecond{1e9};
      break;
    case 7:
      options.min_time = bench::Nanoseconds(10);
      options.name = "^[a-m]";
      options.order_by = "+flops_per_s";
      options.columns = {"trace", "time_ns", "value", "share", "cumulative_ns", "flags"};
      break;
  }
  return options;
}

// Analyses the text. The same bytes always give the same query, so that a finding is reproducible.
void analyze_text(const std::string& text, std::size_t choice) {
  constexpr const char* kFormats[] = {"table", "space", "csv", "json", "markdown"};
  bench::AnalysisOptions options = make_options(choice);
  const std::string format = options.width ? "table" : kFormats[choice / 8 % 5];
  options.format = format;
  std::ostringstream out;
  bench::AnalysisTarget target;
  target.out = &out;
  target.terminal_width = 200;
  target.folder = "/var/tmp";
  const auto source = bench::text_source_for_test("fuzz", text);
  const auto outcome = bench::analyze(*source, {}, {}, options, target);
  if (!outcome.ok()) {
    require(!outcome.error().message().empty());
    return;
  }
  require(outcome->shown <= outcome->selected);
  require(outcome->selected <= outcome->report.activities);
  const std::string table = out.str();
  require_printable(table);
  if (format == "json") require(nlohmann::json::accept(table));
}

// Tabulates the steps of the text, and compares it with itself, which differs in nothing.
void tabulate_views(const std::string& text, std::size_t choice) {
  constexpr const char* kFormats[] = {"table", "json"};
  bench::AnalysisOptions options;
  options.format = kFormats[choice % 2];
  std::ostringstream steps, difference;
  bench::AnalysisTarget target{&steps, 80, "/var/tmp"};
  const auto of_steps = bench::text_source_for_test("fuzz", text);
  static_cast<void>(bench::analyze_steps(bench::input_of(*of_steps), "", options, target));
  target.out = &difference;
  const auto a = bench::text_source_for_test("a", text);
  const auto b = bench::text_source_for_test("b", text);
  const auto outcome =
      bench::compare_profiles(bench::input_of(*a), bench::input_of(*b), {}, options, target);
  for (const std::ostringstream* out : {&steps, &difference}) {
    require_printable(out->str());
    if (choice % 2 == 1 && !out->str().empty()) require(nlohmann::json::accept(out->str()));
  }
  if (!outcome.ok()) return require(!outcome.error().message().empty());
  require(choice % 2 == 1 || difference.str().find(" takes as long as ") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t choice = std::hash<std::string>()(text);
  switch (choice % 3) {
    case 0:
      read_profile(text);
      break;
    case 1:
      analyze_text(text, choice / 3);
      break;
    case 2:
      tabulate_views(text, choice / 3);
      break;
  }
  return 0;
}
