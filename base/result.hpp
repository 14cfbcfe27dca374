// SPDX-License-Identifier: Apache-2.0
// Results and errors as values. Functions return errors that a user, a file, a driver or a machine
// can cause; they never throw them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace bench {

// What went wrong, where, and what to do next. `where` and `next` may be empty.
struct Error {
  std::string what;   // "unknown key `strid`, expected one of ..."
  std::string where;  // "configs/a.yaml:3:5", a path, a case id
  std::string next;   // "did you mean `stride`?", the command that helps

  // Returns "where: what; next" without the empty parts.
  std::string message() const;
};

// Puts the name of an option of the command line in front of the place of the error.
Error at_option(Error error, std::string_view option);

// Either a value or an error. Reading the value of an error, or the error of a value, is a bug
// (std::get throws).
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  Result(T held) : state_(std::in_place_index<0>, std::move(held)) {}
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const E& error() const& { return std::get<1>(state_); }
  E&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, E> state_;
};

// The value of a successful function that has nothing else to return.
struct [[nodiscard]] Done {};
using Status = Result<Done>;

}  // namespace bench

// Returns the error of a Result or Status from the enclosing function.
#define BENCH_RETURN_IF_ERROR(expression)                         \
  do {                                                            \
    if (auto bench_status_ = (expression); !bench_status_.ok()) { \
      return std::move(bench_status_).error();                    \
    }                                                             \
  } while (false)

#define BENCH_CONCATENATE_INNER(a, b) a##b
#define BENCH_CONCATENATE(a, b) BENCH_CONCATENATE_INNER(a, b)

// BENCH_ASSIGN_OR_RETURN(auto value, function()) assigns the value of a Result, or returns its
// error from the enclosing function.
#define BENCH_ASSIGN_OR_RETURN(declaration, expression)                   \
  auto BENCH_CONCATENATE(bench_result_, __LINE__) = (expression);         \
  if (!BENCH_CONCATENATE(bench_result_, __LINE__).ok()) {                 \
    return std::move(BENCH_CONCATENATE(bench_result_, __LINE__)).error(); \
  }                                                                       \
  declaration = std::move(BENCH_CONCATENATE(bench_result_, __LINE__)).value()
