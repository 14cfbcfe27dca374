// SPDX-License-Identifier: Apache-2.0
// Values inside messages, as JSON. Reading throws nlohmann::json's exceptions. Private to the
// protocol.
#pragma once

#include "harness/result/record.hpp"
#include "harness/wire/messages.hpp"
#include "ops/kernel_facts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

nlohmann::json to_json(const OutputSample& sample);
OutputSample output_sample(const nlohmann::json& value);
nlohmann::json to_json(const std::vector<Nanoseconds>& list);
Nanoseconds nanoseconds(const nlohmann::json& value);
std::vector<Nanoseconds> times(const nlohmann::json& list);
// Members of a reply. Writes nothing if the samples are on the host's clock.
void put(const DeviceSamples& samples, nlohmann::json& message);
DeviceSamples device_samples(const nlohmann::json& message);
nlohmann::json to_json(const Canaries& canaries);
Canaries canaries(const nlohmann::json& value);
nlohmann::json to_json(const MemoryUse& memory);
MemoryUse memory_use(const nlohmann::json& value);
nlohmann::json to_json(const std::vector<ops::KernelStep>& steps);
std::vector<ops::KernelStep> kernel_steps(const nlohmann::json& list);
nlohmann::json to_json(const ops::LibraryInfo& library);
ops::LibraryInfo library_info(const nlohmann::json& value);
nlohmann::json to_json(const std::vector<ops::LibraryInfo>& libraries);
// Returns the member `key`; empty if the message lacks it, as messages of older workers do.
std::vector<ops::LibraryInfo> library_infos(const nlohmann::json& message, const char* key);

// Returns the enumerator whose name in `names` is the word. Throws std::runtime_error for an
// unknown word.
template <class Enum, class Names>
Enum named(const Names& names, const std::string& word, const std::string& what) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) throw std::runtime_error("unknown " + what + " `" + word + "`");
  return static_cast<Enum>(found - names.begin());
}

}  // namespace bench
