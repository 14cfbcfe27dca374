// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/host.hpp"

#include "ops/operator.hpp"
#include "ops/plugin/c_call.hpp"
#include "ops/plugin/read_problem.hpp"

#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

bench_status create(void* self, const bench_request* request, const bench_kernel** kernel,
                    bench_message* message) noexcept {
  auto& host = *static_cast<Host*>(self);
  std::unique_ptr<const Problem> problem;
  const bench_status read = guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(Problem made, read_problem(*request));
    problem = std::make_unique<const Problem>(std::move(made));
    return Done{};
  });
  if (read != BENCH_OK) return read;
  return guarded_request(message, [&]() -> Result<Done, Refusal> {
    BENCH_ASSIGN_OR_RETURN(auto created, host.built_in().create(*problem));
    const std::string_view part = problem->op->name;
    *kernel = export_kernel({.kernel = std::move(created),
                             .problem = std::move(problem),
                             .parts = &host,
                             .whole = part,
                             .packing = KernelExport::Packing::always});
    return Done{};
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
