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
    std::string source;  // the loaded plugin that provides the backend; empty if none does
  };
  struct Device {
    std::string name;
    std::string backend;
    std::optional<ops::LibraryInfo>
        library;                        // library of the first device, and those found at run time
    std::optional<std::string> reason;  // why the device is missing
  };
  int protocol = 0;
  std::string tool_version;
  std::vector<ops::OperatorDescription> operators;
  std::vector<Type> types;
  std::vector<Backend> backends;
  std::vector<Device> devices, missing;
  std::vector<ops::LibraryInfo> plugins;
};

// The word of `bench worker --probe` for a document that only identifies the loaded oneDNN.
inline constexpr std::string_view kOnednnProbe = "onednn";

// Returns one line without a newline.
std::string format_worker_document(const WorkerDocument& document);
// Parses the document. Requires only the fields that a coordinator uses: operators and backends.
Result<WorkerDocument> parse_worker_document(std::string_view text);

}  // namespace bench
