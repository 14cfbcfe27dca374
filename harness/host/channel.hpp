// SPDX-License-Identifier: Apache-2.0
// The connection to a worker that runs under another program (`--under`). The connection uses a
// named socket, because that program may print to the standard streams or close descriptors.
#pragma once

#include "base/folder.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>

namespace bench {

// Environment variable with the path of the coordinator's socket. The coordinator sets it for a
// worker under another program.
inline constexpr const char* kChannelVariable = "BENCH_WORKER_CHANNEL";

// A listening socket with a unique path, to which only this user has access. The destructor closes
// the socket and removes its path.
class ChannelListener {
 public:
  static Result<ChannelListener> create();
  ChannelListener(ChannelListener&& other) noexcept;
  ChannelListener& operator=(ChannelListener&&) = delete;
  ~ChannelListener();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  // Accepts a pending connection and returns its descriptor, which the caller owns. Does not block.
  // Returns nullopt if no connection is pending, and if accepting fails, as with too many open
  // descriptors.
  std::optional<int> accept();

 private:
  ChannelListener(int descriptor, TemporaryFolder folder);
  int descriptor_ = -1;
  TemporaryFolder folder_;
  std::string path_;
};

// Connects to the coordinator's socket and returns the descriptor, which the caller owns. Returns
// an error if the path is too long for a socket or nothing listens there.
Result<int> connect_channel(const std::string& path);

}  // namespace bench
