// SPDX-License-Identifier: Apache-2.0
// table: one row an option
#include "harness/cli/option.hpp"

#include "base/nearest_name.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace bench {
namespace {

template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  Integer number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status set_shard(Arguments& arguments, const std::string& value) {
  const std::size_t slash = value.find('/');
  if (slash != std::string::npos) {
    const auto index = parse_integer<int>(std::string_view(value).substr(0, slash));
    const auto count = parse_integer<int>(std::string_view(value).substr(slash + 1));
    if (index && count && *index >= 1 && *count >= *index) {
      arguments.shard = Shard{*index, *count};
      return Done{};
    }
  }
  return Error{fmt::format("`{}` is no shard, expected i/n with 1 <= i <= n", value), "--shard",
               "for example --shard 1/4"};
}

Status set_budget(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.budget, parse_duration(value));
  return Done{};
}

Status set_seed(Arguments& arguments, const std::string& value) {
  arguments.seed = parse_integer<std::uint64_t>(value);
  if (arguments.seed) return Done{};
  return Error{fmt::format("`{}` is no seed, expected a whole number", value), "--seed", ""};
}

Status set_requirement(Arguments& arguments, const std::string& value) {
  if (value != "gpu") {
    return Error{fmt::format("`{}` cannot be required, expected gpu", value), "--require", ""};
  }
  arguments.require_gpu = true;
  return Done{};
}

Status set_override(Arguments& arguments, const std::string& value) {
  if (value.find('=') == std::string::npos || value.front() == '=') {
    return Error{fmt::format("`{}` sets nothing, expected key=value", value), "--set",
                 "for example --set measure.processes=3"};
  }
  arguments.overrides.push_back(value);
  return Done{};
}

Status set_device(Arguments& arguments, const std::string& value) {
  static constexpr std::array<std::string_view, 2> kDevices = {"cpu", "cuda"};
  for (std::string_view device : kDevices) {
    if (device == value) {
      arguments.devices.push_back(value);
      return Done{};
    }
  }
  return Error{fmt::format("unknown device `{}`", value), "--device", expectation(value, kDevices)};
}

constexpr std::array kOptions = {
    Option{"out", 'o', "FILE",
           "write to FILE (run: the result file, default bench-NAME-RUNID.jsonl here)",
           [](Arguments& a, const std::string& v) -> Status {
             a.out = v;
             return Done{};
           }},
    Option{"format", '\0', "NAME", "format of the report where the suffix of FILE does not tell",
           [](Arguments& a, const std::string& v) -> Status {
             a.format = v;
             return Done{};
           }},
    Option{"filter", '\0', "GLOB|/REGEX/", "only cases whose id matches (repeat: any of them)",
           [](Arguments& a, const std::string& v) -> Status {
             a.filters.push_back(v);
             return Done{};
           }},
    Option{"device", '\0', "NAME", "only cases of this device: cpu or cuda (repeat: any of them)",
           set_device},
    Option{"set", '\0', "KEY=VALUE",
           "override a default of the configuration, e.g. measure.processes=3", set_override},
    Option{"budget", '\0', "TIME",
           "end the run after TIME (90s, 5m); what was not measured is listed", set_budget},
    Option{"quick", '\0', "", "a first look: 2 processes, 200 ms a case, precision 5%",
           [](Arguments& a, const std::string&) -> Status {
             a.quick = true;
             return Done{};
           }},
    Option{"shard", '\0', "I/N", "measure part I of N of the cases; concatenate the N result files",
           set_shard},
    Option{"resume", '\0', "FILE",
           "continue an unfinished run: measure what FILE lacks and append to it",
           [](Arguments& a, const std::string& v) -> Status {
             a.resume = v;
             return Done{};
           }},
    Option{"seed", '\0', "N", "seed of the order and of the input data (default 1)", set_seed},
    Option{"require", '\0', "gpu", "a case that finds no GPU makes the exit status 3",
           set_requirement},
    Option{"dry-run", 'n', "", "say what would be measured and stop",
           [](Arguments& a, const std::string&) -> Status {
             a.dry_run = true;
             return Done{};
           }},
    Option{"json", '\0', "", "machine-readable standard output",
           [](Arguments& a, const std::string&) -> Status {
             a.output = Output::json;
             return Done{};
           }},
    Option{"quiet", 'q', "", "no progress and no messages but errors",
           [](Arguments& a, const std::string&) -> Status {
             a.verbosity = Verbosity::quiet;
             return Done{};
           }},
    Option{"force", '\0', "", "replace an existing output file",
           [](Arguments& a, const std::string&) -> Status {
             a.force = true;
             return Done{};
           }},
    Option{"describe", '\0', "", "print operators, parameters, devices and libraries as JSON",
           [](Arguments& a, const std::string&) -> Status {
             a.describe = true;
             return Done{};
           }},
};

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace bench
