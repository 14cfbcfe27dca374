// SPDX-License-Identifier: Apache-2.0
// The verdicts by counters and by names on what an H100 recorded: 122 cases with their counters and
// the names of their kernels.
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/kernel_names/counter_verdict.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace bench {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> read_rows(const std::string& file) {
  std::istringstream text(
      test::read_text(std::string(BENCH_SOURCE_DIR) + "/profiler/kernel_names/testdata/" + file));
  std::vector<Fields> rows;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    Fields& fields = rows.emplace_back();
    std::istringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
  }
  return rows;
}

constexpr LogicalCounter kColumns[] = {
    LogicalCounter::tensor_active_share,       LogicalCounter::tensor_instructions,
    LogicalCounter::tensor_group_instructions, LogicalCounter::tensor_operations_f16,
    LogicalCounter::tensor_operations_bf16,    LogicalCounter::tensor_operations_tf32,
    LogicalCounter::tensor_operations_fp8,     LogicalCounter::tensor_operations_s8,
    LogicalCounter::tensor_operations_f64};

struct RecordedCase {
  std::string id;
  std::int64_t flops = 0;
  CounterReadings readings;
  std::vector<Activity> kernels;
  std::string engine;  // of cuDNN
};

std::map<std::string, Activity> recorded_kernels() {
  std::map<std::string, Activity> kernels;
  for (const Fields& row : read_rows("h100_kernels.tsv")) {
    Activity& kernel = kernels[row.at(0)];
    kernel.kind = ActivityKind::kernel;
    kernel.name = row.at(1);
    if (row.size() > 2 && !row[2].empty()) kernel.attributes.set(Attribute::long_name, row[2]);
    const AuxiliaryKernel* const auxiliary = find_auxiliary(kernel.name);
    if (auxiliary != nullptr) kernel.attributes.set(Attribute::auxiliary, auxiliary->purpose);
  }
  return kernels;
}

std::vector<RecordedCase> recorded_cases() {
  const std::map<std::string, Activity> kernels = recorded_kernels();
  std::vector<RecordedCase> cases;
  for (const Fields& row : read_rows("h100_shapes.tsv")) {
    RecordedCase& recorded = cases.emplace_back();
    recorded.id = row.at(0);
    recorded.flops = std::stoll(row.at(1));
    std::size_t column = 2;
    for (const LogicalCounter counter : kColumns) {
      recorded.readings[std::string(counter_row(counter).name)] = {std::stod(row.at(column)),
                                                                   "h100"};
      ++column;
    }
    std::istringstream numbers(row.at(column));
    for (std::string number; numbers >> number;) recorded.kernels.push_back(kernels.at(number));
    if (row.size() > column + 1) recorded.engine = row[column + 1];
  }
  return cases;
}

TensorCoreUse use_of(const std::string& verdict) {
  if (verdict.starts_with("used")) return TensorCoreUse::used;
  return verdict.starts_with("not used") ? TensorCoreUse::not_used : TensorCoreUse::unknown;
}

TEST(H100Verdicts, CountersDecideEveryCase) {
  int used = 0, not_used = 0;
  for (const RecordedCase& recorded : recorded_cases()) {
    const TensorCoreVerdict verdict = tensor_core_verdict(recorded.readings, recorded.flops);
    EXPECT_EQ(verdict.evidence, TensorCoreEvidence::counter) << recorded.id;
    (verdict.use == TensorCoreUse::used ? used : not_used) += 1;
  }
  EXPECT_EQ(used, 95);
  EXPECT_EQ(not_used, 27);
}

TEST(H100Verdicts, NamesAgreeWithCountersOnEveryCase) {
  for (const RecordedCase& recorded : recorded_cases()) {
    const auto by_name = tensor_cores_by_name(recorded.kernels);
    ASSERT_TRUE(by_name) << recorded.id;
    EXPECT_EQ(use_of(*by_name), tensor_core_verdict(recorded.readings, recorded.flops).use)
        << recorded.id << ": " << *by_name;
  }
}

TEST(H100Verdicts, NotesOfEnginesAgreeWithCountersOnEveryConvolution) {
  int convolutions = 0;
  for (const RecordedCase& recorded : recorded_cases()) {
    if (recorded.engine.empty()) continue;
    ++convolutions;
    EXPECT_EQ(engine_verdict(recorded.engine, DataType::f16).use,
              tensor_core_verdict(recorded.readings, recorded.flops).use)
        << recorded.id << ": " << recorded.engine;
  }
  EXPECT_EQ(convolutions, 56);
}

// A case must not be decided by its other kernels alone.
TEST(H100Verdicts, EveryNameIsKnown) {
  KernelNames names;
  for (const auto& [number, kernel] : recorded_kernels()) {
    const TensorCoreVerdict verdict =
        names.tensor_cores(kernel.name, kernel.attributes.text(Attribute::long_name));
    EXPECT_NE(verdict.use, TensorCoreUse::unknown) << kernel.name;
  }
}

// Without counters of operations, as on a chip that has none, no verdict becomes wrong.
TEST(H100Verdicts, InstructionsAloneContradictNoVerdict) {
  int undecided = 0;
  for (RecordedCase& recorded : recorded_cases()) {
    const TensorCoreUse expected = tensor_core_verdict(recorded.readings, recorded.flops).use;
    std::erase_if(recorded.readings,
                  [](const auto& entry) { return entry.first.starts_with("tensor_operations"); });
    const TensorCoreUse use = tensor_core_verdict(recorded.readings, recorded.flops).use;
    undecided += use == TensorCoreUse::unknown ? 1 : 0;
    EXPECT_TRUE(use == expected || use == TensorCoreUse::unknown) << recorded.id;
  }
  EXPECT_LE(undecided, 20);
}

}  // namespace
}  // namespace bench
