// SPDX-License-Identifier: Apache-2.0
#include "harness/result/sample_remarks.hpp"

#include "base/characters.hpp"

#include <algorithm>

namespace bench {
namespace {

// "SM clock 1.21 GHz, 68 %" -> "SM clock #.# GHz, # %"
std::string without_numbers(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_digit(c)) {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

}  // namespace

void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times) {
  remarks.count += times;
  const auto exact = remarks.reasons.find(reason);
  if (exact != remarks.reasons.end()) {
    exact->second += times;
    return;
  }
  const std::string kind = without_numbers(reason);
  const auto known = std::ranges::find_if(
      remarks.reasons, [&](const auto& row) { return without_numbers(row.first) == kind; });
  if (known != remarks.reasons.end()) {
    known->second += times;
  } else if (remarks.reasons.size() < kMaxReasons) {
    remarks.reasons[reason] = times;
  } else {
    remarks.reasons[kOtherReasons] += times;
  }
}

void add_remarks(std::optional<SampleRemarks>& to, const std::optional<SampleRemarks>& from) {
  if (!from) return;
  if (!to) to.emplace();
  std::int64_t told = 0;
  for (const auto& [reason, times] : from->reasons) {
    add_remark(*to, reason, times);
    told += times;
  }
  to->count += std::max<std::int64_t>(from->count - told, 0);
}

std::string most_frequent_reason(const SampleRemarks& remarks) {
  const auto most =
      std::ranges::max_element(remarks.reasons, {}, [](const auto& row) { return row.second; });
  return most == remarks.reasons.end() ? "" : most->first;
}

}  // namespace bench
