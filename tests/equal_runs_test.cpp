// SPDX-License-Identifier: Apache-2.0
// The verdicts of `bench compare` on the records in docs/data: 12 equal runs of six short cases on
// machines of many speeds, each run against each other one.
#include "harness/judge/comparison.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/report/comparison_text.hpp"
#include "profiler/text_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::equal_runs_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// How the runs of a record are compared.
struct Change {
  double factor = 1;  // by which all samples of the candidate take longer
  std::size_t processes =
      std::numeric_limits<std::size_t>::max();  // processes of each case that count
  enum class Canaries { kept, removed } canaries = Canaries::kept;
};

// A record, with the least fraction of its pairs that are `same`, and the largest one where the
// candidate takes 5 % longer.
struct EqualRecord {
  std::string name;
  double same = 0, slower_same = 0;
};

class EqualRuns : public testing::TestWithParam<EqualRecord> {
 protected:
  EqualRuns() {
    const std::string path =
        fmt::format("{}/docs/data/{}.jsonl.gz", BENCH_SOURCE_DIR, GetParam().name);
    const auto source = open_text(path);
    EXPECT_TRUE(source.ok());
    TextSource::Line line;
    while ((*source)->next(line)) {
      json record = json::parse(line.text);
      if (record.value("record", "") == "process")
        runs_[record.at("run").get<int>()].push_back(std::move(record));
    }
    EXPECT_EQ(runs_.size(), 12U);
  }

  static Measurement measure(int run, const std::vector<json>& records, const Change& change,
                             double factor) {
    const json head = {{"record", "run"},
                       {"schema", "bench.result/1"},
                       {"run_id", fmt::format("run{}", run)},
                       {"tool", json::object()},
                       {"config", {{"name", "record"}}},
                       {"environment", {{"machine_class", "one-2c-00000000"}, {"threads", 2}}}};
    std::string text = head.dump() + "\n";
    std::map<std::string, std::size_t> numbers;
    for (json process : records) {
      std::size_t& number = numbers[process.at("id").get<std::string>()];
      if (number == change.processes) continue;
      process["run_id"] = fmt::format("run{}", run);
      process["process"] = number++;
      process["stop"] = "precision";
      process["canary_threads"] = 2;
      process["steady"] = true;
      for (json& sample : process["samples_ns"])
        sample = std::llround(factor * sample.get<double>());
      if (change.canaries == Change::Canaries::removed) process.erase("canaries_ns");
      text += process.dump() + "\n";
    }
    auto measurement = read_measurement(text, "record.jsonl");
    EXPECT_TRUE(measurement.ok()) << (measurement.ok() ? "" : measurement.error().message());
    return measurement.ok() ? *std::move(measurement) : Measurement{};
  }

  // Returns the comparisons of all pairs.
  std::vector<Comparison> compare_all(const Change& change) const {
    std::vector<Measurement> bases, candidates;
    for (const auto& [run, records] : runs_) {
      bases.push_back(measure(run, records, change, 1));
      candidates.push_back(measure(run, records, change, change.factor));
    }
    std::vector<Comparison> all;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      for (std::size_t k = i + 1; k < bases.size(); ++k)
        all.push_back(compare(bases[i], candidates[k], {}));
    }
    return all;
  }

  static double share(const std::vector<Comparison>& all, CaseVerdict verdict) {
    double count = 0, cases = 0;
    for (const Comparison& comparison : all) {
      count += static_cast<double>(comparison.count(verdict));
      cases += static_cast<double>(comparison.cases.size());
    }
    EXPECT_EQ(cases, 66 * 6);
    return count / cases;
  }

 private:
  std::map<int, std::vector<json>> runs_;  // process records by run
};

// The first record of Zen 4 has pairs whose processors were at another distance, about half of all.
// Their times cannot be compared. On Zen 3 the intervals of most pairs exceed 10 %.
TEST_P(EqualRuns, MostAreTheSameAndFewAreCalledDifferent) {
  const std::vector<Comparison> all = compare_all({});
  EXPECT_GE(share(all, CaseVerdict::same), GetParam().same);
  EXPECT_LE(share(all, CaseVerdict::slower) + share(all, CaseVerdict::faster), 0.03);
}

TEST_P(EqualRuns, FivePerCentAreRarelyCalledTheSame) {
  const std::vector<Comparison> all = compare_all({.factor = 1.05});
  EXPECT_LE(share(all, CaseVerdict::same), GetParam().slower_same);
  EXPECT_LE(share(all, CaseVerdict::faster), 0.01);
}

// kEvidentRatio is beyond what such runs differ by.
TEST_P(EqualRuns, WithOneProcessNoneAreCalledDifferentAndSixTimesTheTimeIs) {
  for (const Change::Canaries canaries : {Change::Canaries::kept, Change::Canaries::removed}) {
    const std::vector<Comparison> equal = compare_all({1, 1, canaries});
    EXPECT_EQ(share(equal, CaseVerdict::unclear), 1);
    const std::vector<Comparison> slow = compare_all({6, 1, canaries});
    EXPECT_EQ(share(slow, CaseVerdict::slower), 1);
  }
}

// "5 unclear; the geometric mean is 4.6x slower."
TEST_P(EqualRuns, NoSentenceNamesADirectionThatNoCaseHas) {
  for (const Change& change :
       {Change{}, Change{.factor = 1.05}, Change{.factor = 2, .processes = 2}}) {
    for (const Comparison& comparison : compare_all(change)) {
      std::istringstream lines(format_comparison(comparison, {.width = kUnlimitedWidth}));
      std::string answer;
      std::getline(lines, answer);
      // The counts of the answer name both verdicts.
      for (const auto& [verdict, name] :
           {std::pair(CaseVerdict::slower, "slower"), std::pair(CaseVerdict::faster, "faster")}) {
        EXPECT_TRUE(comparison.count(verdict) > 0 || answer.find(name) == std::string::npos)
            << answer;
      }
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("same ") && !line.starts_with("unclear ")) continue;
        EXPECT_THAT(line, testing::AllOf(Not(HasSubstr("slower")), Not(HasSubstr("faster"))));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Records, EqualRuns,
                         testing::Values(EqualRecord{"equal-speed-zen4", 0.55, 0.05},
                                         EqualRecord{"equal-speed-zen4-later", 0.55, 0.05},
                                         EqualRecord{"equal-speed-zen4-busy", 0.8, 0.05},
                                         EqualRecord{"equal-speed-zen3", 0.3, 0.16},
                                         EqualRecord{"equal-speed-zen3-busy", 0.05, 0.05}),
                         [](const auto& record) {
                           std::string name = record.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace bench::test::equal_runs_test
