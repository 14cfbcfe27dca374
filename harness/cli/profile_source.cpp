// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_source.hpp"

#include "ops/framework_operator.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <optional>
#include <string_view>

namespace bench {

TextSource::WorkFactory operator_work() {
  return [](std::string_view capability) {
    const auto platform = ops::parse_platform(std::string(capability));
    return ops::make_framework_work_provider(platform.ok() ? std::optional(*platform)
                                                           : std::nullopt);
  };
}

Result<std::unique_ptr<TextSource>> open_profile_with_work(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_profile(path));
  source->set_work_factory(operator_work());
  return source;
}

Result<ProfileSet> open_profiles(std::span<const std::string> paths, Alignment alignment) {
  if (alignment == Alignment::start && paths.size() < 2) {
    return Error{"puts several files onto one clock, but one file is given", "--align",
                 "omit it, or name more files"};
  }
  return ProfileSet::open(paths, alignment, operator_work());
}

}  // namespace bench
