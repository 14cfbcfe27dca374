// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/launcher_prefix.hpp"

#include "base/characters.hpp"
#include "base/number.hpp"

#include <array>

namespace bench {
namespace {

// A label is `begin`, a rank, `end`.
struct LabelRow {
  std::string_view begin;
  std::string_view end;
};
constexpr std::array<LabelRow, 4> kLabels = {
    {{"[default", "]:"}, {"[rank", "]:"}, {"[", "] "}, {"", ": "}}};

std::optional<LabelledLine> parse_label(std::string_view line, const LabelRow& row) {
  if (!line.starts_with(row.begin)) return std::nullopt;
  line.remove_prefix(row.begin.size());
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  const auto rank = parse_number<std::int64_t>(line.substr(0, digits));
  if (!rank || !line.substr(digits).starts_with(row.end)) return std::nullopt;
  return LabelledLine{*rank, line.substr(digits + row.end.size())};
}

// Open MPI's label contains the job's number and the rank, "1,0", maybe after a name and '@'. That
// of Horovod contains the rank alone, "0".
std::optional<LabelledLine> parse_open_mpi(std::string_view line) {
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"}) {
    const std::size_t end = line.find(stream);
    if (end == std::string_view::npos) continue;
    const std::string_view label = line.substr(0, end);
    const std::size_t begin = label.find_last_of("[,");
    if (begin == std::string_view::npos || label.rfind('[') == std::string_view::npos) continue;
    const auto rank = parse_number<std::int64_t>(label.substr(begin + 1));
    if (rank) return LabelledLine{*rank, line.substr(end + stream.size())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LabelledLine> parse_launcher_prefix(std::string_view line) {
  if (const auto labelled = parse_open_mpi(line)) return labelled;
  const std::size_t first = line.find_first_not_of(' ');  // Slurm aligns the ranks
  if (first == std::string_view::npos) return std::nullopt;
  for (const LabelRow& row : kLabels) {
    if (const auto labelled = parse_label(line.substr(first), row)) return labelled;
  }
  return std::nullopt;
}

}  // namespace bench
