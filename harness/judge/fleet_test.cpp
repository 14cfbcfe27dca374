// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/fleet.hpp"

#include "base/random.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Random numbers of the simulations.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  // Student's t with 3 degrees of freedom: heavy tails.
  double heavy() {
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(normal(), 2);
    return normal() / std::sqrt(squares / 3);
  }

 private:
  SplitMix random_;
};

// How the processes of one machine differ. normal and heavy: by a distribution with this scale.
// disturbed: besides, one of twenty processes is slower by up to 30 %.
enum class Law { normal, heavy, disturbed };
constexpr const char* kLawNames[] = {"normal", "heavy", "disturbed"};

struct Model {
  std::size_t machines = 12;
  std::size_t cases = 12;
  int processes = 5;
  Law law = Law::normal;
  double scatter = 0.01;           // scale of the processes' logarithms
  double machines_differ = 0.003;  // standard deviation of healthy machines
};

double process_noise(const Model& model, Noise& noise) {
  if (model.law == Law::heavy) return model.scatter * noise.heavy();
  double value = model.scatter * noise.normal();
  if (model.law == Law::disturbed && noise.uniform() < 0.05) value += 0.3 * noise.uniform();
  return value;
}

std::string node(std::size_t number) { return fmt::format("node{:04}", number); }

// Returns a fleet whose first machine takes `slowdown` more time.
Fleet simulate(const Model& model, double slowdown, Noise& noise) {
  Fleet fleet;
  for (std::size_t i = 0; i < model.machines; ++i) {
    FleetMachine machine;
    machine.name = node(i);
    machine.siblings = "class";
    const double own = model.machines_differ * noise.normal() + (i == 0 ? std::log1p(slowdown) : 0);
    for (std::size_t c = 0; c < model.cases; ++c) {
      MachineCase& entry = machine.cases[fmt::format("case{}", c)];
      for (int p = 0; p < model.processes; ++p)
        entry.processes.push_back(1e6 * std::exp(own + process_noise(model, noise)));
    }
    fleet.add(std::move(machine));
  }
  return fleet;
}

bool has_slow(const FleetVerdict& verdict) {
  return verdict.count(MachineVerdict::slow) + verdict.count(MachineVerdict::slow_in_cases) > 0;
}

const JudgedMachine& find_machine(const FleetVerdict& verdict, const std::string& name) {
  for (const SiblingGroup& group : verdict.groups) {
    for (const JudgedMachine& machine : group.machines) {
      if (machine.name == name) return machine;
    }
  }
  static const JudgedMachine missing;
  ADD_FAILURE() << name;
  return missing;
}

struct Rates {
  double false_alarms = 0;  // healthy fleets with a slow machine
  double judged = 0;        // healthy fleets that were judged
  double found = 0;         // fleets whose machine that is 5 % slower is called slow
  double missed = 0;        // of these fleets: judged, and nothing is slow
};

Rates simulate_rates(const Model& model, int healthy, int slow) {
  Noise noise(mix(model.machines * 1000 + model.cases));
  Rates rates;
  for (int i = 0; i < healthy; ++i) {
    const FleetVerdict verdict = judge_fleet(simulate(model, 0, noise));
    rates.false_alarms += has_slow(verdict) ? 1.0 / healthy : 0;
    rates.judged += verdict.is_judged() ? 1.0 / healthy : 0;
  }
  for (int i = 0; i < slow; ++i) {
    const FleetVerdict verdict = judge_fleet(simulate(model, 0.05, noise));
    const bool found = find_machine(verdict, node(0)).verdict == MachineVerdict::slow;
    rates.found += found ? 1.0 / slow : 0;
    rates.missed += verdict.is_judged() && !has_slow(verdict) ? 1.0 / slow : 0;
  }
  return rates;
}

// The promise of docs/scale.md. `BENCH_FLEETS=16000` makes the simulation of its table in some
// minutes; by default it is small, and finds gross errors only.
TEST(FleetSimulation, HealthyFleetsRaiseNoAlarmAndASlowMachineIsFound) {
  const char* wanted = std::getenv("BENCH_FLEETS");
  const int fleets = wanted == nullptr ? 60 : std::atoi(wanted);
  const std::vector<std::size_t> sizes = wanted == nullptr
                                             ? std::vector<std::size_t>{12, 32}
                                             : std::vector<std::size_t>{4, 8, 12, 16, 32, 100};
  for (const Law law : {Law::normal, Law::heavy, Law::disturbed}) {
    for (const double scatter : {0.005, 0.01, 0.02}) {
      for (const std::size_t machines : sizes) {
        const Model model{.machines = machines, .law = law, .scatter = scatter};
        const int healthy = static_cast<int>(static_cast<std::size_t>(fleets) * 12 / machines) + 1;
        const Rates rates = simulate_rates(model, healthy, std::min(healthy, 2000));
        if (wanted != nullptr) {
          fmt::print("| {} | {} | {:.1f} % | {} | {:.4f} % | {:.1f} % | {:.1f} % | {:.2f} % |\n",
                     machines, kLawNames[static_cast<int>(law)], 100 * scatter, healthy,
                     100 * rates.false_alarms, 100 * rates.judged, 100 * rates.found,
                     100 * rates.missed);
        }
        EXPECT_LE(rates.false_alarms * healthy, 1 + 2e-3 * healthy) << machines << scatter;
        EXPECT_LE(rates.missed, 0.05) << machines << ' ' << scatter;
        // With heavy tails, the answer may be that such fleets cannot be judged.
        const bool is_promised = machines >= 12 && scatter <= 0.01 && law != Law::heavy;
        EXPECT_GE(rates.found, is_promised ? 0.95 : 0) << machines << ' ' << scatter;
      }
    }
  }
}

TEST(Fleet, ASlowMachineIsNamedWithItsSlowdown) {
  Noise noise(1);
  const FleetVerdict verdict = judge_fleet(simulate({}, 0.05, noise));
  ASSERT_THAT(verdict.groups, SizeIs(1));
  EXPECT_EQ(verdict.groups[0].machines[0].name, node(0));
  EXPECT_EQ(verdict.groups[0].machines[0].verdict, MachineVerdict::slow);
  EXPECT_NEAR(*verdict.groups[0].machines[0].slowdown, 0.05, 0.015);
  EXPECT_EQ(verdict.count(MachineVerdict::slow), 1u);
  EXPECT_EQ(verdict.count(MachineVerdict::normal), 11u);
}

TEST(Fleet, AFewNoisyMachinesCannotBeJudged) {
  Noise noise(2);
  const FleetVerdict few = judge_fleet(simulate({.machines = 3}, 0.5, noise));
  EXPECT_FALSE(few.is_judged());
  EXPECT_THAT(few.groups[0].not_judged_reason, HasSubstr("at least 4"));
  EXPECT_EQ(few.count(MachineVerdict::not_judged), 3u);
  const FleetVerdict noisy = judge_fleet(simulate({.scatter = 0.2}, 0, noise));
  EXPECT_FALSE(noisy.is_judged());
  EXPECT_GT(noisy.groups[0].detectable, kPromisedSlowdown);
}

TEST(Fleet, AMachineThatIsSlowInOneCaseIsFoundThere) {
  Noise noise(3);
  const Fleet healthy = simulate({.machines = 16}, 0, noise);
  Fleet fleet;
  for (auto [name, machine] : healthy.machines()) {
    if (name == node(5)) {
      for (double& time : machine.cases.at("case7").processes) time *= 1.3;
    }
    fleet.add(machine);
  }
  const FleetVerdict verdict = judge_fleet(fleet);
  const JudgedMachine& machine = find_machine(verdict, node(5));
  EXPECT_EQ(machine.verdict, MachineVerdict::slow_in_cases);
  ASSERT_THAT(machine.slow_cases, SizeIs(1));
  EXPECT_EQ(verdict.groups[0].cases[machine.slow_cases[0]], "case7");
  EXPECT_EQ(verdict.count(MachineVerdict::normal), 15u);
}

// A disturbance during some of the processes is not a slow machine.
TEST(Fleet, AMachineWithOneUndisturbedProcessIsNotSlow) {
  Noise noise(4);
  const Fleet healthy = simulate({}, 0, noise);
  Fleet fleet;
  for (auto [name, machine] : healthy.machines()) {
    if (name == node(5)) {
      for (auto& [id, entry] : machine.cases) {
        for (std::size_t p = 1; p < entry.processes.size(); ++p) entry.processes[p] *= 1.4;
      }
    }
    fleet.add(machine);
  }
  EXPECT_FALSE(has_slow(judge_fleet(fleet)));
}

TEST(Fleet, MachinesOfAnotherClassAreNotSiblings) {
  Noise noise(5);
  const Fleet one = simulate({}, 0, noise);
  Fleet fleet;
  for (const auto& [name, machine] : one.machines()) {
    fleet.add(machine);
    FleetMachine other = machine;
    other.name = "other-" + name;
    other.siblings = "slower class";
    for (auto& [id, entry] : other.cases) {
      for (double& time : entry.processes) time *= 2;
    }
    fleet.add(other);
  }
  const FleetVerdict verdict = judge_fleet(fleet);
  EXPECT_THAT(verdict.groups, SizeIs(2));
  EXPECT_FALSE(has_slow(verdict));
}

TEST(Fleet, AMachineWithoutACaseOfItsSiblingsFailed) {
  Noise noise(6);
  const Fleet healthy = simulate({}, 0, noise);
  Fleet fleet;
  for (auto [name, machine] : healthy.machines()) {
    machine.facts = {{"governor", name == node(2) ? "powersave" : "performance"},
                     {"hostname", name}};
    if (name == node(2)) machine.cases["case3"] = {{}, "wrong result", "", std::nullopt};
    fleet.add(machine);
  }
  const FleetVerdict verdict = judge_fleet(fleet);
  const JudgedMachine& machine = find_machine(verdict, node(2));
  EXPECT_EQ(machine.verdict, MachineVerdict::failed);
  ASSERT_THAT(machine.failures, SizeIs(1));
  EXPECT_EQ(machine.failures.begin()->second, "wrong result");
  EXPECT_THAT(machine.differences, ElementsAre(Change{"governor", "performance", "powersave"}));
}

TEST(Fleet, ANodeThatLostItsGpuFailed) {
  Noise noise(7);
  const Fleet healthy = simulate({}, 0, noise);
  Fleet fleet;
  for (auto [name, machine] : healthy.machines()) {
    if (name == node(3)) {
      machine.no_device = "no CUDA device";
    } else {
      machine.devices = {name + "/GPU-1"};
    }
    fleet.add(machine);
  }
  const FleetVerdict verdict = judge_fleet(fleet);
  EXPECT_EQ(find_machine(verdict, node(3)).verdict, MachineVerdict::failed);
  EXPECT_EQ(find_machine(verdict, node(3)).no_device, "no CUDA device");
  EXPECT_EQ(verdict.count(MachineVerdict::failed), 1u);
}

// Returns a report of one case with the processes' times in nanoseconds.
Report measured_report(const std::string& host, const std::string& id,
                       const std::vector<int>& processes) {
  Report report;
  RunRecord run;
  run.run_id = host + "-run";
  run.environment.machine_class = "class";
  if (!host.empty()) run.environment.details = {{"hostname", host}, {"boot_id", host + "-boot"}};
  if (split_id(id).device == "cuda") {
    run.environment.details["gpu.name"] = "NVIDIA X";
    run.environment.details["gpu.uuid"] = "GPU-12345678-aaaa";
  }
  report.runs.push_back(run);
  CaseRecord record;
  record.run_id = run.run_id;
  record.id = id;
  report.cases.push_back(record);
  for (const int time : processes) {
    ProcessRecord process;
    process.run_id = run.run_id;
    process.id = id;
    process.process = static_cast<int>(report.processes.size());
    process.samples = {Nanoseconds(4 * time), Nanoseconds(4 * time)};
    process.iterations_per_sample = 4;
    report.processes.push_back(process);
  }
  return report;
}

constexpr const char* kCpuCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
constexpr const char* kGpuCase = "gemm/forward/m8n8k8/f32/cublaslt/cuda/hot";

TEST(Fleet, RecordsAreOfTheNodeOrOfItsGpu) {
  Fleet fleet;
  ASSERT_TRUE(fleet.add(measured_report("a", kCpuCase, {100, 110}), "a.jsonl").ok());
  ASSERT_TRUE(fleet.add(measured_report("a", kGpuCase, {10}), "b.jsonl").ok());
  ASSERT_THAT(fleet.machines(), SizeIs(2));
  EXPECT_THAT(fleet.machines().at("a").cases.at(kCpuCase).processes, ElementsAre(100, 110));
  EXPECT_EQ(fleet.machines().at("a").siblings, "class");
  EXPECT_EQ(fleet.machines().at("a/GPU-12345678").siblings, "NVIDIA X");
}

TEST(Fleet, ALaterResultOfAMachineCounts) {
  Fleet fleet;
  ASSERT_TRUE(fleet.add(measured_report("a", kCpuCase, {100}), "first.jsonl").ok());
  ASSERT_TRUE(fleet.add(measured_report("a", kCpuCase, {90}), "again.jsonl").ok());
  EXPECT_THAT(fleet.machines().at("a").cases.at(kCpuCase).processes, ElementsAre(90));
  EXPECT_THAT(judge_fleet(fleet).warnings, IsEmpty());
}

TEST(Fleet, EqualNamesOfTwoStartsAreAWarning) {
  Fleet fleet;
  Report first = measured_report("a", kCpuCase, {100});
  Report second = first;
  second.runs[0].environment.details["boot_id"] = "other";
  ASSERT_TRUE(fleet.add(first, "1.jsonl").ok());
  ASSERT_TRUE(fleet.add(second, "2.jsonl").ok());
  EXPECT_THAT(judge_fleet(fleet).warnings, ElementsAre(HasSubstr("BENCH_NODE")));
}

TEST(Fleet, ARunWithoutANameOfItsMachineIsAnError) {
  Fleet fleet;
  const Status status = fleet.add(measured_report("", kCpuCase, {100}), "old.jsonl");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, "old.jsonl");
}

TEST(Fleet, TheNameOfTheSchedulerPrecedesTheHostName) {
  EnvironmentRecord environment;
  EXPECT_FALSE(machine_name(environment));
  environment.details["hostname"] = "pod-3";
  EXPECT_EQ(machine_name(environment), "pod-3");
  environment.details["node"] = "node7";
  EXPECT_EQ(machine_name(environment), "node7");
}

}  // namespace
}  // namespace bench
