// SPDX-License-Identifier: Apache-2.0
// Converts problems to the C types of the plugin interface, and makes those that plugins request.
#pragma once

#include "base/result.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/problem.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace bench::ops {

// Rows, and the pointers to them that the interface requires. The addresses of rows are stable.
template <class Row>
class CList {
 public:
  Row& add() {
    rows_.emplace_back();
    rows_.back().size = sizeof(Row);
    pointers_.push_back(&rows_.back());
    return rows_.back();
  }
  const Row* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::deque<Row> rows_;
  std::vector<const Row*> pointers_;
};

// A view of the problem, which must outlive it. Not movable, because get() exposes its address.
class CProblem {
 public:
  explicit CProblem(const Problem& problem);
  CProblem(const CProblem&) = delete;
  CProblem& operator=(const CProblem&) = delete;

  const bench_problem* get() const { return &raw_; }

 private:
  void add_value(const Parameter& parameter, const Value& value);

  std::string op_, tokens_;
  std::deque<std::string> names_;
  std::deque<std::vector<std::int64_t>> pads_;
  CList<bench_value> values_;
  CList<bench_post_op> post_ops_;
  CList<bench_tensor> tensors_;
  bench_work work_;
  bench_problem raw_;
};

// Makes the problem of a built-in operator that a plugin requests. Errors: unknown operator, a code
// out of range, tokens that do not give a valid problem.
Result<Problem> read_problem(const bench_request& request);

}  // namespace bench::ops
