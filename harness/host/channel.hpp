// SPDX-License-Identifier: Apache-2.0
// The connection to a worker that runs under another program (`--under`). It is a named socket,
// because that program may print to the standard streams or close descriptors.
#pragma once

#include "base/folder.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>

namespace bench {

// Environment variable of such a worker: the path of the coordinator's socket.
inline constexpr const char* kChannelVariable = "BENCH_WORKER_CHANNEL";

// A listening socket under a unique name, accessible only to this user. The destructor removes the
// name.
class ChannelListener {
 public:
  static Result<ChannelListener> create();
  ChannelListener(ChannelListener&& other) noexcept;
  ChannelListener& operator=(ChannelListener&&) = delete;
  ~ChannelListener();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  // Returns a waiting connection, or nullopt. The caller owns the descriptor.
  std::optional<int> accept();

 private:
  ChannelListener(int descriptor, TemporaryFolder folder);
  int descriptor_ = -1;
  TemporaryFolder folder_;
  std::string path_;
};

// Connects a worker to the coordinator's socket. The caller owns the descriptor.
Result<int> connect_channel(const std::string& path);

}  // namespace bench
