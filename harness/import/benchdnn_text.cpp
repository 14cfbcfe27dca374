// SPDX-License-Identifier: Apache-2.0
#include "harness/import/benchdnn_text.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "ops/verbose_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
// No real size is larger, and products of two sizes fit into 64 bits.
constexpr std::int64_t kMaxDescriptorNumber = std::int64_t{1} << 31;

struct DescriptorAxis {
  char letter;
  std::int64_t input, output, kernel, stride, dilation;
  std::optional<std::int64_t> pad;

  std::int64_t extent() const { return (kernel - 1) * (dilation + 1) + 1; }
  // The library's rule for an axis that does not exist.
  bool is_absent() const {
    return (input | output | kernel | dilation) == 0 && stride == 1 && pad.value_or(0) < 1;
  }
};

DescriptorAxis read_descriptor_axis(const BenchdnnDescriptor& descriptor, char letter) {
  const auto find = [&](char first) {
    const char name[] = {first, letter};
    return descriptor.find(std::string_view(name, sizeof name));
  };
  return {letter,
          find('i').value_or(0),
          find('o').value_or(0),
          find('k').value_or(0),
          find('s').value_or(1),
          find('d').value_or(0),
          find('p')};
}

// The end of the range that a kernel covers, relative to the end of the input: above 0 it is
// padding.
std::int64_t end_padding(const DescriptorAxis& axis, ops::Sweep sweep) {
  return sweep == ops::Sweep::convolution
             ? (axis.output - 1) * axis.stride - axis.input + axis.extent() - *axis.pad
             : (axis.input - 1) * axis.stride - axis.output + axis.extent() - *axis.pad;
}

Error axis_error(const DescriptorAxis& axis, std::string_view what) {
  return {fmt::format("axis {}: {}", axis.letter, what), {}, {}};
}

Status complete_axis(DescriptorAxis& axis, ops::Sweep sweep) {
  if (axis.input < 1 || axis.kernel < 1)
    return axis_error(axis, fmt::format("i{0} or k{0} is missing or 0", axis.letter));
  if (axis.stride < 1) return axis_error(axis, "the stride is 0");
  const bool is_plain = sweep == ops::Sweep::convolution;
  if (axis.output == 0) {
    axis.pad = axis.pad.value_or(0);
    const std::int64_t span = 2 * *axis.pad;
    axis.output = is_plain ? (axis.input - axis.extent() + span) / axis.stride + 1
                           : (axis.input - 1) * axis.stride + axis.extent() - span;
  } else if (!axis.pad) {
    axis.pad = is_plain ? ((axis.output - 1) * axis.stride - axis.input + axis.extent()) / 2
                        : ((axis.input - 1) * axis.stride - axis.output + axis.extent()) / 2;
  }
  if (axis.output < 1) return axis_error(axis, "the output would have no elements");
  if (*axis.pad < 0) return axis_error(axis, "the padding before the input is negative");
  const std::int64_t end = end_padding(axis, sweep);
  // A case computes all outputs that the input permits.
  if (is_plain && end <= -axis.stride)
    return axis_error(axis, fmt::format("{} outputs leave out the end of the input", axis.output));
  if (!is_plain && end < 0)
    return axis_error(axis, "the output is larger than its input and kernel permit");
  return Done{};
}

void repeat(const DescriptorAxis& from, DescriptorAxis& to) {
  const char letter = to.letter;
  to = from;
  to.letter = letter;
}

}  // namespace

std::vector<BenchdnnWord> split_benchdnn_words(std::string_view text) {
  std::vector<BenchdnnWord> words;
  int line = 1;
  bool continues = false;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t begin = text.find_first_not_of(kBlanks, position);
    if (begin == std::string_view::npos) break;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(position),
                                        text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    position = end;
    if (word.front() == '#') {
      position = std::min(text.find('\n', begin), text.size());
      continue;
    }
    const bool will_continue = word.back() == '\\';
    if (will_continue) word.remove_suffix(1);
    if (continues && !words.empty()) {
      words.back().text += word;
    } else if (!word.empty() || will_continue) {
      words.push_back({std::string(word), line});
    }
    continues = will_continue;
  }
  std::erase_if(words, [](const BenchdnnWord& word) { return word.text.empty(); });
  return words;
}

Result<BenchdnnDescriptor> BenchdnnDescriptor::parse(std::string_view text,
                                                     std::span<const std::string_view> keys) {
  BenchdnnDescriptor result;
  std::string_view rest = text;
  while (!rest.empty() && rest.front() != 'n') {
    if (rest.front() == '_') {
      rest.remove_prefix(1);
      continue;
    }
    const auto letters =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_lower) - rest.begin());
    const auto key = std::ranges::find(keys, rest.substr(0, letters));
    if (key == keys.end()) {
      return Error{fmt::format("no size of this driver begins at {}", quote(rest)), {}, {}};
    }
    rest.remove_prefix(letters);
    // Only `eps` has a fraction, which is not read.
    const std::string_view written = rest.substr(0, rest.find_first_not_of("0123456789."));
    const auto number = parse_number<std::int64_t>(written.substr(0, written.find('.')));
    if (!number || *number > kMaxDescriptorNumber)
      return Error{fmt::format("{} has no number from 0 to 2^31", quote(*key)), {}, {}};
    rest.remove_prefix(written.size());
    const auto earlier =
        std::ranges::find(result.numbers_, *key, &std::pair<std::string_view, std::int64_t>::first);
    if (earlier == result.numbers_.end()) {
      result.numbers_.emplace_back(*key, *number);
    } else {
      earlier->second = *number;
    }
  }
  return result;
}

std::optional<std::int64_t> BenchdnnDescriptor::find(std::string_view key) const {
  const auto found =
      std::ranges::find(numbers_, key, &std::pair<std::string_view, std::int64_t>::first);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

Result<BenchdnnAxes> complete_benchdnn_axes(const BenchdnnDescriptor& descriptor,
                                            ops::Sweep sweep) {
  std::array<DescriptorAxis, 3> axes = {read_descriptor_axis(descriptor, 'd'),
                                        read_descriptor_axis(descriptor, 'h'),
                                        read_descriptor_axis(descriptor, 'w')};
  for (DescriptorAxis& axis : axes) {
    if (!axis.is_absent()) BENCH_RETURN_IF_ERROR(complete_axis(axis, sweep));
  }
  auto& [d, h, w] = axes;
  // The outputs decide which axes there are.
  const std::size_t first = d.output > 0 ? 0 : h.output > 0 ? 1 : 2;
  if (first == 2 && w.output == 0) return Error{"there is no axis: d, h or w", {}, {}};
  if (first == 0 && h.output == 0 && w.output == 0) {
    repeat(d, h);
    repeat(d, w);
  } else if (first == 0 && (h.output == 0 || w.output == 0)) {
    return Error{"with d, either both of h and w or none of them are given", {}, {}};
  } else if (first == 1 && w.output == 0) {
    repeat(h, w);
  }
  BenchdnnAxes result;
  result.rank = axes.size() - first;
  for (const DescriptorAxis& axis : std::span(axes).subspan(first)) {
    result.text +=
        fmt::format("_i{0}{1}o{0}{2}k{0}{3}s{0}{4}d{0}{5}p{0}{6}", axis.letter, axis.input,
                    axis.output, axis.kernel, axis.stride, axis.dilation, *axis.pad);
    result.outputs.push_back(axis.output);
  }
  return result;
}

Result<std::vector<std::int64_t>> complete_benchdnn_sizes(const BenchdnnDescriptor& descriptor) {
  const std::int64_t d = descriptor.value_or("id", 0);
  const std::int64_t h = descriptor.value_or("ih", 0);
  const std::int64_t w = descriptor.value_or("iw", 0);
  using Sizes = std::vector<std::int64_t>;
  if (d > 0 && h == 0 && w == 0) return Sizes{d, d, d};
  if (d > 0 && (h == 0 || w == 0))
    return Error{"with id, either both of ih and iw or none of them are given", {}, {}};
  if (d > 0) return Sizes{d, h, w};
  if (h > 0) return Sizes{h, w > 0 ? w : h};
  return w > 0 ? Sizes{w} : Sizes{};
}

Result<std::vector<ops::Dims>> parse_benchdnn_shapes(std::string_view text) {
  std::string_view sizes = text.substr(0, text.find('n'));
  while (sizes.ends_with('_')) sizes.remove_suffix(1);
  auto shapes = ops::parse_dims_list(sizes);
  if (!shapes) return Error{"the sizes are not numbers above 0, joined by `x` and `:`", {}, {}};
  return *std::move(shapes);
}

}  // namespace bench
