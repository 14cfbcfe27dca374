// SPDX-License-Identifier: Apache-2.0
#include "harness/result/result_text.hpp"

#include "base/text.hpp"
#include "profiler/byte_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kRecordPrefix = "{\"record\":";
constexpr std::array<std::string_view, 2> kActivityPrefixes = {"{\"record\":\"activity\"",
                                                               "{\"record\": \"activity\""};
constexpr std::string_view kNextStep = "name a file that `bench run` wrote";

std::string format_size(std::size_t bytes) {
  return format_bytes(Bytes{static_cast<std::int64_t>(bytes)});
}

// Returns false for an incomplete activity of a killed run with a record of the next file after it
// (`cat a b`). The parser separates the two.
bool is_activity(std::string_view line) {
  return std::ranges::any_of(kActivityPrefixes,
                             [&](std::string_view begin) { return line.starts_with(begin); }) &&
         line.find(kRecordPrefix, 1) == std::string_view::npos;
}

// Appends the blocks of a file to a text and removes activities from it.
class ActivityFilter {
 public:
  ActivityFilter(const std::string& path, const ResultLimits& limits, std::string& text)
      : path_(path),
        limits_(limits),
        text_(text),
        file_start_(text.size()),
        line_start_(text.size()) {}

  Status append(std::string_view block) {
    while (!block.empty()) {
      const std::size_t newline = block.find('\n');
      text_ += block.substr(0, newline);
      BENCH_RETURN_IF_ERROR(check_limits());
      if (newline == std::string_view::npos) return Done{};
      end_line();
      block.remove_prefix(newline + 1);
    }
    return Done{};
  }

 private:
  void end_line() {
    if (is_activity(std::string_view(text_).substr(line_start_))) text_.resize(line_start_);
    text_ += '\n';
    line_start_ = text_.size();
    ++line_number_;
  }

  Status check_limits() const {
    if (text_.size() - line_start_ > limits_.line) {
      return Error{fmt::format("the line is longer than {}, more than any record",
                               format_size(limits_.line)),
                   fmt::format("{}:{}", path_, line_number_), std::string(kNextStep)};
    }
    const std::size_t size = text_.size() - file_start_;
    if (size > limits_.document &&
        !std::string_view(text_).substr(file_start_).starts_with(kRecordPrefix)) {
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
  std::size_t file_start_;       // position in text_
  std::size_t line_start_;       // position of the current line in text_
  std::size_t line_number_ = 1;  // number of the current line in the file
};

}  // namespace

Result<std::string> read_result_text(const std::string& path, const ResultLimits& limits) {
  std::string text;
  BENCH_RETURN_IF_ERROR(append_result_text(path, limits, text));
  return text;
}

Status append_result_text(const std::string& path, const ResultLimits& limits, std::string& text) {
  // Reserves memory, since a growing text would be copied several times.
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) text.reserve(text.size() + std::min<std::uintmax_t>(size + 1, limits.records));
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, open_bytes(path));
  bytes = as_utf8(std::move(bytes));
  ActivityFilter filter(path, limits, text);
  std::string block(65536, '\0');
  for (;;) {
    BENCH_ASSIGN_OR_RETURN(const std::size_t count, bytes->read(block.data(), block.size()));
    if (count == 0) return Done{};
    BENCH_RETURN_IF_ERROR(filter.append(std::string_view(block).substr(0, count)));
  }
}

}  // namespace bench
