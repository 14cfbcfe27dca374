// SPDX-License-Identifier: Apache-2.0
// Properties of all outputs over generated runs: two times and their ratio agree as shown, the
// median lies between the quartiles, and records that a file contains twice count once.
#include "harness/judge/measurement.hpp"
#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/parameter_text.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/report_builder.hpp"
#include "tests/fakes/reports.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <random>
#include <regex>

namespace bench {
namespace {

using nlohmann::json;

std::string gemm_id(std::int64_t m) {
  return fmt::format("gemm/forward/m{}n8k8/f32/onednn/cpu/hot", m);
}

// Whether the samples of a generated run have canaries.
enum class Canaries { absent, recorded };

// Generates result files of one run with random times, numbers of processes and speeds.
class RunGenerator {
 public:
  RunGenerator(unsigned seed, Canaries canaries) : random_(seed), canaries_(canaries) {}

  std::string file(const std::string& run_id) {
    std::string text = to_json_line(test::sample_run(run_id)) + "\n";
    for (const std::int64_t m : {4, 8}) {
      const auto processes = make_processes(run_id, gemm_id(m));
      std::vector<const ProcessRecord*> pointers;
      for (const ProcessRecord& process : processes) {
        text += to_json_line(process) + "\n";
        pointers.push_back(&process);
      }
      CaseRecord record = test::sample_case(run_id, gemm_id(m));
      record.case_hash = gemm_id(m);
      complete_case(record, pointers, kUnknownPrecision);
      text += to_json_line(record) + "\n";
    }
    return text;
  }

 private:
  std::vector<ProcessRecord> make_processes(const std::string& run_id, const std::string& id) {
    std::vector<ProcessRecord> processes;
    const double usual = times_.try_emplace(id, draw_time()).first->second;
    const double time = usual * std::exp(normal() * 0.3);  // runs differ
    const int count = std::uniform_int_distribution<>(1, 7)(random_);
    for (int number = 0; number < count; ++number) {
      ProcessRecord process = test::sample_process(run_id, id, number, {});
      process.iterations_per_sample = std::uniform_int_distribution<>(1, 1000)(random_);
      const double own = time * std::exp(normal() * 0.1);
      for (int i = std::uniform_int_distribution<>(1, 30)(random_); i > 0; --i) {
        const double slowdown = std::abs(normal()) * 0.3;
        const double sample = own * std::exp(slowdown + normal() * 0.05) *
                              static_cast<double>(process.iterations_per_sample);
        process.samples.emplace_back(std::max<std::int64_t>(1, std::llround(sample)));
        process.canaries.times.emplace_back(std::llround(1500 * std::exp(slowdown)));
      }
      process.canaries.threads = 1;
      if (canaries_ == Canaries::absent) process.canaries = {};
      processes.push_back(std::move(process));
    }
    return processes;
  }
  double draw_time() { return std::exp(std::uniform_real_distribution<>(3, 16)(random_)); }
  double normal() { return std::normal_distribution<>()(random_); }

  std::mt19937 random_;
  Canaries canaries_;
  std::map<std::string, double> times_;  // nanoseconds by case
};

Report parsed(const std::string& text) {
  auto report = parse_report(text, "r.jsonl");
  EXPECT_TRUE(report.ok());
  return report.ok() ? *std::move(report) : Report{};
}

// Returns all times of a text in nanoseconds: "3.412 ns", "1.204 ms".
std::vector<double> find_times(const std::string& text) {
  static const std::regex kTime(R"(([0-9.]+) (ns|us|ms|s)\b)");
  const std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  std::vector<double> times;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), kTime);
       found != std::sregex_iterator(); ++found)
    times.push_back(std::stod((*found)[1]) * units.at((*found)[2]));
  return times;
}

// Returns the ratio that a change states: "2.0x slower", "12 % faster", "+0.4 %", "1.7x".
std::optional<double> find_ratio(const std::string& text) {
  static const std::regex kChange(R"( ([-+]?[0-9.]+)(x| %)( slower| faster)?( |$))");
  std::smatch found;
  if (!std::regex_search(text, found, kChange)) return std::nullopt;
  const double number = std::stod(found[1]);
  const bool is_slower = found[3] != " faster";
  if (found[2] == "x") return is_slower ? number : 1 / number;
  return is_slower ? 1 + number / 100 : 1 - number / 100;
}

// Changes are shown with at least two digits, times with four.
void expect_agreement(double base, double candidate, double ratio, const std::string& text) {
  const double shown = candidate / base;
  const double factor = std::max(ratio, 1 / ratio);
  const double tolerance =
      factor >= 1.45 ? 0.055 * ratio : 0.0015 + (std::abs(ratio - 1) > 0.0985 ? 0.005 : 0.0005);
  EXPECT_NEAR(shown, ratio, tolerance) << text;
}

std::string row_of(const std::string& table, const std::string& id) {
  const std::size_t at = table.find(id);
  if (at == std::string::npos) return "";
  const std::size_t begin = table.rfind('\n', at) + 1;
  return table.substr(begin, table.find('\n', at) - begin);
}

void expect_columns_agree(const Comparison& comparison) {
  const std::string text = format_comparison(comparison, {.width = 400});
  const std::string markdown = comparison_markdown(comparison);
  for (const json& row : json::parse(comparison_json(comparison)).at("cases")) {
    const std::string id = row.at("id");
    ASSERT_TRUE(row.contains("ratio"));
    const double ratio = row.at("ratio");
    EXPECT_NEAR(row.at("candidate_ns").get<double>() / row.at("base_ns").get<double>(), ratio,
                1e-5 * ratio);
    for (const std::string& line : {row_of(text, id), row_of(markdown, id)}) {
      const std::vector<double> times = find_times(line);
      const auto change = find_ratio(line);
      ASSERT_TRUE(times.size() >= 2 && change) << line;
      expect_agreement(times[0], times[1], *change, line);
    }
  }
}

class Generated : public testing::TestWithParam<Canaries> {};

// The ratio came from an estimator over processes, and the columns were medians: they could even
// have another sign.
TEST_P(Generated, TheColumnsOfAComparisonHaveItsRatio) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RunGenerator generator(seed, GetParam());
    const std::string base = generator.file("r1"), candidate = generator.file("r2");
    expect_columns_agree(
        compare(make_measurement(parsed(base), "a"), make_measurement(parsed(candidate), "b"), {}));
  }
}

// The table showed the run's median of one case beside the fast quarter of the other one.
TEST_P(Generated, TheColumnsOfAComparisonByAParameterHaveItsRatioAndTheTimeOfTheRun) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Report report = parsed(RunGenerator(seed, GetParam()).file("r1"));
    const auto comparison = compare_by(report, "a", "m", std::nullopt);
    ASSERT_TRUE(comparison.ok());
    const ComparedCase& compared = comparison->groups.at(0).effects.at(0)->compared;
    EXPECT_NEAR(*compared.candidate / *compared.base, *compared.ratio, 1e-9 * *compared.ratio);
    EXPECT_EQ(comparison->groups.at(0).base, compared.base);
    const double stated = static_cast<double>(report.cases.at(0).time->median.count());
    EXPECT_NEAR(*compared.base, stated, 1);
    const std::string row =
        row_of(format_parameter_comparison(*comparison, {.width = 400}), gemm_id(4));
    const std::vector<double> times = find_times(row);
    ASSERT_EQ(times.size(), 2U) << row;
    EXPECT_NEAR(times[1] / times[0], *compared.ratio, 0.002 * *compared.ratio) << row;
  }
}

// They were those of all iterations, beside a median over processes at equal speed.
TEST_P(Generated, TheMedianLiesBetweenTheQuartilesAndTheseBetweenTheExtremes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    for (const CaseRecord& record : parsed(RunGenerator(seed, GetParam()).file("r1")).cases) {
      for (const auto& time : {record.time, record.time_all}) {
        if (!time) continue;
        EXPECT_LE(time->min, time->q25);
        EXPECT_LE(time->q25, time->median);
        EXPECT_LE(time->median, time->q75);
        EXPECT_LE(time->q75, time->max);
      }
    }
  }
}

// It contained the samples that bench itself does not count.
TEST_P(Generated, TheMedianOfAGoogleBenchmarkFileIsTheTimeOfTheTable) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Report report = parsed(RunGenerator(seed, GetParam()).file("r1"));
    const auto read = read_measurement(run_google_benchmark({report}, {}), "r");
    ASSERT_TRUE(read.ok());
    for (std::size_t i = 0; i < report.cases.size(); ++i) {
      EXPECT_NEAR(*median_iteration(read->cases.at(i)),
                  static_cast<double>(report.cases.at(i).time->median.count()), 1);
    }
  }
}

// `report r.jsonl r.jsonl` showed twice as many repetitions, and an interval from copies.
TEST_P(Generated, AFileThatIsGivenTwiceIsReportedAsOnce) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string text = RunGenerator(seed, GetParam()).file("r1");
    const Report once = parsed(text), twice = parsed(text + text);
    for (const ReportFormat& format : report_formats())
      EXPECT_EQ(format.write({once, "r"}, {}), format.write({twice, "r"}, {})) << format.name;
    EXPECT_EQ(to_json_document(once), to_json_document(twice));
    EXPECT_EQ(measured_cases(once), measured_cases(twice));
  }
}

// Repetitions of both runs were exported, although the last `ok` counts.
TEST_P(Generated, OfTwoRunsOfACaseTheLastOneCountsInEveryFormat) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RunGenerator generator(seed, GetParam());
    const std::string first = generator.file("r1"), second = generator.file("r2");
    const Report both = parsed(first + second), last = parsed(second);
    EXPECT_EQ(both.processes, last.processes);
    for (const std::string_view name : {"text", "csv", "md", "gbench", "prom"}) {
      const auto format = std::ranges::find(report_formats(), name, &ReportFormat::name);
      ASSERT_NE(format, report_formats().end());
      EXPECT_EQ(format->write({both, "r"}, {}), format->write({last, "r"}, {})) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Generated, testing::Values(Canaries::absent, Canaries::recorded));

}  // namespace
}  // namespace bench
