// SPDX-License-Identifier: Apache-2.0
// A 64-bit integer whose arithmetic remembers an overflow. So a formula needs only one check, at
// its end.
#pragma once

#include <cstdint>
#include <optional>

namespace bench {

class Checked {
 public:
  constexpr Checked(std::int64_t value)
      : value_(value) {}  // NOLINT: numbers mix freely in formulas

  // Returns nullopt if any step of the computation left the range of std::int64_t.
  constexpr std::optional<std::int64_t> value() const {
    return overflow_ ? std::nullopt : std::optional<std::int64_t>(value_);
  }

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked sum = merge(a, b);
    sum.overflow_ |= __builtin_add_overflow(a.value_, b.value_, &sum.value_);
    return sum;
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked difference = merge(a, b);
    difference.overflow_ |= __builtin_sub_overflow(a.value_, b.value_, &difference.value_);
    return difference;
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked product = merge(a, b);
    product.overflow_ |= __builtin_mul_overflow(a.value_, b.value_, &product.value_);
    return product;
  }
  Checked& operator+=(Checked other) { return *this = *this + other; }
  Checked& operator*=(Checked other) { return *this = *this * other; }

 private:
  static constexpr Checked merge(Checked a, Checked b) {
    Checked result(0);
    result.overflow_ = a.overflow_ || b.overflow_;
    return result;
  }

  std::int64_t value_;
  bool overflow_ = false;
};

}  // namespace bench
