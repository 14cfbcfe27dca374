// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_text.hpp"

#include "base/characters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

// Larger sizes are rejected. No real tensor has a larger size, and products of two sizes fit into
// 64 bits.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;

// Removes a decimal number from the front of `text` and returns it.
std::optional<std::int64_t> cut_number(std::string_view& text) {
  std::int64_t number = 0;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > kMaxSize) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Returns the value of an axis' name such as "ih" (first 'i', letter 'h'); nullopt if it is
// missing.
std::optional<std::int64_t> find_axis_word(const ProblemWords& words, char first, char letter) {
  const char name[] = {first, letter};
  return words.find(std::string_view(name, sizeof name));
}

// Sets the padding at the end so that it gives the axis' output. Returns false if no padding does.
bool fit_convolution(SpatialAxis& axis) {
  const std::int64_t min_end = (axis.output - 1) * axis.stride + axis.dilation * (axis.kernel - 1) +
                               1 - axis.input - axis.pad.begin;
  const std::int64_t max_end = min_end + axis.stride - 1;
  if (max_end < 0) return false;
  const bool is_symmetric = axis.pad.begin >= min_end && axis.pad.begin <= max_end;
  axis.pad.end = is_symmetric ? axis.pad.begin : std::max<std::int64_t>(min_end, 0);
  return true;
}

// The same for a transposed convolution. Sets output_pad if this makes the padding symmetric.
bool fit_transposed(SpatialAxis& axis) {
  const std::int64_t end = (axis.input - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1 -
                           axis.pad.begin - axis.output;
  const std::int64_t missing = axis.pad.begin - end;
  if (missing >= 0 && missing < std::max(axis.stride, axis.dilation)) {
    axis.pad.end = axis.pad.begin;
    axis.output_pad = missing;
    return true;
  }
  axis.pad.end = end;
  return end >= 0;
}

// Returns whether the axis may be one that old versions write although it does not exist.
bool is_absent(const SpatialAxis& axis) {
  return axis.input == 1 && axis.output == 1 && axis.kernel == 1 && axis.pad == PadPair{};
}

struct NormalisationLetter {
  char letter;
  bool NormalisationFlags::*flag;
  bool NormalisationFlags::*second_flag = nullptr;
};
constexpr std::array<NormalisationLetter, 6> kNormalisationLetters = {
    {{'G', &NormalisationFlags::given_statistics},
     {'S', &NormalisationFlags::scale, &NormalisationFlags::shift},
     {'C', &NormalisationFlags::scale},
     {'H', &NormalisationFlags::shift},
     {'R', &NormalisationFlags::relu},
     {'M', &NormalisationFlags::root_mean_square}}};

}  // namespace

std::optional<Dims> parse_dims(std::string_view text) {
  Dims dims;
  while (true) {
    const auto size = cut_number(text);
    if (!size || *size < 1) return std::nullopt;
    dims.push_back(*size);
    if (text.empty()) return dims;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

std::optional<std::vector<Dims>> parse_dims_list(std::string_view text) {
  std::vector<Dims> list;
  do {
    auto dims = parse_dims(cut_field(text, ':'));
    if (!dims) return std::nullopt;
    list.push_back(std::move(*dims));
  } while (!text.empty());
  return list;
}

std::optional<ProblemWords> ProblemWords::parse(std::string_view text) {
  ProblemWords result;
  while (!text.empty()) {
    if (text.front() == '_') {
      text.remove_prefix(1);
      continue;
    }
    const auto* end = std::ranges::find_if_not(text, is_lower);
    const auto size = static_cast<std::size_t>(end - text.begin());
    const std::string_view name = text.substr(0, size);
    text.remove_prefix(size);
    const auto number = cut_number(text);
    if (name.empty() || !number || result.find(name)) return std::nullopt;
    result.words_.push_back({name, *number});
  }
  return result;
}

std::optional<std::int64_t> ProblemWords::find(std::string_view name) const {
  const auto word = std::ranges::find(words_, name, &Word::name);
  return word == words_.end() ? std::nullopt : std::optional(word->number);
}

bool ProblemWords::has_only(std::span<const std::string_view> names) const {
  return std::ranges::all_of(
      words_, [&](const Word& word) { return std::ranges::find(names, word.name) != names.end(); });
}

std::string_view auxiliary_value(std::string_view auxiliary, std::string_view name) {
  while (!auxiliary.empty()) {
    std::string_view word = cut_field(auxiliary, ' ');
    if (cut_field(word, ':') == name) return word;
  }
  return {};
}

std::optional<double> parse_real(std::string_view written) {
  std::string text(written);
  if (const std::size_t comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<NormalisationFlags> parse_normalisation_flags(std::string_view auxiliary) {
  if (auxiliary.find("flags:") == std::string_view::npos) return std::nullopt;
  std::string_view text = auxiliary_value(auxiliary, "flags");
  constexpr std::array<std::string_view, 8> kNumbers = {"", "G", "S", "GS", "R", "GR", "SR", "GSR"};
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '7') {
    text = kNumbers[static_cast<std::size_t>(text[0] - '0')];
  }
  NormalisationFlags flags;
  for (const char letter : text) {
    const auto* row =
        std::ranges::find(kNormalisationLetters, letter, &NormalisationLetter::letter);
    if (row == kNormalisationLetters.end()) return std::nullopt;
    flags.*(row->flag) = true;
    if (row->second_flag != nullptr) flags.*(row->second_flag) = true;
  }
  return flags;
}

bool has_no_elements(std::string_view problem) {
  if (const auto words = ProblemWords::parse(problem)) return words->find("mb") == 0;
  if (problem.find(':') != std::string_view::npos) return false;
  while (!problem.empty()) {
    if (cut_field(problem, 'x') == "0") return true;
  }
  return false;
}

std::optional<Direction> parse_direction(std::string_view propagation) {
  if (propagation == "forward_training" || propagation == "forward_inference" ||
      propagation == "forward") {
    return Direction::forward;
  }
  if (propagation == "backward_data") return Direction::backward_data;
  if (propagation == "backward_weights") return Direction::backward_weights;
  return std::nullopt;
}

std::optional<SpatialAxis> parse_axis(const ProblemWords& words, char letter, Sweep sweep) {
  const auto input = find_axis_word(words, 'i', letter);
  const auto output = find_axis_word(words, 'o', letter);
  const auto kernel = find_axis_word(words, 'k', letter);
  const auto stride = find_axis_word(words, 's', letter);
  const auto pad = find_axis_word(words, 'p', letter);
  if (!input || !output || !kernel || !stride || !pad) return std::nullopt;
  if (*input < 1 || *output < 1 || *kernel < 1 || *stride < 1) return std::nullopt;
  SpatialAxis axis;
  const std::size_t index = letter == 'd' ? 0 : letter == 'h' ? 1 : 2;
  axis.name = size_names(3)[index];
  axis.input = *input;
  axis.output = *output;
  axis.kernel = *kernel;
  axis.stride = *stride;
  axis.pad.begin = *pad;
  // The library counts dilations from 0. Pools of version 1.x omit it.
  axis.dilation = find_axis_word(words, 'd', letter).value_or(0) + 1;
  const bool fits = sweep == Sweep::transposed ? fit_transposed(axis) : fit_convolution(axis);
  return fits ? std::optional(axis) : std::nullopt;
}

std::optional<std::vector<SpatialAxis>> parse_axes(const ProblemWords& words, Sweep sweep,
                                                   std::optional<std::size_t> rank) {
  std::vector<SpatialAxis> axes;
  for (const char letter : {'d', 'h', 'w'}) {
    if (!find_axis_word(words, 'i', letter)) continue;
    const auto axis = parse_axis(words, letter, sweep);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  constexpr std::size_t kBatchAndChannels = 2;
  while (rank && axes.size() + kBatchAndChannels > *rank && axes.size() > 1) {
    if (!is_absent(axes.front())) return std::nullopt;
    axes.erase(axes.begin());
  }
  const bool is_valid = !axes.empty() && axes.back().name == "w" &&
                        (!rank || axes.size() + kBatchAndChannels == *rank);
  const bool has_gap = axes.size() == 2 && axes.front().name == "d";
  return is_valid && !has_gap ? std::optional(std::move(axes)) : std::nullopt;
}

void set_axes(ParameterSet& set, std::span<const SpatialAxis> axes) {
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> output_pads;
  std::vector<PadPair> pads;
  for (const SpatialAxis& axis : axes) {
    set.set(axis.name, axis.input);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    output_pads.push_back(axis.output_pad);
    pads.push_back(axis.pad);
  }
  set.set("stride", strides);
  set.set("pad", pads);
  if (find_parameter(set.table(), "dilation") != nullptr) set.set("dilation", dilations);
  if (find_parameter(set.table(), "output_pad") != nullptr) set.set("output_pad", output_pads);
}

}  // namespace bench::ops
