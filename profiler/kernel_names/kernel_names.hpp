// SPDX-License-Identifier: Apache-2.0
// Infers whether a kernel ran on tensor cores, from its name or from the notes of cuDNN's engine
// that launched it. Only a hardware counter can prove it. Notes and names are used if counters are
// not permitted, and names for profiles recorded by other tools.
#pragma once

#include "base/data_type.hpp"
#include "base/pattern.hpp"
#include "profiler/activity.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench {

enum class TensorCoreUse { unknown, used, not_used };
// From weak to strong. engine: cuDNN's note about the engine.
enum class TensorCoreEvidence { none, name, engine, counter };

// `rule` is the id of the rule that matched. It is empty if no name decided.
struct TensorCoreVerdict {
  TensorCoreUse use = TensorCoreUse::unknown;
  TensorCoreEvidence evidence = TensorCoreEvidence::none;
  std::string_view rule;
  friend bool operator==(const TensorCoreVerdict&, const TensorCoreVerdict&) = default;
};

// Formats "used (counter)", "used (engine)", "used (name: nvjet)", "not used (name: gemv)",
// "unknown".
std::string format_verdict(const TensorCoreVerdict& verdict);

// Returns what cuDNN's description of an engine shows: "engine 45: tensor core; workspace 4 KiB".
// Unknown for a text of another form, from another library. Valid only for operators that multiply
// matrices: cuDNN also notes tensor cores on an engine that pools. `dtype`: that of the operands.
// Their note is missing on most engines of integers, which use tensor cores nevertheless.
TensorCoreVerdict engine_verdict(std::string_view engine, DataType dtype);

// The first rule whose pattern matches a name decides. `unknown` is also a decision: it prevents
// later rules from matching names that only look like theirs.
struct KernelNameRule {
  std::string_view id;
  TensorCoreUse use;
  std::string_view pattern;  // base/pattern.hpp
  std::string_view remark;   // one line: which kernels these are, and how this is known
};
std::span<const KernelNameRule> kernel_name_rules();

// Caches verdicts by name: a profile has few names and many kernels.
class KernelNames {
 public:
  // Decides by a demangled name, which may contain template arguments.
  TensorCoreVerdict tensor_cores(std::string_view name);
  // Decides by both names of a kernel. If the short one is inconclusive (`device_kernel`), the long
  // one may decide. Either may be empty.
  TensorCoreVerdict tensor_cores(std::string_view name, std::string_view long_name);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  TensorCoreVerdict decide(std::string_view name);

  // The rules' patterns in order. The first call of decide() compiles them.
  std::vector<Regex> patterns_;
  std::unordered_map<std::string, TensorCoreVerdict, Hash, std::equal_to<>> known_;
};

// A stream stage that sets the attribute `tensor_cores` from the kernel's name if it is missing
// ("used (name: nvjet)"). A value from the file stays unchanged. If no rule matches, the attribute
// stays unset.
class KernelNameSink final : public ActivitySink {
 public:
  explicit KernelNameSink(ActivitySink& next) : next_(next) {}
  Status consume(const Activity& activity) override;

 private:
  ActivitySink& next_;
  KernelNames names_;
  Activity copy_;
};

// Combines what the names of all kernels in a profile show about the use of tensor cores.
// Considers only kernels that compute; auxiliary ones (attribute `auxiliary`) are ignored. If all
// names agree, returns "used (name: nvjet)", "not used (name: simt)" or "unknown". Otherwise,
// returns "used by 12 of 14 kernels (name: nvjet, cutlass-tensor)"; if some names are inconclusive,
// it also counts these and the others: "used by 5 of 285 kernels, not used by 10, unknown for 270
// (name: nvjet)". Returns "unknown" if some names
// are inconclusive and no other name shows that tensor cores were used. Returns nullopt if no
// kernel computes.
std::optional<std::string> tensor_cores_by_name(std::span<const Activity> activities);

}  // namespace bench
