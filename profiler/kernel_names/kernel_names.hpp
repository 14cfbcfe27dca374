// SPDX-License-Identifier: Apache-2.0
// Whether a kernel ran on tensor cores, as far as its name tells. Only a hardware counter knows;
// names are what is left where counters are not permitted, and in profiles that others recorded.
#pragma once

#include "base/pattern.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench {

enum class TensorCoreUse { unknown, used, not_used };
enum class TensorCoreEvidence { none, name, counter };

// `rule` is the id of the rule that decided; empty where none did, or where a counter did.
struct TensorCoreVerdict {
  TensorCoreUse use = TensorCoreUse::unknown;
  TensorCoreEvidence evidence = TensorCoreEvidence::none;
  std::string_view rule;
  friend bool operator==(const TensorCoreVerdict&, const TensorCoreVerdict&) = default;
};

// "used (counter)", "used (name: nvjet)", "not used (name: gemv)", "unknown".
std::string text_of(const TensorCoreVerdict& verdict);

// The first rule whose pattern a name has a match of decides. `unknown` is an answer too: it stops
// later rules where a name looks like one of theirs and is not.
struct KernelNameRule {
  std::string_view id;
  TensorCoreUse use;
  std::string_view pattern;  // base/pattern.hpp
  std::string_view remark;   // one line: which kernels these are, and how that is known
};
std::span<const KernelNameRule> kernel_name_rules();

// Verdicts by name, remembered: a profile has few names and many kernels.
class KernelNames {
 public:
  // Of a demangled name, short or with its template arguments.
  TensorCoreVerdict tensor_cores(std::string_view name);
  // The same from both names of a kernel: what the short one leaves open (`device_kernel`) the long
  // one may tell. Either may be empty.
  TensorCoreVerdict tensor_cores(std::string_view name, std::string_view long_name);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  TensorCoreVerdict decide(std::string_view name);

  std::vector<Regex> patterns_;  // of the rules, in order; compiled for the first name
  std::unordered_map<std::string, TensorCoreVerdict, Hash, std::equal_to<>> known_;
};

}  // namespace bench
