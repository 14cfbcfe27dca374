// SPDX-License-Identifier: Apache-2.0
// Any bytes as a result file: the result is an error, or a report that every format can write and
// that is the same after writing and reading.
#include "harness/report/console.hpp"
#include "harness/report/format.hpp"
#include "harness/result/report.hpp"
#include "harness/result/shard_coverage.hpp"
#include "harness/result/summary.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using bench::fuzz::require;

template <class T>
void require_round_trip(const std::vector<T>& records) {
  for (const T& record : records) {
    const auto again = bench::record_from_json_line(bench::to_json_line(record));
    require(again.ok() && *again == bench::Record(record));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto report = bench::parse_report(text, "fuzz");
  if (!report.ok()) {
    require(!report.error().message().empty());
    return 0;
  }
  require_round_trip(report->runs);
  require_round_trip(report->processes);
  require_round_trip(report->cases);
  require_round_trip(report->ends);
  for (const bench::ReportFormat& format : bench::report_formats())
    require(!format.write(bench::RunView{*report}, {}).empty());
  for (const std::string& problem : bench::check_shards(*report).problems)
    require(!problem.empty());
  const auto networks = bench::summarise_networks(*report);
  for (int width : {0, 60, 200}) {
    bench::ConsoleOptions options;
    options.width = width;
    options.colour = bench::Colour::on;
    require(!bench::console_table(*report, options).empty());
    static_cast<void>(bench::console_networks(networks, options));
  }
  const auto document = bench::parse_report(bench::to_json_document(*report), "fuzz");
  require(document.ok() && document->cases == report->cases);
  return 0;
}
