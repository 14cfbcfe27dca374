// SPDX-License-Identifier: Apache-2.0
#include "harness/report/short_id.hpp"

#include "harness/result/record.hpp"

#include <initializer_list>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kElided = "...";

// Indices of segments in an id.
enum Segment : std::size_t { direction = 1, dtype = 3, backend = 4, device = 5 };

// The segments of an id, without its options.
using Parts = std::array<std::string, 7>;

Parts split_parts(const IdSegments& id) {
  return {id.op, id.direction, id.parameters, id.dtype, id.backend, id.device, id.cache};
}

// A set of segments.
using Mask = std::array<bool, 7>;

Mask make_mask(std::initializer_list<Segment> segments) {
  Mask mask{};
  for (Segment segment : segments) mask[segment] = true;
  return mask;
}

Mask intersect(Mask a, const Mask& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] && b[i];
  return a;
}

Mask unite(Mask a, const Mask& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

// Joins the parts of an id; each group of adjacent parts in `left_out` becomes one "...".
std::string join(const Parts& parts, std::string_view options, const Mask& left_out) {
  std::string text;
  bool was_elided = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_elided = left_out[i];
    if (is_elided && was_elided) continue;
    if (i > 0) text += '/';
    text += is_elided ? kElided : std::string_view(parts[i]);
    was_elided = is_elided;
  }
  if (!options.empty()) text.append("/").append(options);
  return text;
}

}  // namespace

IdShortener::IdShortener(const std::vector<std::string_view>& ids) {
  shared_.fill(true);
  if (ids.empty()) return;
  const Parts first = split_parts(split_id(ids.front()));
  for (std::string_view id : ids) {
    const Parts parts = split_parts(split_id(id));
    for (std::size_t i = 0; i < kSegments; ++i) shared_[i] = shared_[i] && parts[i] == first[i];
  }
}

std::vector<std::string> IdShortener::forms(std::string_view id) const {
  const IdSegments segments = split_id(id);
  if (segments.cache.empty()) return {};  // not a canonical id: its parts are unknown
  const Parts parts = split_parts(segments);
  const Mask shared_machine = intersect(make_mask({dtype, backend, device}), shared_);
  const Mask shared = intersect(make_mask({direction, dtype, backend, device}), shared_);
  const Mask shared_or_backend = unite(shared, make_mask({backend, device}));
  return {join(parts, segments.options, shared_machine), join(parts, segments.options, shared),
          join(parts, segments.options, shared_or_backend)};
}

std::string IdShortener::shortest(std::string_view id) const {
  std::vector<std::string> shorter = forms(id);
  return shorter.empty() ? std::string(id) : std::move(shorter.back());
}

void shorten_ids(std::vector<TextRow>& rows, std::size_t column) {
  std::vector<std::string_view> ids;
  for (const TextRow& row : rows) ids.push_back(row.cells[column].text);
  const IdShortener shortener(ids);
  for (TextRow& row : rows) row.cells[column].shorter = shortener.forms(row.cells[column].text);
}

}  // namespace bench
