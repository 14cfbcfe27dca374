// SPDX-License-Identifier: Apache-2.0
// Converts problems and networks to the C types of the plugin interface, and back.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/problem.hpp"

#include <cstdint>
#include <deque>
#include <memory>
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

// The same for a network.
class CNetwork {
 public:
  explicit CNetwork(const Network& network);
  CNetwork(const CNetwork&) = delete;
  CNetwork& operator=(const CNetwork&) = delete;

  const bench_network* get() const { return &raw_; }

 private:
  std::deque<CProblem> problems_;
  CList<bench_node> nodes_;
  std::deque<std::vector<std::int32_t>> sources_;
  std::deque<std::vector<std::int32_t>> source_numbers_;
  CList<bench_tensor> tensors_;
  CList<bench_place> places_;
  std::vector<std::int32_t> outputs_;
  std::vector<std::int32_t> output_numbers_;
  bench_network raw_;
};

// Recreates a problem of a built-in operator from operator, codes and tokens. Errors: unknown
// operator, a code out of range, tokens that do not give a valid problem.
Result<Problem> read_problem(const bench_request& request);
// The same with post-ops. A further error: the tensors differ from those in `problem`, as they may
// between two versions of this program.
Result<Problem> read_problem(const bench_problem& problem);
// The result lacks what the interface does not contain: the layers fused into a node, and the
// number of learned values.
Result<Network> read_network(const bench_network& network);

}  // namespace bench::ops
