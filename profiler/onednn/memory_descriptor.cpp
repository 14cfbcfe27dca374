// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/memory_descriptor.hpp"

#include "base/characters.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

bool is_properties(std::string_view text) {
  return text.find_first_not_of("apo0") == std::string_view::npos;
}

// Splits "src_layer_f32" into argument and data type. 8-bit and 4-bit types contain a '_'
// themselves: "f8_e5m2".
void split_name(std::string_view name, MemoryDescriptor& descriptor) {
  std::size_t cut_at = name.rfind('_');
  if (cut_at == std::string_view::npos) {
    descriptor.dtype = name;
    return;
  }
  const bool has_exponent =
      cut_at + 2 < name.size() && name[cut_at + 1] == 'e' && is_digit(name[cut_at + 2]);
  if (has_exponent && name.find('m', cut_at) != std::string_view::npos && cut_at > 0) {
    const std::size_t before = name.rfind('_', cut_at - 1);
    if (before != std::string_view::npos) cut_at = before;
  }
  descriptor.argument = name.substr(0, cut_at);
  descriptor.dtype = name.substr(cut_at + 1);
}

// Splits what follows the kind. oneDNN 2.x writes "tag:f0"; 3.1 and later write "tag:strides:f0".
// Extra flags follow after further colons.
void split_layout(std::string_view text, MemoryDescriptor& descriptor) {
  descriptor.tag = cut_field(text, ':');
  const bool is_flags = text.size() > 1 && text[0] == 'f' && is_digit(text[1]);
  if (!is_flags) descriptor.strides = cut_field(text, ':');
  descriptor.flags = text;
}

// The arguments of MKL-DNN 0.x. It prints data types for reorders only: "in:f32_nchw".
struct OldArgument {
  std::string_view printed;
  std::string_view argument;
};
constexpr std::array<OldArgument, 8> kOldArguments = {{{"in", "src"},
                                                       {"out", "dst"},
                                                       {"fsrc", "src"},
                                                       {"fwei", "wei"},
                                                       {"fbia", "bia"},
                                                       {"fdst", "dst"},
                                                       {"fdata", "data"},
                                                       {"fdiff", "diff"}}};

bool parse_old(std::string_view text, MemoryDescriptor& descriptor) {
  const std::string_view name = cut_field(text, ':');
  const auto* row = std::ranges::find(kOldArguments, name, &OldArgument::printed);
  if (row == kOldArguments.end()) return false;
  descriptor.argument = row->argument;
  descriptor.kind = "blocked";
  if (name == "in" || name == "out") descriptor.dtype = cut_field(text, '_');
  descriptor.tag = text;
  return !text.empty();
}

bool parse(std::string_view text, MemoryDescriptor& descriptor) {
  const auto colons = std::ranges::count(text, ':');
  if (colons == 0) return false;
  if (colons == 1) return parse_old(text, descriptor);
  const std::string_view name = cut_field(text, ':');
  const std::string_view second = text.substr(0, text.find(':'));
  if (is_properties(second)) {
    split_name(name, descriptor);
  } else {
    descriptor.argument = name;
    descriptor.dtype = cut_field(text, ':');
  }
  descriptor.properties = cut_field(text, ':');
  descriptor.kind = cut_field(text, ':');
  split_layout(text, descriptor);
  return !descriptor.argument.empty() && !descriptor.dtype.empty();
}

}  // namespace

std::optional<std::size_t> MemoryDescriptor::rank() const {
  const auto end = std::find_if_not(tag.begin(), tag.end(), is_letter);
  if (end == tag.begin() || kind != "blocked") return std::nullopt;
  return static_cast<std::size_t>(end - tag.begin());
}

void parse_memory_descriptors(std::string_view text, std::vector<MemoryDescriptor>& descriptors) {
  while (!text.empty()) {
    const std::string_view word = cut_field(text, ' ');
    MemoryDescriptor descriptor;
    if (parse(word, descriptor)) descriptors.push_back(descriptor);
  }
}

std::string plain_tag(std::size_t rank) { return std::string("abcdefghijkl").substr(0, rank); }

std::string channels_last_tag(std::size_t rank) {
  std::string tag = plain_tag(rank);
  if (tag.size() > 2) std::rotate(tag.begin() + 1, tag.begin() + 2, tag.end());
  return tag;
}

std::string swapped_tag(std::size_t rank) {
  std::string tag = plain_tag(rank);
  if (tag.size() >= 2) std::swap(tag[tag.size() - 2], tag[tag.size() - 1]);
  return tag;
}

}  // namespace bench
