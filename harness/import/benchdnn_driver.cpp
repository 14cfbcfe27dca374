// SPDX-License-Identifier: Apache-2.0
// table: one row per driver of benchdnn
#include "harness/import/benchdnn_driver.hpp"

#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace bench {
namespace {

constexpr BenchdnnOption kConvOptions[] = {{"dir", "FWD_B"},  {"dt", "f32"},   {"bia-dt", "undef"},
                                           {"stag", "any"},   {"wtag", "any"}, {"dtag", "any"},
                                           {"alg", "direct"}, {"mb", "0"}};
constexpr BenchdnnOption kIpOptions[] = {{"dir", "FWD_B"}, {"dt", "f32"},   {"bia-dt", "undef"},
                                         {"stag", "any"},  {"wtag", "any"}, {"dtag", "any"},
                                         {"mb", "0"}};
constexpr BenchdnnOption kMatmulOptions[] = {
    {"dt", "f32"},       {"stag", "any"},   {"wtag", "any"}, {"dtag", "any"},
    {"bia-dt", "undef"}, {"bia_mask", "2"}, {"grouped", ""}};
constexpr BenchdnnOption kPoolOptions[] = {
    {"dir", "FWD_D"}, {"dt", "f32"}, {"tag", "abx"}, {"alg", "max"}, {"mb", "0"}};
constexpr BenchdnnOption kBnormOptions[] = {
    {"dir", "FWD_D"}, {"dt", "f32"}, {"tag", "abx"}, {"flags", ""}, {"mb", "0"}};
constexpr BenchdnnOption kGnormOptions[] = {
    {"dir", "FWD_D"}, {"dt", "f32"}, {"tag", "abx:any"}, {"flags", ""}, {"mb", "0"}};
constexpr BenchdnnOption kLnormOptions[] = {{"dir", "FWD_D"}, {"dt", "f32"}, {"tag", "abx:any"},
                                            {"ss_dt", "f32"}, {"flags", ""}, {"mb", "0"}};
constexpr BenchdnnOption kSoftmaxOptions[] = {{"dir", "FWD_D"}, {"sdt", "f32"},  {"ddt", "f32"},
                                              {"stag", "abx"},  {"dtag", "any"}, {"alg", "softmax"},
                                              {"axis", "1"},    {"mb", "0"}};
constexpr BenchdnnOption kEltwiseOptions[] = {{"dir", "FWD_D"}, {"dt", "f32"},  {"tag", "abx"},
                                              {"alg", "relu"},  {"alpha", "0"}, {"beta", "0"},
                                              {"mb", "0"}};
constexpr BenchdnnOption kBinaryOptions[] = {
    {"sdt", "f32:f32"}, {"ddt", "f32"}, {"stag", "abx:any"}, {"dtag", "any"}, {"alg", "add"}};
constexpr BenchdnnOption kReductionOptions[] = {{"sdt", "f32"},  {"ddt", "f32"}, {"stag", "abx"},
                                                {"dtag", "any"}, {"alg", "sum"}, {"p", "1"},
                                                {"eps", "0"}};
constexpr BenchdnnOption kReorderOptions[] = {
    {"sdt", "f32"}, {"ddt", "f32"}, {"stag", "abx"}, {"dtag", "abx"}};
constexpr BenchdnnOption kConcatOptions[] = {
    {"sdt", "f32"}, {"ddt", "f32"}, {"stag", "abx"}, {"dtag", "undef"}, {"axis", "1"}};

constexpr BenchdnnOption kPreluOptions[] = {
    {"dir", "FWD_D"}, {"sdt", "f32:f32"}, {"stag", "abx:any"}};
constexpr BenchdnnOption kShuffleOptions[] = {{"dir", "FWD_D"}, {"dt", "f32"},  {"tag", "abx"},
                                              {"axis", "1"},    {"group", "1"}, {"mb", "0"}};
constexpr BenchdnnOption kLrnOptions[] = {
    {"dir", "FWD_D"}, {"dt", "f32"}, {"tag", "abx"}, {"alg", "ACROSS"}, {"mb", "0"}};
constexpr BenchdnnOption kResamplingOptions[] = {{"dir", "FWD_D"},   {"sdt", "f32"},
                                                 {"ddt", "f32"},     {"tag", "abx"},
                                                 {"alg", "nearest"}, {"mb", "0"}};

constexpr BenchdnnOption kRnnOptions[] = {{"prop", "FWD_D"},
                                          {"cfg", "f32"},
                                          {"alg", "VANILLA_RNN"},
                                          {"direction", "left2right"},
                                          {"activation", "RELU"},
                                          {"mb", "0"},
                                          {"with-peephole", "false", "0"},
                                          {"with-projection", "false", "0"},
                                          {"trivial-strides", "false", "0"},
                                          {"l", "0", "0"},
                                          {"t", "0", "0"}};

constexpr std::array kDrivers = {
    BenchdnnDriver{"conv", kConvOptions, request_benchdnn_conv},
    BenchdnnDriver{"deconv", kConvOptions, request_benchdnn_deconv},
    BenchdnnDriver{"ip", kIpOptions, request_benchdnn_ip},
    BenchdnnDriver{"matmul", kMatmulOptions, request_benchdnn_matmul, true},
    BenchdnnDriver{"pool", kPoolOptions, request_benchdnn_pool},
    BenchdnnDriver{"bnorm", kBnormOptions, request_benchdnn_bnorm},
    BenchdnnDriver{"lnorm", kLnormOptions, request_benchdnn_lnorm},
    BenchdnnDriver{"gnorm", kGnormOptions, request_benchdnn_gnorm},
    BenchdnnDriver{"softmax", kSoftmaxOptions, request_benchdnn_softmax},
    BenchdnnDriver{"eltwise", kEltwiseOptions, request_benchdnn_eltwise},
    BenchdnnDriver{"binary", kBinaryOptions, request_benchdnn_binary},
    BenchdnnDriver{"reduction", kReductionOptions, request_benchdnn_reduction},
    BenchdnnDriver{"reorder", kReorderOptions, request_benchdnn_reorder},
    BenchdnnDriver{"concat", kConcatOptions, request_benchdnn_concat},
    BenchdnnDriver{"prelu", kPreluOptions, request_benchdnn_prelu},
    BenchdnnDriver{"shuffle", kShuffleOptions, request_benchdnn_shuffle},
    BenchdnnDriver{"lrn", kLrnOptions, request_benchdnn_lrn},
    BenchdnnDriver{"resampling", kResamplingOptions, request_benchdnn_resampling},
    BenchdnnDriver{"rnn", kRnnOptions, request_benchdnn_rnn},
};

constexpr std::array<std::string_view, 6> kOtherDrivers = {"brgemm", "graph", "sdpa",
                                                           "self",   "sum",   "zeropad"};

constexpr BenchdnnOption kCommonOptions[] = {{"attr-post-ops", ""},
                                             {"attr-fpmath", "strict"},
                                             {"attr-scales", ""},
                                             {"attr-zero-points", ""},
                                             {"attr-acc-mode", "strict", "strict"},
                                             {"attr-deterministic", "false", "0"},
                                             {"attr-dropout", "", "0"},
                                             {"attr-precomputed-reductions", "", ""},
                                             {"attr-rounding-mode", "", ""},
                                             {"inplace", "false", "0"},
                                             {"strides", "", "::"},
                                             {"encoding", "", "::"},
                                             {"oflag", "", "none"},
                                             {"cross-engine", "none", "none"},
                                             {"match", "", ".*"},
                                             {"runtime-dim-mask", "", "0"},
                                             {"runtime_dims_masks", "", "0:0"}};

constexpr std::string_view kRunOptions[] = {"allow-enum-tags-only",
                                            "attr-same-pd-check",
                                            "attr-scratchpad",
                                            "buffer-prefix",
                                            "canonical",
                                            "check-alg",
                                            "check-ref-impl",
                                            "cold-cache",
                                            "cpu-isa-hints",
                                            "ctx-exe",
                                            "ctx-init",
                                            "debug-check-ws",
                                            "engine",
                                            "execution-mode",
                                            "fast-ref",
                                            "fix-times-per-prb",
                                            "global-impl",
                                            "global-skip-impl",
                                            "impl",
                                            "max-ms-per-prb",
                                            "mem-check",
                                            "memory-kind",
                                            "mode",
                                            "mode-modifier",
                                            "num-streams",
                                            "perf-template",
                                            "repeats-per-prb",
                                            "skip-impl",
                                            "start",
                                            "stat_tag",
                                            "stream-kind",
                                            "summary",
                                            "verbose",
                                            "v"};

}  // namespace

std::string_view BenchdnnValues::operator[](std::string_view name) const {
  const auto found =
      std::ranges::find(values_, name, &std::pair<std::string_view, std::string_view>::first);
  assert(found != values_.end() && "the driver's table has no such option");
  return found->second;
}

std::span<const BenchdnnDriver> benchdnn_drivers() { return kDrivers; }

const BenchdnnDriver* find_benchdnn_driver(std::string_view name) {
  const auto* row = std::ranges::find(kDrivers, name, &BenchdnnDriver::name);
  return row == kDrivers.end() ? nullptr : row;
}

std::span<const std::string_view> other_benchdnn_drivers() { return kOtherDrivers; }

std::span<const BenchdnnOption> common_benchdnn_options() { return kCommonOptions; }

Status check_common_benchdnn_options(const BenchdnnDriver& driver, const BenchdnnValues& values) {
  for (const std::string_view name : {"attr-scales", "attr-zero-points"}) {
    if (driver.takes_scales || values[name].empty()) continue;
    return Error{fmt::format("only products have --{}", name), {}, {}};
  }
  for (const BenchdnnOption& option : kCommonOptions) {
    const std::string_view value = values[option.name];
    if (!option.neutral || value == option.fallback || value == *option.neutral) continue;
    return Error{fmt::format("cases do not have --{}={}", option.name, quote(value)), {}, {}};
  }
  return Done{};
}

bool is_benchdnn_run_option(std::string_view name) {
  return std::ranges::find(kRunOptions, name) != std::end(kRunOptions);
}

}  // namespace bench
