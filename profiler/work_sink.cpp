// SPDX-License-Identifier: Apache-2.0
#include "profiler/reader.hpp"

#include <utility>

namespace bench {
namespace {

// What the activity says itself stands.
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
  add_number(attributes, Attribute::bytes, work.bytes);
}

}  // namespace

WorkSink::WorkSink(WorkOf work_of, ActivitySink& next)
    : work_of_(std::move(work_of)), next_(next) {}

Status WorkSink::take(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  const bool known =
      attributes.find(Attribute::flops) != nullptr || attributes.find(Attribute::bytes) != nullptr;
  if (known || !work_of_) return next_.take(activity);
  const auto work = work_of_(activity);
  if (!work) return next_.take(activity);
  copy_ = activity;
  add_work(copy_, *work);
  return next_.take(copy_);
}

}  // namespace bench
