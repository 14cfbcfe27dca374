// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/formulas.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace bench::ops {
namespace {

// The letters of an axis in formulas.
struct Letters {
  std::string_view input;
  std::string_view output;
  std::string_view kernel;
  std::string_view begin;  // pads
  std::string_view end;
};

// By distance from the innermost axis: width, height, depth.
constexpr Letters kLetters[] = {
    {"W", "Q", "S", "pl", "pr"}, {"H", "P", "R", "pt", "pb"}, {"D", "O", "T", "p0", "p1"}};

const Letters& letters_of(const ConvShape& shape, std::size_t axis) {
  return kLetters[shape.axes.size() - 1 - axis];
}

Formula output_formula(const SpatialAxis& axis, const Letters& letters, Sweep sweep) {
  constexpr std::string_view kConvolution = "floor(({} + {} + {} - {}*({}-1) - 1)/{}) + 1";
  constexpr std::string_view kTransposed = "({}-1)*{} - {} - {} + {}*({}-1) + {} + 1";
  Formula formula{std::string(letters.output), {}, {}, axis.output};
  if (sweep == Sweep::convolution) {
    formula.expression = fmt::format(kConvolution, letters.input, letters.begin, letters.end, "e",
                                     letters.kernel, "u");
    formula.values = fmt::format(kConvolution, axis.input, axis.pad.begin, axis.pad.end,
                                 axis.dilation, axis.kernel, axis.stride);
  } else {
    formula.expression = fmt::format(kTransposed, letters.input, "u", letters.begin, letters.end,
                                     "e", letters.kernel, "o");
    formula.values = fmt::format(kTransposed, axis.input, axis.stride, axis.pad.begin, axis.pad.end,
                                 axis.dilation, axis.kernel, axis.output_pad);
  }
  return formula;
}

// Counts the pairs of a step i and a tap j that use an element and not padding.
Formula taps_formula(const SpatialAxis& axis, const Letters& letters, Sweep sweep,
                     const AxisCounts& counts) {
  constexpr std::string_view kPairs = "#{{i < {}, j < {}: 0 <= i*{} - {} + j*{} < {}}}";
  const bool transposed = sweep == Sweep::transposed;
  Formula formula{fmt::format("V{}", axis.name), {}, {}, counts.taps.value().value_or(0)};
  formula.expression =
      fmt::format(kPairs, transposed ? letters.input : letters.output, letters.kernel, "u",
                  letters.begin, "e", transposed ? letters.output : letters.input);
  formula.values =
      fmt::format(kPairs, transposed ? axis.input : axis.output, axis.kernel, axis.stride,
                  axis.pad.begin, axis.dilation, transposed ? axis.output : axis.input);
  return formula;
}

// Products over the axes, in letters and in numbers: "P*Q", "56*56".
struct Product {
  std::string letters;
  std::string numbers;

  void times(std::string_view letter, std::int64_t number) {
    letters += fmt::format("*{}", letter);
    numbers += fmt::format("*{}", number);
  }
};

Product channels(const ConvShape& shape) {
  return {"N*K*(C/g)", fmt::format("{}*{}*({}/{})", shape.n, shape.k, shape.c, shape.groups)};
}

Product all_taps(const ConvShape& shape) {
  Product product = channels(shape);
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    const bool transposed = shape.sweep == Sweep::transposed;
    product.times(transposed ? letters_of(shape, i).input : letters_of(shape, i).output,
                  transposed ? shape.axes[i].input : shape.axes[i].output);
  }
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.times(letters_of(shape, i).kernel, shape.axes[i].kernel);
  }
  return product;
}

Product valid_taps(const ConvShape& shape, const std::vector<AxisCounts>& counts) {
  Product product = channels(shape);
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.times(fmt::format("V{}", shape.axes[i].name), counts[i].taps.value().value_or(0));
  }
  return product;
}

Product bias_term(const ConvShape& shape, Direction direction) {
  if (shape.bias == Bias::absent || direction == Direction::backward_data) return {};
  Product product{" + N*K", fmt::format(" + {}*{}", shape.n, shape.k)};
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.times(letters_of(shape, i).output, shape.axes[i].output);
  }
  return product;
}

Formula flops_formula(std::string_view name, const Product& macs, const Product& bias,
                      std::int64_t result) {
  return {std::string(name), fmt::format("2*{}{}", macs.letters, bias.letters),
          fmt::format("2*{}{}", macs.numbers, bias.numbers), result};
}

}  // namespace

std::vector<Formula> conv_formulas(const ConvShape& shape, Direction direction,
                                   const std::vector<AxisCounts>& counts, const Work& work) {
  std::vector<Formula> formulas;
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    formulas.push_back(output_formula(shape.axes[i], letters_of(shape, i), shape.sweep));
  }
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    formulas.push_back(taps_formula(shape.axes[i], letters_of(shape, i), shape.sweep, counts[i]));
  }
  const Product macs = all_taps(shape);
  const Product bias = bias_term(shape, direction);
  formulas.push_back({"macs", macs.letters, macs.numbers, work.macs.value_or(0)});
  formulas.push_back(flops_formula("flops", macs, bias, work.flops));
  formulas.push_back(
      flops_formula("flops_valid", valid_taps(shape, counts), bias, work.flops_valid));
  return formulas;
}

}  // namespace bench::ops
