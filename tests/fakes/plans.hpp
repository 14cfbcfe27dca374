// SPDX-License-Identifier: Apache-2.0
// Plans, sinks and observers for tests of the runner.
#pragma once

#include "base/env.hpp"
#include "base/text.hpp"
#include "harness/config/plan.hpp"
#include "harness/run/run.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

inline Case make_case(const std::string& id, const Measure& measure = {},
                      const Warmup& warmup = {}) {
  Case spec;
  Result<CaseKey> key = parse_id(id);
  if (!key) throw std::runtime_error(key.error().message());
  spec.key = *key;
  spec.id = to_id(*key);
  spec.hash = content_hash(spec.id);
  Result<ops::Problem> problem = problem_from_key(*key);
  if (!problem) throw std::runtime_error(problem.error().message());
  spec.work = *problem;
  spec.measure = measure;
  spec.warmup = warmup;
  spec.place = {"test.yaml", 3, 5};
  return spec;
}

inline Plan make_plan(std::vector<Case> cases) {
  Plan plan;
  plan.name = "test";
  plan.files = {"test.yaml"};
  plan.hash = "0123456789abcdef";
  plan.cases = std::move(cases);
  return plan;
}

class VectorSink final : public RecordSink {
 public:
  Status append(const Record& record) override {
    records.push_back(record);
    return Done{};
  }
  Status append_activity(std::string_view line) override {
    activities.emplace_back(line);
    return Done{};
  }
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> result;
    for (const Record& record : records) {
      if (const auto* found = std::get_if<Kind>(&record)) result.push_back(*found);
    }
    return result;
  }

  std::vector<Record> records;
  std::vector<std::string> activities;  // JSON lines
};

class QuietObserver final : public RunObserver {
 public:
  void step(std::int64_t, std::int64_t, const std::string& id,
            std::optional<Nanoseconds>) override {
    steps.push_back(id);
  }
  void case_finished(const CaseRecord& record) override { finished.push_back(record.id); }
  void message(const std::string& text) override { messages.push_back(text); }

  std::vector<std::string> steps, finished, messages;
};

// An Env that writes into strings.
struct TestEnv {
  explicit TestEnv(Clock& clock) {
    env.clock = &clock;
    env.out = &out;
    env.err = &err;
    env.variable = [](const std::string&) { return std::nullopt; };
    env.utc_now = [] { return std::string("2026-11-21T08:00:00Z"); };
  }
  std::ostringstream out, err;
  Env env;
};

}  // namespace bench::test
