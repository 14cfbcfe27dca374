// SPDX-License-Identifier: Apache-2.0
// CUPTI's host side: what a chip can count, in how many passes, and how to evaluate the counter
// data. Needs neither driver nor device.
#pragma once

#include "base/result.hpp"
#include "profiler/cupti/counter_api.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// Which counters the present device lets this process use, in CUPTI's format. If empty, all
// counters of the chip.
using CounterAvailability = std::vector<std::uint8_t>;

using HostObject =
    std::unique_ptr<CUpti_Profiler_Host_Object, std::function<void(CUpti_Profiler_Host_Object*)>>;

// Configuration for counting a set of metrics.
class CounterConfig {
 public:
  std::span<const std::uint8_t> image() const { return image_; }
  std::size_t passes() const { return passes_; }
  const std::vector<std::string>& metrics() const { return metrics_; }
  std::vector<const char*> metric_pointers() const;  // valid as long as this object
  // Returns the metrics' values in the first range, computed from the counter data.
  Result<std::vector<double>, CounterError> evaluate(std::span<const std::uint8_t> data) const;

 private:
  friend class CounterHost;
  CUptiResult schedule();

  const CounterLibrary* library_ = nullptr;
  HostObject object_;
  std::vector<std::string> metrics_;
  std::vector<std::uint8_t> image_;
  std::size_t passes_ = 0;
};

// Returns chips by CUPTI's names: "GH100".
Result<std::vector<std::string>, CounterError> supported_chips(const CounterLibrary& library);

// One chip. The library must outlive it and its configurations.
class CounterHost {
 public:
  static Result<CounterHost, CounterError> open(const CounterLibrary& library, std::string chip,
                                                CounterAvailability availability = {});
  const std::string& chip() const { return chip_; }
  // Returns whether the chip enumerates the metric, with its rollup, and the metric can be
  // configured.
  bool offers(std::string_view metric) const;
  // All `metrics` must be offered.
  Result<CounterConfig, CounterError> configure(std::vector<std::string> metrics) const;

 private:
  CounterHost(const CounterLibrary& library, std::string chip, CounterAvailability availability)
      : library_(&library), chip_(std::move(chip)), availability_(std::move(availability)) {}
  Result<HostObject, CounterError> object() const;
  Status enumerate(CUpti_Profiler_Host_Object* object);

  const CounterLibrary* library_;
  std::string chip_;
  CounterAvailability availability_;
  std::set<std::string, std::less<>> base_metrics_;
};

}  // namespace bench
