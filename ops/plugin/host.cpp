// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/host.hpp"

#include "ops/plugin/c_problem.hpp"

#include <cstdio>
#include <memory>
#include <utility>

namespace bench::ops {
namespace {

bench_status create(void* self, const bench_request* request, const bench_kernel** kernel,
                    bench_message* message) noexcept {
  auto& host = *static_cast<Host*>(self);
  return plugin::detail::guarded(message, [&] {
    auto problem = std::make_unique<const Problem>(value_or_throw(read_problem(*request)));
    auto created = value_or_throw(host.built_in().create(*problem));
    *kernel = export_built_in(std::move(created), std::move(problem), host);
  });
}

}  // namespace

Host::Host(std::string name, Backend& built_in)
    : name_(std::move(name)), built_in_(built_in), raw_{} {
  raw_ = {.size = sizeof(bench_host),
          .abi = BENCH_PLUGIN_ABI,
          .self = this,
          .log =
              [](void* self, const char* text) {
                const auto& host = *static_cast<Host*>(self);
                std::fprintf(stderr, "%s: %s\n", host.name_.c_str(), text == nullptr ? "" : text);
              },
          .range_begin =
              [](void* self, const char* part) {
                static_cast<Host*>(self)->part_begins(part == nullptr ? "" : part);
              },
          .range_end = [](void* self) { static_cast<Host*>(self)->part_ends(); },
          .create = create};
}

}  // namespace bench::ops
