// SPDX-License-Identifier: Apache-2.0
// Lines of a log as the program printed them, without what terminals, web pages and collectors of
// logs made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Removes escape sequences of a terminal (colours), NUL bytes and characters without a width.
// Blanks that do not break ("&nbsp;" too) become blanks. Returns the line itself if it has none of
// these, else a view into `buffer`.
std::string_view clean_log_line(std::string_view line, std::string& buffer);

// Unpacks lines of a collector that stores each line of a program as a member of a JSON object:
// {"log":"...\n","stream":"stdout"}. The first record shows which member that is.
class JsonLogLines {
 public:
  // Returns the program's lines in `line`, which are valid until the next call. Returns nullopt if
  // the line is not such an object, or no line before showed which member contains the lines.
  std::optional<std::vector<std::string_view>> unpack(std::string_view line);

 private:
  std::vector<std::string> path_;  // names of the member and of the object that contains it
  std::string text_;
};

// Returns the size of the quote, punctuation, tag or entity of HTML, or escaped line end that
// follows a record at the end of `text`. Returns 0 if the last character belongs to the record.
std::size_t closing_size(std::string_view text);

// The labels that launchers of distributed jobs write before each line of a process' output.

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
