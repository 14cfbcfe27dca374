// SPDX-License-Identifier: Apache-2.0
// Plans the values between the kernels of a network: which of them are views of others, where
// results are reordered, and what becomes an output. The backends differ in the form of a value
// (its sizes, type and layout), and in how they create a node's kernel.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/buffer_plan.hpp"
#include "ops/network/network.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops {

// Memory of values. Several values share one storage if one is a view of another or is computed in
// place of it.
struct ChainStorage {
  enum class Kind { input, parameter, output, internal };
  Kind kind = Kind::internal;
  StorageLife life = {};
  std::size_t index =
      0;  // index among the inputs, parameters or outputs of the network, or of a buffer
};

template <class Form>
struct PlannedValue {
  Form form;
  std::size_t storage;
};

// A backend's planner derives from this class. Values and nodes are named by their indices.
template <class Form>
class ChainPlanner {
 public:
  explicit ChainPlanner(const Network& network) : network_(network) {}
  virtual ~ChainPlanner() = default;

 protected:
  using Planned = Result<std::size_t, BackendError>;  // a value
  using Kind = ChainStorage::Kind;

  // Adds the inputs, the shared parameters, all nodes, and the outputs.
  Result<Done, BackendError> plan_values() {
    for (std::size_t i = 0; i < network_.input_count(); ++i)
      add_given(Kind::input, i, input_form(i));
    for (const bool is_shared : find_shared_parameters(network_)) {
      const std::size_t index = parameters_.size();
      parameters_.push_back(is_shared ? std::optional(values_.size()) : std::nullopt);
      const Tensor& tensor = network_.tensors[network_.input_count() + index];
      if (is_shared) add_given(Kind::parameter, index, plain_form(tensor));
    }
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      results_.emplace_back();
      BENCH_RETURN_IF_ERROR(add_node(i));
    }
    for (std::size_t i = 0; i < network_.outputs.size(); ++i) BENCH_RETURN_IF_ERROR(add_output(i));
    return Done{};
  }

  // Returns the value in the form that a node requires: itself, a view of it, or a reordered copy,
  // which is made once per form. If the sizes differ (a matrix product after images), it is a view
  // of the row-major form.
  Planned arrange(std::size_t node, std::size_t value, const Form& required) {
    const Form form = values_[value].form;
    if (form == required) return value;
    if (same_order(form, required)) return view(value, required);
    const Form plain = row_major(form, form), required_plain = row_major(required, form);
    if (plain != required_plain) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t from, arrange(node, value, plain));
      return arrange(node, view(from, required_plain), required);
    }
    if (const auto existing = find_derived(value, required)) return *existing;
    BENCH_ASSIGN_OR_RETURN(const std::size_t copy, reorder(node, value, required));
    derived_.push_back({value, copy});
    return copy;
  }
  std::size_t view(std::size_t value, const Form& required) {
    if (const auto existing = find_derived(value, required)) return *existing;
    derived_.push_back({value, add_value_in(values_[value].storage, required)});
    return derived_.back().to;
  }

  // Adds a value in a storage of its own.
  std::size_t add_value(const Form& form, std::int64_t bytes) {
    storages_.push_back({.life = {.bytes = bytes}});
    values_.push_back({form, storages_.size() - 1});
    return values_.size() - 1;
  }
  std::size_t add_value_in(std::size_t storage, const Form& form) {
    std::int64_t& size = storages_[storage].life.bytes;
    size = std::max(size, bytes(form));
    values_.push_back({form, storage});
    return values_.size() - 1;
  }
  // The value becomes a result of the current node.
  void add_result(std::size_t value) { results_.back().push_back(value); }

  // Whether a node has the parameter for itself, in the layout of its kernel. Parameters that
  // several nodes read are values in their plain form.
  bool is_own_parameter(const Source& source) const {
    return source.kind == Source::Kind::parameter && !parameters_[source.index];
  }
  // The source must not be an own parameter. The values of the network's inputs are the first ones.
  std::size_t value_of(const Source& source) const {
    if (source.kind == Source::Kind::parameter) return *parameters_[source.index];
    return source.kind == Source::Kind::input ? source.index
                                              : results_[source.index][source.output];
  }
  const Form& form_of(const Source& source) const { return values_[value_of(source)].form; }
  std::size_t first_output() const { return network_.tensors.size() - network_.outputs.size(); }

  const Network& network_;
  std::vector<PlannedValue<Form>> values_;
  std::vector<ChainStorage> storages_;

 private:
  virtual Form plain_form(const Tensor& tensor) const = 0;
  virtual Form input_form(std::size_t input) const { return plain_form(network_.tensors[input]); }
  // The sizes of one form in row-major order, with the type of the other.
  virtual Form row_major(const Form& sizes, const Form& type) const = 0;
  // Whether a buffer of one form can be read as the other.
  virtual bool same_order(const Form& a, const Form& b) const = 0;
  virtual std::int64_t bytes(const Form& form) const = 0;
  // Adds the step that copies the value into another order, and its result.
  virtual Planned reorder(std::size_t node, std::size_t value, const Form& required) = 0;
  // Adds the node's kernel and its results.
  virtual Result<Done, BackendError> add_node(std::size_t node) = 0;

  void add_given(Kind kind, std::size_t index, const Form& form) {
    storages_[values_[add_value(form, 0)].storage] = {.kind = kind, .index = index};
  }
  Result<Done, BackendError> add_output(std::size_t output) {
    const Source& result = network_.outputs[output];
    const Form plain = plain_form(network_.tensors[first_output() + output]);
    BENCH_ASSIGN_OR_RETURN(const std::size_t value, arrange(result.index, value_of(result), plain));
    ChainStorage& storage = storages_[values_[value].storage];
    assert(storage.kind == Kind::internal);
    storage.kind = Kind::output;
    storage.index = output;
    return Done{};
  }
  // Returns the view or reordered copy of the value that already has the form.
  std::optional<std::size_t> find_derived(std::size_t value, const Form& required) const {
    for (const Derived& earlier : derived_) {
      if (earlier.from == value && values_[earlier.to].form == required) return earlier.to;
    }
    return std::nullopt;
  }

  std::vector<std::optional<std::size_t>> parameters_;  // values of the shared parameters
  std::vector<std::vector<std::size_t>> results_;       // values of the nodes, by output
  // Views and reordered copies created so far. A residual that an add in place overwrites is never
  // requested again, because nothing reads it afterwards.
  struct Derived {
    std::size_t from, to;
  };
  std::vector<Derived> derived_;
};

}  // namespace bench::ops
