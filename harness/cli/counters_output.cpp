// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/counters_output.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kUnknown = "n/a";

class Details {
 public:
  explicit Details(const ProfilePassRecord& pass) : pass_(pass) {}

  // Returns nullopt if the detail is missing or is "n/a: ...".
  std::optional<std::string> known(const std::string& name) const {
    const auto found = pass_.details.find(name);
    if (found == pass_.details.end() || found->second.starts_with(kUnknown)) return std::nullopt;
    return found->second;
  }
  std::optional<double> number(const std::string& name) const {
    const auto text = known(name);
    return text ? std::optional(std::strtod(text->c_str(), nullptr)) : std::nullopt;
  }

 private:
  const ProfilePassRecord& pass_;
};

void add(std::vector<std::string>& parts, const std::optional<std::string>& part) {
  if (part) parts.push_back(*part);
}

std::optional<std::string> bytes(const Details& details, const std::string& name,
                                 std::string_view what) {
  const auto count = details.number(name);
  if (!count) return std::nullopt;
  return fmt::format("{} {}", format_bytes(Bytes{static_cast<std::int64_t>(*count)}), what);
}

std::optional<std::string> percent(const Details& details, const std::string& name,
                                   std::string_view what) {
  const auto share = details.number(name);
  if (!share) return std::nullopt;
  return fmt::format("{:.1f} % {}", 100 * *share, what);
}

std::string line(std::string_view subject, const std::vector<std::string>& parts) {
  if (parts.empty()) return "";
  std::string text = fmt::format("    {}: ", subject);
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : "; ") + parts[i];
  return text + "\n";
}

}  // namespace

std::string counters_text(const ProfilePassRecord& pass) {
  const Details details(pass);
  const auto unavailable = pass.details.find("counters");
  std::vector<std::string> tensor_cores, memory, processors;
  add(tensor_cores, details.known("tensor_cores"));
  add(tensor_cores, percent(details, "counter.tensor_active_share", "of the active cycles"));
  add(tensor_cores, details.known("tensor_cores.types"));
  if (const auto check = details.known("check.tensor_operations")) {
    tensor_cores.push_back("operations " + *check);
  }
  add(memory, bytes(details, "counter.dram_read_bytes", "read"));
  add(memory, bytes(details, "counter.dram_write_bytes", "written"));
  add(memory, details.known("check.dram_bytes"));
  add(memory, percent(details, "counter.l2_hit_share", "L2 hits"));
  add(processors, percent(details, "counter.achieved_occupancy", "of the warps resident"));
  return (unavailable == pass.details.end()
              ? ""
              : fmt::format("    counters {}\n", unavailable->second)) +
         line("tensor cores", tensor_cores) + line("memory", memory) +
         line("multiprocessors", processors);
}

}  // namespace bench
