// SPDX-License-Identifier: Apache-2.0
// The JSON document that lists what a worker can compute. `bench worker --describe` prints it, and
// the request `describe` returns it.
#pragma once

#include "base/result.hpp"
#include "ops/described_operator.hpp"
#include "ops/kernel_facts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct WorkerDocument {
  struct Type {
    std::string name;
    std::int64_t bytes = 0;
  };
  struct Backend {
    std::string name;
    std::string device;
    std::vector<std::string> operators;
    std::string source;  // the plugin that provides the backend; empty if no loaded plugin does
  };
  struct Device {
    std::string name;
    std::string backend;
    std::optional<ops::LibraryInfo> library;  // library of the first device
    std::optional<std::string> reason;        // why it is missing
  };
  int protocol = 0;
  std::string tool_version;
  std::vector<ops::OperatorDescription> operators;
  std::vector<Type> types;
  std::vector<Backend> backends;
  std::vector<Device> devices, missing;
  std::vector<ops::LibraryInfo> plugins;
};

// One line without a newline.
std::string format_worker_document(const WorkerDocument& document);
// Requires only what a coordinator uses: operators and backends.
Result<WorkerDocument> parse_worker_document(std::string_view text);

}  // namespace bench
