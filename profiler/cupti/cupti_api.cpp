// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/cupti_api.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

// since 13.0, the version encodes major, minor and patch
constexpr std::uint32_t kFirstPackedVersion = 130000;

Result<CuptiLibrary> check_cupti(const DynamicLibrary& loaded) {
  CuptiLibrary library;
  library.path = loaded.path();
  const auto missing = find_functions(loaded, library.api);
  // Checks the version first: an old library lacks functions because it is old.
  if (library.api.get_version != nullptr) {
    if (library.api.get_version(&library.version) != CUPTI_SUCCESS) library.version = 0;
    Status version = check_cupti_version(library.version, CUPTI_API_VERSION);
    if (!version.ok()) {
      Error error = std::move(version).error();
      error.where = library.path;
      return error;
    }
  }
  if (!missing.empty()) {
    return Error{fmt::format("has no function {}", missing.front()), library.path,
                 "this program cannot use this CUPTI"};
  }
  return library;
}

}  // namespace

Result<CuptiLibrary> load_cupti(std::span<const std::string> candidates) {
  std::string reasons;
  for (const std::string& candidate : candidates) {
    const auto loaded = DynamicLibrary::load(candidate);
    if (loaded) return check_cupti(*loaded);
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", loaded.error());
  }
  if (reasons.empty()) reasons = "no path to search";
  return Error{fmt::format("cannot be loaded: {}", reasons), std::string(kCuptiSubject),
               "kernels are timed without a profile; CUPTI is part of the CUDA toolkit"};
}

std::string format_cupti_version(std::uint32_t version) {
  if (version < kFirstPackedVersion) return fmt::format("API {}", version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Status check_cupti_version(std::uint32_t found, std::uint32_t built) {
  if (found / 100 == built / 100) return Done{};
  return Error{fmt::format("is version {}, and this program reads the records of {}",
                           format_cupti_version(found), format_cupti_version(built)),
               std::string(kCuptiSubject),
               fmt::format("no GPU tracing with it: put libcupti of CUDA {}.{} first in the "
                           "search path",
                           built / 10000, built / 100 % 100)};
}

std::string format_cupti_result(const CuptiApi& api, CUptiResult result) {
  const char* text = nullptr;
  const bool known = api.result_string(result, &text) == CUPTI_SUCCESS && text != nullptr;
  return fmt::format("{} ({})", known ? text : "unknown result", static_cast<int>(result));
}

}  // namespace bench
