// SPDX-License-Identifier: Apache-2.0
// For tests of native kernels: runs their forms on the CPU, element by element with the device's
// functions, and compares with the operators' references.
#pragma once

#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda::test {

inline std::vector<std::byte> to_plain(const std::vector<double>& values, DataType dtype) {
  std::vector<std::byte> plain(values.size() * static_cast<std::size_t>(info(dtype).bytes));
  for (std::size_t i = 0; i < values.size(); ++i) store_element(dtype, plain.data(), i, values[i]);
  return plain;
}

// Runs a form on plain values of its inputs; returns the plain values of its other tensors.
inline std::vector<std::vector<double>> run_outputs(
    const NativeForm& form, const std::vector<std::vector<double>>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> addresses;
  for (const NativeTensor& tensor : form.tensors) {
    const auto size = static_cast<std::size_t>(tensor.arrangement.packed_size(tensor.dtype).count);
    buffers.emplace_back(size, std::byte{0xff});
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    addresses.push_back(buffers[i].data());
    if (i >= inputs.size()) continue;
    const auto plain = to_plain(inputs[i], form.tensors[i].dtype);
    arrange(form.tensors[i].arrangement, form.tensors[i].dtype, plain.data(), buffers[i].data());
  }
  EXPECT_TRUE(HostLauncher().launch(form.plan, addresses).ok());
  std::vector<std::vector<double>> outputs;
  for (std::size_t t = inputs.size(); t < buffers.size(); ++t) {
    const NativeTensor& result = form.tensors[t];
    const auto elements = static_cast<std::size_t>(result.arrangement.plain_elements);
    std::vector<std::byte> plain(elements * static_cast<std::size_t>(info(result.dtype).bytes));
    restore(result.arrangement, result.dtype, buffers[t].data(), plain.data());
    std::vector<double>& values = outputs.emplace_back();
    for (std::size_t i = 0; i < elements; ++i) {
      values.push_back(load_element(result.dtype, plain.data(), i));
    }
  }
  return outputs;
}

// The same for a form with one output.
inline std::vector<double> run(const NativeForm& form,
                               const std::vector<std::vector<double>>& inputs) {
  return run_outputs(form, inputs).back();
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                        const Tolerance& tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - want[i]),
              tolerance.absolute + tolerance.relative * std::abs(want[i]))
        << what << ": element " << i << " is " << got[i] << ", expected " << want[i];
  }
}

inline void expect_reference(const Problem& problem) {
  const std::string what =
      fmt::format("{} {} {} layout {}", problem.op->name, problem_tokens(problem),
                  info(problem.dtype).name, static_cast<int>(problem.layout));
  const auto form = native_form(problem);
  ASSERT_TRUE(form.ok()) << what << ": " << form.error().reason;
  ASSERT_EQ(form->tensors.size(), problem.tensors.size()) << what;
  EXPECT_TRUE(form->implementation.starts_with("bench:")) << form->implementation;
  const auto inputs = ops::op_test::random_inputs(problem, 5);
  const auto outputs = run_outputs(*form, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    expect_near(outputs[i], built_in_reference(problem, inputs, i, {}),
                problem.op->tolerance(problem), what);
  }
}

// Tests every valid data type, direction and layout of a problem; returns their number.
inline int expect_all(std::string_view op, const std::string& tokens) {
  int problems = 0;
  for (const DataTypeInfo& type : data_types()) {
    for (const Direction direction : {Direction::forward, Direction::backward_data}) {
      auto problem = ops::op_test::try_problem(op, tokens, type.type, direction);
      if (!type.is_case_type || !problem) continue;
      for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
        problem->layout = layout;
        expect_reference(*problem);
        ++problems;
      }
    }
  }
  return problems;
}

// The same for an operator whose kernel takes plain tensors only, in all directions.
inline int expect_plain(std::string_view op, const std::string& tokens) {
  int problems = 0;
  for (const DataTypeInfo& type : data_types()) {
    for (const Direction direction :
         {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
      auto problem = ops::op_test::try_problem(op, tokens, type.type, direction);
      if (!type.is_case_type || !problem) continue;
      expect_reference(*problem);
      ++problems;
      problem->layout = Layout::nhwc;
      if (!is_in_nhwc(*problem)) {
        expect_reference(*problem);
      } else {
        const auto form = native_form(*problem);
        EXPECT_TRUE(!form.ok() && form.error().reason.ends_with("leave `layout: nhwc` out"))
            << tokens;
      }
    }
  }
  return problems;
}

}  // namespace bench::ops::cuda::test
