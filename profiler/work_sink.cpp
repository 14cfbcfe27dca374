// SPDX-License-Identifier: Apache-2.0
#include "profiler/work_sink.hpp"

#include <utility>

namespace bench {
namespace {

// The add_ functions below do not change values that the activity already has.
void add_text(Attributes& attributes, Attribute attribute, const std::string& text) {
  if (!text.empty() && attributes.find(attribute) == nullptr) attributes.set(attribute, text);
}

void add_number(Attributes& attributes, Attribute attribute, std::int64_t number) {
  if (attributes.find(attribute) == nullptr) attributes.set(attribute, number);
}

void add_work(Activity& activity, const ActivityWork& work) {
  Attributes& attributes = activity.attributes;
  add_text(attributes, Attribute::op, work.op);
  add_text(attributes, Attribute::parameters, work.parameters);
  add_text(attributes, Attribute::dtype, work.dtype);
  add_text(attributes, Attribute::in_shapes, work.in_shapes);
  add_text(attributes, Attribute::out_shapes, work.out_shapes);
  if (work.macs) add_number(attributes, Attribute::macs, *work.macs);
  add_number(attributes, Attribute::flops, work.flops);
  if (work.bytes) add_number(attributes, Attribute::bytes, *work.bytes);
}

// Sets `known` to the value from the file if the operators do not know it. Keeps `given`, the value
// from the file, only if the operators' value differs.
void merge_given(Attributes& attributes, Attribute given, Attribute known) {
  const auto in_file = attributes.integer(given);
  if (!in_file) return;
  if (attributes.find(known) == nullptr) attributes.set(known, *in_file);
  if (attributes.integer(known) == in_file) attributes.erase(given);
}

}  // namespace

WorkSink::WorkSink(WorkProvider compute_work, ActivitySink& next)
    : work_of_(std::move(compute_work)), next_(next) {}

Status WorkSink::consume(const Activity& activity) {
  const auto has = [&](Attribute attribute) {
    return activity.attributes.find(attribute) != nullptr;
  };
  if (has(Attribute::flops) || has(Attribute::bytes)) return next_.consume(activity);
  const bool is_given = has(Attribute::given_flops) || has(Attribute::given_bytes);
  const auto work = work_of_ ? work_of_(activity) : std::nullopt;
  if (!work && !is_given) return next_.consume(activity);
  copy_ = activity;
  if (work) add_work(copy_, *work);
  if (is_given) {
    merge_given(copy_.attributes, Attribute::given_flops, Attribute::flops);
    merge_given(copy_.attributes, Attribute::given_bytes, Attribute::bytes);
  }
  return next_.consume(copy_);
}

}  // namespace bench
