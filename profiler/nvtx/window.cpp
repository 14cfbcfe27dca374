// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/window.hpp"

#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace bench {
namespace {

constexpr std::string_view kProfilerApi = "cuda-profiler-api";
constexpr std::string_view kNamedRange = "nvtx:";

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<RangeNumbers> parse_numbers(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return RangeNumbers{*first, *last};
}

Error window_error(std::string what) {
  return Error{std::move(what), "--window",
               "expected nvtx:NAME, A-B (ranges A to B, from 0), both of them, or "
               "cuda-profiler-api"};
}

}  // namespace

Result<CaptureWindow> parse_capture_window(std::span<const std::string> words) {
  CaptureWindow window;
  for (const std::string& word : words) {
    if (word == kProfilerApi) {
      if (words.size() > 1)
        return window_error("cuda-profiler-api cannot be combined with other windows");
      window.kind = CaptureWindow::Kind::profiler_api;
      continue;
    }
    window.kind = CaptureWindow::Kind::by_range;
    if (word.starts_with(kNamedRange) && word.size() > kNamedRange.size() && !window.name) {
      window.name = word.substr(kNamedRange.size());
    } else if (const auto numbers = parse_numbers(word); numbers && !window.numbers) {
      window.numbers = numbers;
    } else {
      return window_error(fmt::format("{} is not a valid window", quote(word)));
    }
  }
  return window;
}

std::string describe(const CaptureWindow& window) {
  if (window.kind == CaptureWindow::Kind::all) return "everything";
  if (window.kind == CaptureWindow::Kind::profiler_api) {
    return "from cudaProfilerStart to cudaProfilerStop";
  }
  std::string text =
      window.numbers && window.numbers->first == window.numbers->last
          ? fmt::format("range {}", window.numbers->first)
      : window.numbers ? fmt::format("ranges {} to {}", window.numbers->first, window.numbers->last)
                       : std::string("ranges");
  text += window.name ? fmt::format(" named `{}`", *window.name) : " of the outermost ones";
  return text;
}

void WindowState::open(Nanoseconds at) {
  if (!spans_.empty() && !spans_.back().end) return;
  // Threads may write slightly out of order.
  if (!spans_.empty()) at = std::max(at, *spans_.back().end);
  spans_.push_back({at, std::nullopt});
}

void WindowState::close(Nanoseconds at) {
  if (spans_.empty() || spans_.back().end) return;
  spans_.back().end = std::max(at, spans_.back().begin);
}

WindowState::RangeRole WindowState::begin_range(std::string_view name, Level level,
                                                Nanoseconds at) {
  if (window_->kind != CaptureWindow::Kind::by_range) return RangeRole::none;
  if (window_->name ? name != *window_->name : level == Level::nested) return RangeRole::none;
  const std::int64_t number = counted_ranges_++;
  if (!window_->numbers) {
    if (open_ranges_++ == 0) open(at);
    return RangeRole::inside;
  }
  const bool first = number == window_->numbers->first;
  const bool last = number == window_->numbers->last;
  if (first) open(at);
  if (first && last) return RangeRole::opens_and_closes;
  return first ? RangeRole::opens : last ? RangeRole::closes : RangeRole::none;
}

void WindowState::end_range(RangeRole role, Nanoseconds at) {
  if (role == RangeRole::inside && --open_ranges_ == 0) close(at);
  if (role == RangeRole::closes || role == RangeRole::opens_and_closes) close(at);
}

void WindowState::start_profiler(Nanoseconds at) {
  if (window_->kind == CaptureWindow::Kind::profiler_api) open(at);
}

void WindowState::stop_profiler(Nanoseconds at) {
  if (window_->kind == CaptureWindow::Kind::profiler_api) close(at);
}

std::vector<std::pair<Nanoseconds, Nanoseconds>> WindowState::open_times(Nanoseconds begin,
                                                                         Nanoseconds end) const {
  if (window_->kind == CaptureWindow::Kind::all) return {{begin, end}};
  std::vector<std::pair<Nanoseconds, Nanoseconds>> times;
  for (const Span& span : spans_) {
    const Nanoseconds first = std::max(begin, span.begin);
    const Nanoseconds last = std::min(end, span.end.value_or(end));
    if (first < last) times.emplace_back(first, last);
  }
  return times;
}

bool WindowState::contains(Nanoseconds start) const {
  if (window_->kind == CaptureWindow::Kind::all) return true;
  auto after = std::ranges::upper_bound(spans_, start, {}, &Span::begin);
  if (after == spans_.begin()) return false;
  const Span& span = *std::prev(after);
  return !span.end || start <= *span.end;
}

WindowState WindowState::forked(Nanoseconds at) const {
  WindowState child(*window_);
  child.counted_ranges_ = counted_ranges_;
  child.open_ranges_ = open_ranges_;
  if (!spans_.empty() && !spans_.back().end) child.open(at);
  return child;
}

}  // namespace bench
