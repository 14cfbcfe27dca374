// SPDX-License-Identifier: Apache-2.0
#include "harness/host/system_files.hpp"

#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
// A larger number is not a valid processor number.
constexpr int kMaxProcessor = 1 << 16;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::optional<std::string> read_text(const SystemRoot& root, const std::string& path) {
  std::ifstream file(root.path + path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  // Some files of /sys exist but cannot be read.
  if (file.bad() || text.str().empty()) return std::nullopt;
  return text.str();
}

std::optional<std::string> read_line(const SystemRoot& root, const std::string& path) {
  const std::optional<std::string> text = read_text(root, path);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_integer(const SystemRoot& root, const std::string& path) {
  const std::optional<std::string> text = read_text(root, path);
  return text ? parse_integer(*text) : std::nullopt;
}

std::optional<std::string> find_labelled_value(std::string_view text, std::string_view label) {
  for (const NumberedLine& line : Lines(text)) {
    const std::size_t colon = line.text.find(':');
    if (colon == std::string_view::npos || trim(line.text.substr(0, colon)) != label) continue;
    return std::string(trim(line.text.substr(colon + 1)));
  }
  return std::nullopt;
}

std::vector<int> parse_range_list(std::string_view text) {
  std::vector<int> items;
  text = trim(text);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    int first = 0;
    const auto [middle, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    if (error != std::errc()) return items;
    int last = first;
    if (middle != part.data() + part.size()) {
      if (*middle != '-') return items;
      if (std::from_chars(middle + 1, part.data() + part.size(), last).ec != std::errc()) {
        return items;
      }
    }
    if (first < 0 || last > kMaxProcessor) return items;
    for (int i = first; i <= last; ++i) items.push_back(i);
  }
  return items;
}

std::optional<std::int64_t> parse_cache_size(std::string_view text) {
  text = trim(text);
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number) return std::nullopt;
  switch (text.back()) {
    case 'K':
      return *number << 10;
    case 'M':
      return *number << 20;
    case 'G':
      return *number << 30;
    default:
      return number;
  }
}

std::optional<std::string> find_bracketed_word(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

std::vector<std::string> read_process_fields(const SystemRoot& root, std::string_view process) {
  const std::string text = read_text(root, fmt::format("/proc/{}/stat", process)).value_or("");
  // The second field is the program's name in parentheses, which may contain anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream words(text.substr(name_end + 1));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields;
}

SchedulingFacts read_scheduling(const SystemRoot& root) {
  const std::vector<std::string> fields = read_process_fields(root, "self");
  constexpr std::size_t kNiceField = 19 - 3;
  constexpr std::size_t kPolicyField = 41 - 3;
  constexpr std::array<std::string_view, 7> kPolicies = {"other", "fifo", "rr",      "batch",
                                                         "",      "idle", "deadline"};
  SchedulingFacts facts;
  if (fields.size() > kNiceField) facts.nice = parse_integer(fields[kNiceField]);
  if (fields.size() <= kPolicyField) return facts;
  const auto policy = parse_integer(fields[kPolicyField]);
  if (policy && *policy >= 0 && static_cast<std::size_t>(*policy) < kPolicies.size())
    facts.policy = kPolicies[static_cast<std::size_t>(*policy)];
  return facts;
}

namespace {

// Returns the path of a line of /proc/PID/maps if it maps the code of a file; empty otherwise. Such
// a line is "5581-5582 r-xp 00000000 08:01 1234    /lib/libc.so.6".
std::string_view mapped_code(std::string_view line) {
  const std::size_t permissions = line.find(' ') + 1;
  constexpr std::size_t kExecutable = 2;  // position in "r-xp"
  if (permissions == 0 || permissions + kExecutable >= line.size()) return {};
  if (line[permissions + kExecutable] != 'x') return {};
  const std::size_t path = line.find('/');
  return path == std::string_view::npos ? std::string_view() : line.substr(path);
}

}  // namespace

std::optional<ProcessFiles> read_process_files(const SystemRoot& root, pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/", pid);
  std::error_code code;
  const auto program = std::filesystem::read_symlink(root.path + folder + "exe", code);
  const std::optional<std::string> maps = read_text(root, folder + "maps");
  if (code || !maps) return std::nullopt;
  ProcessFiles files{program.string(), {}};
  std::set<std::string, std::less<>> libraries;
  for (const NumberedLine& line : Lines(*maps)) {
    const std::string_view path = mapped_code(line.text);
    if (!path.empty() && path != files.program) libraries.emplace(path);
  }
  files.libraries.assign(libraries.begin(), libraries.end());
  return files;
}

namespace {

// Each step is a bijection of the state, so a single changed word always changes the digest.
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;  // odd
  constexpr int kRotation = 31;
  return std::rotl((state ^ word) * kFactor, kRotation);
}

}  // namespace

std::optional<std::string> digest_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return std::nullopt;
  const auto size = std::filesystem::file_size(path, code);
  if (code || size > static_cast<std::uintmax_t>(kMaxDigestedFile)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  constexpr std::size_t kPart = std::size_t{1} << 18;
  std::vector<char> part(kPart);
  std::uint64_t state = 0, read = 0;
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    read += count;
    std::fill(part.begin() + static_cast<std::ptrdiff_t>(count), part.end(), '\0');
    for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, part.data() + i, sizeof(word));
      state = mix(state, word);
    }
  }
  if (read != size) return std::nullopt;  // it was changed, or cannot be read
  return fmt::format("{:016x}", mix(state, size));
}

}  // namespace bench
