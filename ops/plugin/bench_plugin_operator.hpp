// SPDX-License-Identifier: Apache-2.0
// Problems, models and operators of the plugin interface for C++17. bench_plugin.hpp
// contains the rest.
#pragma once

#include "ops/plugin/bench_plugin.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::plugin {

// An exception with details: a status other than BENCH_FAILED, the parameter at fault, the next
// step. Other exceptions: std::bad_alloc becomes BENCH_SKIPPED, because it is not the plugin's
// fault. Any other becomes BENCH_FAILED with its what().
class Error : public std::runtime_error {
 public:
  Error(bench_status code, const std::string& text, std::string location = {},
        std::string next_step = {})
      : std::runtime_error(text),
        status(code),
        where(std::move(location)),
        next(std::move(next_step)) {}

  bench_status status;
  std::string where, next;
};

namespace detail {

inline void copy(std::string_view from, char* to, std::size_t capacity) {
  if (to == nullptr || capacity == 0) return;
  const std::size_t length = from.size() < capacity ? from.size() : capacity - 1;
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

inline void write(std::string_view text, std::string_view where, std::string_view next,
                  bench_message* message) {
  if (message == nullptr) return;
  copy(text, message->text, message->text_capacity);
  copy(where, message->where, message->where_capacity);
  copy(next, message->next, message->next_capacity);
}

// Runs `function`, which may throw, and writes what it threw to `message`.
template <class Function>
bench_status guarded(bench_message* message, Function function) noexcept {
  try {
    function();
    return BENCH_OK;
  } catch (const Error& error) {
    write(error.what(), error.where, error.next, message);
    return error.status;
  } catch (const std::bad_alloc&) {
    write("not enough memory on this machine", "", "", message);
    return BENCH_SKIPPED;
  } catch (const std::exception& error) {
    write(error.what(), "", "", message);
  } catch (...) {
    write("an exception of an unknown type", "", "", message);
  }
  return BENCH_FAILED;
}

// Turns a message of the host into an exception.
class Message {
 public:
  bench_message* get() { return &raw_; }
  [[noreturn]] void raise(bench_status status) const { throw Error(status, text_, where_, next_); }

 private:
  char text_[2048] = "", where_[512] = "", next_[1024] = "";
  bench_message raw_ = {sizeof(bench_message), text_, sizeof text_, where_,
                        sizeof where_,         next_, sizeof next_};
};

}  // namespace detail

// ---- Problems ----------------------------------------------------------------------------------

// A view of a tensor.
class Tensor {
 public:
  explicit Tensor(const bench_tensor* raw) : raw_(raw) {}
  std::string_view name() const { return raw_->name; }
  int32_t role() const { return raw_->role; }
  int32_t dtype() const { return raw_->dtype; }
  std::vector<int64_t> dims() const { return {raw_->dims, raw_->dims + raw_->rank}; }
  int64_t elements() const {
    int64_t count = 1;
    for (std::size_t i = 0; i < raw_->rank; ++i) count *= raw_->dims[i];
    return count;
  }

 private:
  const bench_tensor* raw_;
};

// A view of a problem. Reading a missing parameter throws.
class Problem {
 public:
  explicit Problem(const bench_problem* raw) : raw_(raw) {}
  const bench_problem* raw() const { return raw_; }

  std::string_view op() const { return raw_->op; }
  int32_t direction() const { return raw_->direction; }
  int32_t dtype() const { return raw_->dtype; }
  std::string_view tokens() const { return raw_->tokens; }

  bool has(std::string_view name) const { return find(name).present != 0; }
  int64_t count(std::string_view name) const { return value(name, BENCH_COUNT).integer; }
  bool flag(std::string_view name) const { return value(name, BENCH_FLAG).integer != 0; }
  double real(std::string_view name) const { return value(name, BENCH_REAL).real; }
  std::string_view word(std::string_view name) const { return value(name, BENCH_WORD).word; }
  std::vector<int64_t> shape(std::string_view name) const {
    const bench_value& found = value(name, BENCH_SHAPE);
    return {found.numbers, found.numbers + found.number_count};
  }

  // Inputs and weights, then outputs. None in Operator::check and Operator::model.
  std::size_t tensor_count() const { return raw_->tensor_count; }
  std::size_t input_count() const { return raw_->input_count; }
  Tensor tensor(std::size_t index) const { return Tensor(raw_->tensors[index]); }
  Tensor output(std::size_t index) const { return tensor(raw_->input_count + index); }

 private:
  const bench_value& find(std::string_view name) const {
    for (std::size_t i = 0; i < raw_->value_count; ++i) {
      if (raw_->values[i]->name == name) return *raw_->values[i];
    }
    throw Error(BENCH_FAILED, "the problem has no parameter `" + std::string(name) + "`");
  }
  const bench_value& value(std::string_view name, int32_t kind) const {
    const bench_value& found = find(name);
    if (found.present != 0 && found.kind == kind) return found;
    throw Error(BENCH_FAILED,
                "the parameter `" + std::string(name) + "` is absent or of another kind");
  }

  const bench_problem* raw_;
};

// Receives a problem's model. Throws the host's errors (an overflow).
class Model {
 public:
  explicit Model(const bench_model* raw) : raw_(raw) {}

  // `touched`: number of elements that are read or written; -1: all.
  void input(const char* name, int32_t dtype, const std::vector<int64_t>& dims,
             int64_t touched = -1) {
    add(name, BENCH_ROLE_INPUT, dtype, dims, touched);
  }
  void weights(const char* name, int32_t dtype, const std::vector<int64_t>& dims,
               int64_t touched = -1) {
    add(name, BENCH_ROLE_WEIGHTS, dtype, dims, touched);
  }
  void output(const char* name, int32_t dtype, const std::vector<int64_t>& dims,
              int64_t touched = -1) {
    add(name, BENCH_ROLE_OUTPUT, dtype, dims, touched);
  }
  void formula(const char* name, const std::string& expression, const std::string& values,
               int64_t result) {
    const bench_formula row = {sizeof(bench_formula), name, expression.c_str(), values.c_str(),
                               result};
    check(raw_->add_formula(raw_->self, &row));
  }
  // Sets flops_valid to flops, for operators without padding.
  void work(int64_t flops, int64_t sfu_ops = 0) {
    const bench_work row = {sizeof(bench_work), 0, 0, flops, flops, sfu_ops, 0, 0};
    work(row);
  }
  void work(const bench_work& row) { check(raw_->set_work(raw_->self, &row)); }

 private:
  void add(const char* name, int32_t role, int32_t dtype, const std::vector<int64_t>& dims,
           int64_t touched) {
    const bench_tensor row = {sizeof(bench_tensor), name,        role,   dtype,
                              dims.data(),          dims.size(), touched};
    check(raw_->add_tensor(raw_->self, &row));
  }
  // The message is empty, because the host reports its own.
  static void check(bench_status status) {
    if (status != BENCH_OK) throw Error(status, "");
  }

  const bench_model* raw_;
};

// ---- Operators ---------------------------------------------------------------------------------

struct Parameter {
  const char* name;
  const char* token;
  int32_t kind;
  const char* fallback;
  const char* help;
  int64_t minimum = 1;
  std::vector<const char*> words = {};
};

struct OperatorInfo {
  const char* name;
  const char* help;
  std::vector<Parameter> parameters;
  std::vector<int32_t> directions = {BENCH_FORWARD};
  bool takes_post_ops = false;
};

struct Tolerance {
  double absolute;
  double relative;
};

// The elements that a reference must compute: positions[i], or i if there are no positions.
struct Wanted {
  std::size_t output;
  const int64_t* positions;
  std::size_t count;
  int64_t position(std::size_t i) const {
    return positions == nullptr ? static_cast<int64_t>(i) : positions[i];
  }
};

class Operator {
 public:
  explicit Operator(OperatorInfo info) : info_(std::move(info)) { fill_table(); }
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Checks conditions on several parameters. Throw Error(BENCH_INVALID, text, parameter).
  virtual void check(const Problem& problem) const { static_cast<void>(problem); }
  virtual void model(const Problem& problem, Model& model) const = 0;
  // inputs[t]: tensor t, row-major.
  virtual void reference(const Problem& problem, const double* const* inputs, const Wanted& wanted,
                         double* values) const = 0;

  const bench_operator* raw() const { return &raw_; }

 protected:
  // Replaces the default tolerance, 8 roundings of the data type. Call it in the constructor. If
  // the function throws, the reference fails with its message.
  void set_tolerance(Tolerance (*tolerance)(const Problem&)) {
    tolerance_ = tolerance;
    raw_.tolerance = [](void* self, const bench_problem* problem, double* absolute,
                        double* relative) {
      Tolerance result = {};
      const bench_status status =
          detail::guarded(nullptr, [&] { result = of(self).tolerance_(Problem(problem)); });
      // A comparison with NaN is false, so no result is within this tolerance.
      constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
      *absolute = status == BENCH_OK ? result.absolute : kNan;
      *relative = status == BENCH_OK ? result.relative : kNan;
    };
  }

 private:
  static const Operator& of(void* self) { return *static_cast<const Operator*>(self); }

  void fill_table() {
    for (const Parameter& parameter : info_.parameters) {
      parameter_rows_.push_back(std::make_unique<bench_parameter>(
          bench_parameter{sizeof(bench_parameter), parameter.name, parameter.token, parameter.kind,
                          parameter.fallback, parameter.help, parameter.minimum,
                          parameter.words.data(), parameter.words.size()}));
      parameter_pointers_.push_back(parameter_rows_.back().get());
    }
    raw_.size = sizeof raw_;
    raw_.self = this;
    raw_.name = info_.name;
    raw_.help = info_.help;
    raw_.parameters = parameter_pointers_.data();
    raw_.parameter_count = parameter_pointers_.size();
    raw_.directions = info_.directions.data();
    raw_.direction_count = info_.directions.size();
    raw_.takes_post_ops = info_.takes_post_ops ? 1 : 0;
    raw_.check = [](void* self, const bench_problem* problem, bench_message* message) {
      return detail::guarded(message, [&] { of(self).check(Problem(problem)); });
    };
    raw_.model = [](void* self, const bench_problem* problem, const bench_model* model,
                    bench_message* message) {
      return detail::guarded(message, [&] {
        Model sink(model);
        of(self).model(Problem(problem), sink);
      });
    };
    raw_.reference = [](void* self, const bench_problem* problem, const double* const* inputs,
                        std::size_t output, const int64_t* positions, std::size_t count,
                        double* values, bench_message* message) {
      return detail::guarded(message, [&] {
        const Operator& op = of(self);
        // The callback for the tolerance cannot report an error, so report it here.
        if (op.tolerance_ != nullptr) static_cast<void>(op.tolerance_(Problem(problem)));
        op.reference(Problem(problem), inputs, Wanted{output, positions, count}, values);
      });
    };
  }

  OperatorInfo info_;
  std::vector<std::unique_ptr<bench_parameter>> parameter_rows_;
  std::vector<const bench_parameter*> parameter_pointers_;
  Tolerance (*tolerance_)(const Problem&) = nullptr;
  bench_operator raw_ = {};
};

}  // namespace bench::plugin
