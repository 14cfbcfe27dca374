// SPDX-License-Identifier: Apache-2.0
// Memory descriptors in the format of oneDNN's verbose lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The members are views into the text.
struct MemoryDescriptor {
  std::string_view argument;  // "src", "wei", "diff_src", "src_layer"
  // "f32"; "undef" if there is no such tensor; empty in most lines of MKL-DNN 0.x
  std::string_view dtype;
  std::string_view properties;  // a: layout chosen by the library, p: padded, o, 0: offsets
  std::string_view kind;        // "blocked", "any", "wino", ...
  std::string_view tag;         // "aBcd16b"
  std::string_view strides;     // "40x1" if the tensor is not dense
  std::string_view flags;       // "f0", "f1:s8m1", "f0_mask8"

  bool is_defined() const {
    return dtype != "undef" && tag != "undef" && !(dtype.empty() && tag.empty());
  }
  // Returns the number of dimensions in the tag, or nullopt if the kind has no tag.
  std::optional<std::size_t> rank() const;
};

// Appends the descriptors of "fsrc:nChw8c fdst:nchw" or "in:f32_nchw out:f32_nChw8c" (until 0.21),
// "src_f32::blocked:abcd:f0 dst_f32:..." (until 3.5) or "src:f32::blocked:abcd::f0 dst:f32:..."
// (since 3.6). Skips anything else.
void parse_memory_descriptors(std::string_view text, std::vector<MemoryDescriptor>& descriptors);

// Tags of dense tensors without blocks. Plain: "abcd". Channels last: "acdb", plain if there are
// fewer than three dimensions. Swapped: the last two dimensions of a plain tag, "abdc".
std::string plain_tag(std::size_t rank);
std::string channels_last_tag(std::size_t rank);
std::string swapped_tag(std::size_t rank);

}  // namespace bench
