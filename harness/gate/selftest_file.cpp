// SPDX-License-Identifier: Apache-2.0
// The self-test's file, and its report as text and JSON.
#include "base/lines.hpp"
#include "base/text.hpp"
#include "harness/gate/selftest.hpp"
#include "harness/result/field_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

// Rounds to eight decimal places, far below the resolution of any clock.
double rounded(double value) { return std::round(value * 1e8) / 1e8; }

std::string selftest_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json facts_of(const SelfTest& test) {
  Json object = {
      {"record", "selftest"},       {"schema", kSelfTestSchema},           {"run_id", test.run_id},
      {"time", test.time},          {"machine_class", test.machine_class}, {"cpu", test.cpu},
      {"libraries", test.libraries}};
  if (test.timer) {
    object["timer"] = {{"step_ns", test.timer->step.count()},
                       {"read_ns", test.timer->read.count()}};
  }
  for (const HarnessFacts& facts : test.harness) {
    Json& entry = object["harness"].emplace_back(
        Json{{"id", facts.id}, {"between_samples_ns", facts.between_samples.count()}});
    if (facts.profiler) entry["profiler"] = rounded(*facts.profiler);
  }
  for (const InjectedSlowdown& slowdown : test.injected) {
    object["injected"].push_back({{"id", slowdown.id},
                                  {"injected", slowdown.injected},
                                  {"seen", rounded(slowdown.seen)},
                                  {"duets", slowdown.duets}});
  }
  return object;
}

SelfTest read_facts(const nlohmann::json& object) {
  if (const auto schema = object.at("schema").get<std::string>(); schema != kSelfTestSchema) {
    throw std::invalid_argument(
        fmt::format("schema `{}`, expected `{}`", shorten(schema, 40), kSelfTestSchema));
  }
  SelfTest test;
  test.run_id = object.at("run_id").get<std::string>();
  test.time = object.at("time").get<std::string>();
  test.machine_class = object.at("machine_class").get<std::string>();
  test.cpu = object.at("cpu").get<std::string>();
  test.libraries = object.at("libraries").get<std::map<std::string, std::string>>();
  if (object.contains("timer")) {
    const nlohmann::json& timer = object.at("timer");
    test.timer = TimerFacts{Nanoseconds(timer.at("step_ns").get<std::int64_t>()),
                            Nanoseconds(timer.at("read_ns").get<std::int64_t>())};
  }
  for (const nlohmann::json& entry : object.value("harness", nlohmann::json::array())) {
    HarnessFacts& facts = test.harness.emplace_back();
    facts.id = entry.at("id").get<std::string>();
    facts.between_samples = Nanoseconds(entry.at("between_samples_ns").get<std::int64_t>());
    if (entry.contains("profiler")) facts.profiler = entry.at("profiler").get<double>();
  }
  for (const nlohmann::json& entry : object.value("injected", nlohmann::json::array())) {
    test.injected.push_back({entry.at("id").get<std::string>(), entry.at("injected").get<double>(),
                             entry.at("seen").get<double>(), entry.at("duets").get<int>()});
  }
  return test;
}

NullDuet read_duet(const nlohmann::json& object) {
  NullDuet duet{object.at("id").get<std::string>(), object.at("log_ratio").get<double>(),
                Nanoseconds(object.at("base_q25_ns").get<std::int64_t>()),
                object.at("iterations_per_sample").get<std::int64_t>()};
  if (object.contains("all_rounds")) {
    const nlohmann::json& all = object.at("all_rounds");
    duet.all_rounds = {all.at("log_ratio").get<double>(),
                       Nanoseconds(all.at("base_q25_ns").get<std::int64_t>())};
    if (!std::isfinite(duet.all_rounds->log_ratio) || duet.all_rounds->base_q25.count() < 1) {
      throw std::invalid_argument("a duet without a time");
    }
  }
  if (duet.iterations_per_sample < 1 || duet.base_q25.count() < 1 ||
      !std::isfinite(duet.log_ratio)) {
    throw std::invalid_argument("a duet without a time");
  }
  return duet;
}

void read_line(const nlohmann::json& object, std::vector<SelfTest>& tests) {
  const auto record = object.at("record").get<std::string>();
  if (record == "selftest") {
    tests.push_back(read_facts(object));
  } else if (record == "equal_duet") {
    if (tests.empty()) throw std::invalid_argument("a duet before the record `selftest`");
    tests.back().duets.push_back(read_duet(object));
  }
}

double percent_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string machine_text(const SelfTest& test) {
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
    text += fmt::format("  injected: {:+.1f} % reads {:+.2f} % over {} duets of {}\n",
                        100 * slowdown.injected, 100 * slowdown.seen, slowdown.duets, slowdown.id);
  }
  return text;
}

Json to_json(const SimulationResult& result) {
  return {{"suites", result.suites},
          {"red", result.red},
          {"clean_cases", result.clean},
          {"alarms", result.alarms},
          {"slow_cases", result.slow},
          {"found", result.found},
          {"inconclusive", result.inconclusive},
          {"processes_per_case", result.processes_per_case}};
}

Json to_json(const std::vector<PowerRow>& rows) {
  Json array = Json::array();
  for (const PowerRow& row : rows) {
    Json& entry = array.emplace_back(to_json(row.result));
    entry["slowdown"] = row.slowdown;
  }
  return array;
}

std::string all_rounds_text(const SelfTestSummary::Unconditioned& without) {
  std::string text = fmt::format("  if all rounds counted, including disturbed ones: {} of {} red;",
                                 without.clean.red, without.clean.suites);
  for (const PowerRow& row : without.power) {
    text += fmt::format("{} {:+.0f} % found in {:.1f} %", &row == &without.power.front() ? "" : ",",
                        100 * row.slowdown, percent_of(row.result.found, row.result.slow));
  }
  return text + "\n";
}

}  // namespace

std::string self_test_lines(const SelfTest& test) {
  std::string text = selftest_line(facts_of(test));
  for (const NullDuet& duet : test.duets) {
    Json object = {{"record", "equal_duet"},
                   {"id", duet.id},
                   {"log_ratio", rounded(duet.log_ratio)},
                   {"base_q25_ns", duet.base_q25.count()},
                   {"iterations_per_sample", duet.iterations_per_sample}};
    if (duet.all_rounds) {
      object["all_rounds"] = {{"log_ratio", rounded(duet.all_rounds->log_ratio)},
                              {"base_q25_ns", duet.all_rounds->base_q25.count()}};
    }
    text += selftest_line(object);
  }
  return text;
}

Result<std::vector<SelfTest>> read_self_tests(std::string_view text, const std::string& name) {
  std::vector<SelfTest> tests;
  for (const NumberedLine& line : Lines(text)) {
    if (line.text.empty()) continue;
    try {
      const auto object = parse_json(line.text);
      if (!object.ok()) throw std::invalid_argument(object.error().what);
      read_line(*object, tests);
    } catch (const std::exception& problem) {
      return Error{fmt::format("malformed record: {}", problem.what()),
                   fmt::format("{}:{}", name, line.number),
                   "create such a file with `bench selftest --record FILE`"};
    }
  }
  if (tests.empty()) {
    return Error{"contains no record `selftest`", name,
                 "create such a file with `bench selftest --record FILE`"};
  }
  return tests;
}

std::string self_test_text(const std::vector<SelfTest>& tests, const SelfTestSummary& summary) {
  std::string text;
  for (const SelfTest& test : tests) text += machine_text(test);
  text += "\nA/A duets (both sides equal)\n";
  for (const SelfTestSummary::Kernel& kernel : summary.kernels) {
    text += fmt::format(
        "  {:6} of {}: centre {:+.3f} %, deviation {:.2f} %, minimum detectable effect {:.1f} %",
        kernel.duets, kernel.name, 100 * std::expm1(kernel.center), 100 * kernel.deviation,
        100 * kernel.detectable.value_or(0));
    if (summary.all_rounds) {
      text += fmt::format("; deviation {:.2f} % if all rounds counted",
                          100 * kernel.deviation_of_all_rounds);
    }
    text += "\n";
  }
  const SimulationResult& clean = summary.clean;
  text += fmt::format(
      "\nsuites of 100 cases, resampled from these duets\n"
      "  clean: {} of {} red; {:.3f} false positives per 100 cases; {:.1f} processes per case\n",
      clean.red, clean.suites, percent_of(clean.alarms, clean.clean), clean.processes_per_case);
  text += fmt::format("  duets as recorded, without mirror images: {} of {} red\n",
                      summary.clean_as_recorded.red, summary.clean_as_recorded.suites);
  const PowerRow& cut_short = summary.power_cut_short;
  text += fmt::format(
      "  budget ends after {} duets: {} of {} red; {:+.0f} % is found in {:.1f} % of {} cases\n",
      kDuetsOfShortBudget, summary.clean_cut_short.red, summary.clean_cut_short.suites,
      100 * cut_short.slowdown, percent_of(cut_short.result.found, cut_short.result.slow),
      cut_short.result.slow);
  for (const PowerRow& row : summary.power) {
    text +=
        fmt::format("  {:+3.0f} % is found in {:5.1f} % of {} cases; {:.1f} processes per case\n",
                    100 * row.slowdown, percent_of(row.result.found, row.result.slow),
                    row.result.slow, row.result.processes_per_case);
  }
  if (summary.all_rounds) text += all_rounds_text(*summary.all_rounds);
  return text;
}

std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary) {
  Json document = {{"schema", kSelfTestSchema}};
  for (const SelfTest& test : tests) document["sittings"].push_back(facts_of(test));
  for (const SelfTestSummary::Kernel& kernel : summary.kernels) {
    Json& entry = document["kernels"].emplace_back(Json{{"name", kernel.name},
                                                        {"duets", kernel.duets},
                                                        {"log_center", kernel.center},
                                                        {"log_deviation", kernel.deviation}});
    if (summary.all_rounds) {
      entry["log_deviation_of_all_rounds"] = kernel.deviation_of_all_rounds;
    }
    if (kernel.detectable) entry["detectable"] = *kernel.detectable;
  }
  document["clean"] = to_json(summary.clean);
  document["clean_as_recorded"] = to_json(summary.clean_as_recorded);
  document["clean_cut_short"] = to_json(summary.clean_cut_short);
  document["power_cut_short"] = to_json(summary.power_cut_short.result);
  document["power_cut_short"]["slowdown"] = summary.power_cut_short.slowdown;
  document["power"] = to_json(summary.power);
  if (summary.all_rounds) {
    document["all_rounds"] = {{"clean", to_json(summary.all_rounds->clean)},
                              {"power", to_json(summary.all_rounds->power)}};
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bench
