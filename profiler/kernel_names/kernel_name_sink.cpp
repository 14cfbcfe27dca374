// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

namespace bench {

Status KernelNameSink::take(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  const bool open =
      activity.kind == ActivityKind::kernel && attributes.find(Attribute::tensor_cores) == nullptr;
  if (!open) return next_.take(activity);
  const TensorCoreVerdict verdict =
      names_.tensor_cores(activity.name, attributes.text(Attribute::long_name));
  if (verdict.use == TensorCoreUse::unknown) return next_.take(activity);
  copy_ = activity;
  copy_.attributes.set(Attribute::tensor_cores, text_of(verdict));
  return next_.take(copy_);
}

}  // namespace bench
