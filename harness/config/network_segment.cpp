// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_segment.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"
#include "harness/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace bench {
namespace {

constexpr std::array<std::string_view, 2> kFlags = {"separate", "training"};

Error make_batch_error(std::string_view text) {
  return Error{fmt::format("a batch is written `n` and a number >= 1, found {}", quote(text)), "",
               "write NAME-n8"};
}

Status parse_batch(std::string_view text, std::int64_t& batch) {
  const char* end = text.data() + text.size();
  if (!text.starts_with('n')) return make_batch_error(text);
  const auto [stop, error] = std::from_chars(text.data() + 1, end, batch);
  if (stop != end || error != std::errc() || batch < 1) return make_batch_error(text);
  return Done{};
}

}  // namespace

bool is_network_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_word);
}

std::string format_network_segment(const NetworkSegment& segment) {
  std::string text = segment.name;
  if (segment.batch != 1) text += fmt::format("-n{}", segment.batch);
  if (segment.fusion == ops::Fusion::separate) text += "+separate";
  if (segment.mode == ops::Mode::training) text += "+training";
  return text;
}

Result<NetworkSegment> parse_network_segment(std::string_view text) {
  NetworkSegment segment;
  const std::size_t name_end = std::min(text.find_first_of("-+"), text.size());
  segment.name = text.substr(0, name_end);
  if (!is_network_name(segment.name)) {
    return Error{
        fmt::format("a network's name has letters, digits and _, found {}", quote(segment.name)),
        "", ""};
  }
  text.remove_prefix(name_end);
  if (text.starts_with('-')) {
    const std::size_t end = std::min(text.find('+'), text.size());
    BENCH_RETURN_IF_ERROR(parse_batch(text.substr(1, end - 1), segment.batch));
    text.remove_prefix(end);
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+', 1), text.size());
    const std::string_view flag = text.substr(1, end - 1);
    if (flag == kFlags[0]) {
      segment.fusion = ops::Fusion::separate;
    } else if (flag == kFlags[1]) {
      segment.mode = ops::Mode::training;
    } else {
      return Error{fmt::format("unknown flag {} of a network", quote(flag)), "",
                   expectation(flag, kFlags)};
    }
    text.remove_prefix(end);
  }
  return segment;
}

}  // namespace bench
