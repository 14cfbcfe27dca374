// SPDX-License-Identifier: Apache-2.0
// The operators of a framework that a GPU executed, from the kernels, copies and memsets that they
// launched.
#pragma once

#include "base/result.hpp"
#include "harness/import/execution_table.hpp"
#include "harness/import/imported.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/work_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace bench {

// Consecutive work of a stream with the same operator, direction, layer and sequence number is one
// execution. If more than one of its kernels has the operator's arithmetic, it is as many.
class GpuExecutionCollector final : public ActivitySink {
 public:
  GpuExecutionCollector(ExecutionTable& table, Imported& found);

  void begin_file(std::size_t file) { file_ = file; }
  Status consume(const Activity& activity) override;
  Status end_file();

 private:
  using Stream = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // pid, device, stream
  struct Work {
    Activity activity;
    bool computes = false;  // whether it has the arithmetic of its operator
  };
  using Works = std::vector<Work>;
  // What a trace of Kineto states of an operator, for kernels that do not repeat it.
  struct HostCall {
    std::string problem, arguments;
    bool is_ambiguous = false;  // calls with other arguments have the same key
  };

  void remember(const Activity& operation);
  Status finish(Works& works);
  // Which of several cases each work computes; nullopt: the only one.
  using Part = std::optional<ops::Direction>;
  using Parts = std::vector<Part>;
  static Result<Parts> divide(const Works& works);
  static std::map<Part, ImportedExecution> sum_parts(const Works& works, const Parts& parts,
                                                     const ImportPlace& place);
  Status add_parts(const Works& works, const Activity& caller);

  ExecutionTable& table_;
  Imported& found_;
  WorkProvider compute_work_;
  std::size_t file_ = 0;
  std::map<Stream, Works> open_;
  std::unordered_map<std::string, HostCall> calls_;
};

}  // namespace bench
