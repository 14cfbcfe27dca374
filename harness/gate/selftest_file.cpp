// SPDX-License-Identifier: Apache-2.0
// The self-test's file, and its report as text and JSON.
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/lines.hpp"
#include "base/text.hpp"
#include "harness/gate/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {

BENCH_FIELDS(TimerFacts, step, read);
BENCH_FIELDS(HarnessFacts, id, between_samples, profiler);
BENCH_FIELDS(InjectedSlowdown, id, injected, (measured, "seen"), duets);

void fields(auto& archive, JsonOf<SelfTest> auto& test) {
  archive.constant("record", "selftest");
  archive.constant("schema", kSelfTestSchema);
  BENCH_MEMBERS(archive, test, run_id, time, machine_class, cpu, libraries, timer,
                (harness, kOptional), (injected, kOptional));
}

void fields(auto& archive, JsonOf<NullDuet> auto& duet) {
  archive.constant("record", "equal_duet");
  BENCH_MEMBERS(archive, duet, id, log_ratio, (base_q25, at_least(1)),
                (iterations_per_sample, at_least(1)));
}

BENCH_FIELDS(SimulationResult, suites, (red_suites, "red"), (clean, "clean_cases"),
             (false_positives, "alarms"), (slow, "slow_cases"), (detected, "found"), inconclusive,
             processes_per_case);
BENCH_FIELDS(PowerRow, (result, kInlined), slowdown);

namespace {

constexpr JsonRules kSelfTestRules{.numbers = JsonRules::Numbers::any};
constexpr JsonStyle kSelfTestStyle{.indent = 0, .reals = JsonReals::with_fraction};

// Rounds to eight decimal places. The error is far below the resolution of any clock.
double rounded(double value) { return std::round(value * 1e8) / 1e8; }

SelfTest rounded_facts(SelfTest test) {
  for (HarnessFacts& facts : test.harness) {
    if (facts.profiler) facts.profiler = rounded(*facts.profiler);
  }
  for (InjectedSlowdown& slowdown : test.injected) slowdown.measured = rounded(slowdown.measured);
  return test;
}

NullDuet rounded_duet(NullDuet duet) {
  duet.log_ratio = rounded(duet.log_ratio);
  return duet;
}

// Returns the problem of a line; empty if there is none.
std::string read_line(JsonValue object, std::vector<SelfTest>& tests) {
  const auto record = object.text_at("record");
  if (!record) return "it has no field `record`";
  JsonReader reader(object, kSelfTestRules);
  if (*record == "selftest") {
    fields(reader, tests.emplace_back());
  } else if (*record == "equal_duet") {
    if (tests.empty()) return "a duet before the record `selftest`";
    fields(reader, tests.back().duets.emplace_back());
  }
  return reader.problem();
}

// Returns 0 if `total` is 0.
double to_percent(std::int64_t cases, std::int64_t total) {
  return total == 0 ? 0 : 100 * static_cast<double>(cases) / static_cast<double>(total);
}

// "+3.0 % reads +2.98 % over 8 duets of CASE".
std::string format_injected(const InjectedSlowdown& slowdown) {
  return fmt::format("{:+.1f} % reads {:+.2f} % over {} of {}", 100 * slowdown.injected,
                     100 * slowdown.measured, pluralise(slowdown.duets, "duet"), slowdown.id);
}

std::string format_machine(const SelfTest& test) {
  std::string text = fmt::format("{} ({}), {}", test.machine_class, test.cpu, test.time);
  for (const auto& [name, version] : test.libraries) text += fmt::format(", {} {}", name, version);
  text += "\n";
  if (test.timer) {
    text += fmt::format("  timer: a read takes {}, its smallest step is {}\n",
                        format_time(test.timer->read), format_time(test.timer->step));
  }
  for (const HarnessFacts& facts : test.harness) {
    text += fmt::format("  harness: {} between samples of {}", format_time(facts.between_samples),
                        facts.id);
    if (facts.profiler) {
      text +=
          fmt::format("; an iteration takes {:+.1f} % with the profiler", 100 * *facts.profiler);
    }
    text += "\n";
  }
  for (const InjectedSlowdown& slowdown : test.injected) {
    text += fmt::format("  injected: {}\n", format_injected(slowdown));
  }
  return text;
}

}  // namespace

std::string self_test_lines(const SelfTest& test) {
  std::string text = format_json(rounded_facts(test), kSelfTestStyle) + "\n";
  for (const NullDuet& duet : test.duets) {
    text += format_json(rounded_duet(duet), kSelfTestStyle) + "\n";
  }
  return text;
}

Result<std::vector<SelfTest>> read_self_tests(std::string_view text, const std::string& name) {
  std::vector<SelfTest> tests;
  JsonDocument document;
  for (const NumberedLine& line : Lines(text)) {
    if (line.text.empty()) continue;
    const Status parsed = document.parse(line.text);
    const std::string problem =
        parsed.ok() ? read_line(document.root(), tests) : parsed.error().what;
    if (!problem.empty()) {
      return Error{"malformed record: " + problem, fmt::format("{}:{}", name, line.number),
                   "create such a file with `bench selftest --record FILE`"};
    }
  }
  if (tests.empty()) {
    return Error{"contains no record `selftest`", name,
                 "create such a file with `bench selftest --record FILE`"};
  }
  return tests;
}

namespace {

// Returns the sentence about the injected slowdown that was measured worst. Empty if all were
// measured well.
std::string describe_failed_check(const std::vector<SelfTest>& tests) {
  const auto error = [](const InjectedSlowdown& slowdown) {
    return injected_error(slowdown.injected, slowdown.measured);
  };
  const InjectedSlowdown* worst = nullptr;
  int others = -1;
  for (const SelfTest& test : tests) {
    for (const InjectedSlowdown& slowdown : test.injected) {
      if (error(slowdown) <= kMaxInjectedError) continue;
      ++others;
      if (worst == nullptr || error(slowdown) > error(*worst)) worst = &slowdown;
    }
  }
  if (worst == nullptr) return "";
  std::string text = fmt::format(" The self-test's own check failed: an injected slowdown of {}",
                                 format_injected(*worst));
  if (others > 0) text += fmt::format(", and {} more {} wrong", others, others == 1 ? "is" : "are");
  return text + ". Do not rely on verdicts about effects of this size.";
}

// Returns how often the gate is wrong, and how many slower cases it finds.
std::string describe_rates(const SelfTestSummary::Rates& rates) {
  std::string text =
      fmt::format("The gate calls {:.1f} % of unchanged suites of 100 cases slower on this machine",
                  to_percent(rates.clean.red_suites, rates.clean.suites));
  const char* separator = "; it finds ";
  for (const PowerRow& row : rates.power) {
    text += fmt::format("{}{:+.0f} % in {:.0f} %", separator, 100 * row.slowdown,
                        to_percent(row.result.detected, row.result.slow));
    separator = ", ";
  }
  return text + " of slower cases.";
}

// Returns the first sentences of the report.
std::string format_selftest_answer(const std::vector<SelfTest>& tests,
                                   const SelfTestSummary& summary) {
  int most = 0, too_short = 0;
  for (const SelfTestSummary::Kernel& kernel : summary.kernels) {
    most = std::max(most, kernel.duets);
    too_short += kernel.duets < kMinResampledDuets ? 1 : 0;
  }
  std::string text;
  if (summary.rates) {
    text = describe_rates(*summary.rates);
    if (too_short > 0) {
      text += fmt::format(" Of {}, {} with fewer than {} duets {} not count.",
                          pluralise(summary.kernels.size(), "case"), too_short, kMinResampledDuets,
                          too_short == 1 ? "does" : "do");
    }
  } else {
    text = fmt::format(
        "Too few duets for an answer: no case has more than {}, and the rates of the gate need {}. "
        "Run `bench selftest --duets {}` or more (default 40), with a longer --budget or none.",
        most, kMinResampledDuets, kMinResampledDuets);
  }
  return text + describe_failed_check(tests) + "\n\n";
}

// Returns the section about the resampled suites.
std::string format_rates(const SelfTestSummary::Rates& rates) {
  const SimulationResult& clean = rates.clean;
  std::string text = fmt::format(
      "\nsuites of 100 cases, resampled from these duets\n"
      "  unchanged: {} of {} fail; {:.3f} false positives per 100 cases; {:.1f} processes per "
      "case\n",
      clean.red_suites, clean.suites, to_percent(clean.false_positives, clean.clean),
      clean.processes_per_case);
  for (const PowerRow& row : rates.power) {
    text +=
        fmt::format("  {:+3.0f} % is found in {:5.1f} % of {} cases; {:.1f} processes per case\n",
                    100 * row.slowdown, to_percent(row.result.detected, row.result.slow),
                    row.result.slow, row.result.processes_per_case);
  }
  return text;
}

}  // namespace

std::string format_self_test(const std::vector<SelfTest>& tests, const SelfTestSummary& summary) {
  std::string text = format_selftest_answer(tests, summary);
  for (const SelfTest& test : tests) text += format_machine(test);
  text += "\nA/A duets (both sides equal)\n";
  for (const SelfTestSummary::Kernel& kernel : summary.kernels) {
    text += fmt::format(
        "  {:6} of {}: centre {:+.3f} %, deviation {:.2f} %, minimum detectable effect {:.1f} %\n",
        kernel.duets, kernel.name, 100 * std::expm1(kernel.center), 100 * kernel.deviation,
        100 * kernel.detectable.value_or(0));
  }
  return summary.rates ? text + format_rates(*summary.rates) : text;
}

std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary) {
  const auto kernel_fields = [](JsonWriter& writer, const SelfTestSummary::Kernel& kernel) {
    BENCH_MEMBERS(writer, kernel, name, duets, (center, "log_center"), (deviation, "log_deviation"),
                  detectable);
  };
  std::vector<SelfTest> rounded;
  for (const SelfTest& test : tests) rounded.push_back(rounded_facts(test));
  const auto document = [&](JsonWriter& writer) {
    writer.constant("schema", kSelfTestSchema);
    writer.required("sittings", rounded);
    writer.list("kernels", summary.kernels, kernel_fields);
    if (summary.rates) BENCH_MEMBERS(writer, *summary.rates, clean, power);
  };
  return printed_json(document);
}

}  // namespace bench
