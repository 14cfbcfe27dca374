// SPDX-License-Identifier: Apache-2.0
#include "harness/result/result_text.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

constexpr std::string_view kRecord = "{\"record\":";
constexpr std::array<std::string_view, 2> kActivity = {"{\"record\":\"activity\"",
                                                       "{\"record\": \"activity\""};
constexpr std::string_view kNext = "name a file that `bench run` wrote";

std::string format_size(std::size_t bytes) {
  return format_bytes(Bytes{static_cast<std::int64_t>(bytes)});
}

// A killed run may leave an incomplete activity, followed by a record of the next file (`cat a b`).
// Such a line is kept, so that its reader can separate them.
bool is_activity(std::string_view line) {
  return std::ranges::any_of(kActivity,
                             [&](std::string_view begin) { return line.starts_with(begin); }) &&
         line.find(kRecord, 1) == std::string_view::npos;
}

// Appends blocks to a text and removes activities from it.
class ActivityCutter {
 public:
  ActivityCutter(const std::string& path, const ResultLimits& limits, std::string& text)
      : path_(path), limits_(limits), text_(text), file_(text.size()), line_(text.size()) {}

  Status take(std::string_view block) {
    while (!block.empty()) {
      const std::size_t newline = block.find('\n');
      text_ += block.substr(0, newline);
      BENCH_RETURN_IF_ERROR(check());
      if (newline == std::string_view::npos) return Done{};
      end_line();
      block.remove_prefix(newline + 1);
    }
    return Done{};
  }

 private:
  void end_line() {
    if (is_activity(std::string_view(text_).substr(line_))) text_.resize(line_);
    text_ += '\n';
    line_ = text_.size();
    ++number_;
  }

  Status check() const {
    if (text_.size() - line_ > limits_.line) {
      return Error{fmt::format("the line is longer than {}, more than any record",
                               format_size(limits_.line)),
                   fmt::format("{}:{}", path_, number_), std::string(kNext)};
    }
    const std::size_t size = text_.size() - file_;
    if (size > limits_.document && !std::string_view(text_).substr(file_).starts_with(kRecord)) {
      return Error{
          fmt::format("the JSON document is larger than {}", format_size(limits_.document)), path_,
          "name the result file from which it was made"};
    }
    if (text_.size() > limits_.records) {
      return Error{fmt::format("there are more than {} of records without activities",
                               format_size(limits_.records)),
                   path_, "name fewer files, or measure in parts with --shard"};
    }
    return Done{};
  }

  const std::string& path_;
  const ResultLimits& limits_;
  std::string& text_;
  std::size_t file_;        // start of the file in the text
  std::size_t line_;        // start of the line in the text
  std::size_t number_ = 1;  // number of the line
};

}  // namespace

Result<std::string> read_result_text(const std::string& path, const ResultLimits& limits) {
  std::string text;
  BENCH_RETURN_IF_ERROR(append_result_text(path, limits, text));
  return text;
}

Status append_result_text(const std::string& path, const ResultLimits& limits, std::string& text) {
  // A text that grows while it is read would be copied several times.
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) text.reserve(text.size() + std::min<std::uintmax_t>(size + 1, limits.records));
  ActivityCutter collector(path, limits, text);
  return read_blocks(path, [&](std::string_view block) { return collector.take(block); });
}

}  // namespace bench
