// SPDX-License-Identifier: Apache-2.0
// The labels that launchers of distributed jobs write before each line of a process' output.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench {

// A line's label and the text behind it.
struct LabelledLine {
  std::int64_t rank = 0;
  std::string_view text;
};

// Recognises the labels of Open MPI ("[1,0]<stdout>:", "[host@1,0]<stderr>:"), Horovod
// ("[0]<stdout>:"), MPICH and Intel MPI ("[0] "), Slurm ("0: ") and torchrun ("[default0]:",
// "[rank0]:"). Text before an Open MPI label, such as a time, is skipped. Returns nullopt if the
// line begins otherwise.
std::optional<LabelledLine> parse_launcher_prefix(std::string_view line);

}  // namespace bench
