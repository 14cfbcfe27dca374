// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

namespace bench {

Status KernelNameSink::consume(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  const bool needs_verdict =
      activity.kind == ActivityKind::kernel && attributes.find(Attribute::tensor_cores) == nullptr;
  if (!needs_verdict) return next_.consume(activity);
  const TensorCoreVerdict verdict =
      names_.tensor_cores(activity.name, attributes.text(Attribute::long_name));
  if (verdict.use == TensorCoreUse::unknown) return next_.consume(activity);
  copy_ = activity;
  copy_.attributes.set(Attribute::tensor_cores, format_verdict(verdict));
  return next_.consume(copy_);
}

}  // namespace bench
