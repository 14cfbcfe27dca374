// SPDX-License-Identifier: Apache-2.0
// How a worker below another program (`--under`) is reached: by a socket with a name, since that
// program may print to the standard streams or close descriptors.
#pragma once

#include "base/result.hpp"
#include "base/temporary_folder.hpp"

#include <optional>
#include <string>

namespace bench {

// Environment variable of such a worker: the path of the coordinator's socket.
inline constexpr const char* kChannelVariable = "BENCH_WORKER_CHANNEL";

// A socket that listens under a name of its own, for this user alone. Removes the name at the end.
class ChannelListener {
 public:
  static Result<ChannelListener> create();
  ChannelListener(ChannelListener&& other) noexcept;
  ChannelListener& operator=(ChannelListener&&) = delete;
  ~ChannelListener();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  // A connection that waits, or nothing. The caller owns the descriptor.
  std::optional<int> accept();

 private:
  ChannelListener(int descriptor, TemporaryFolder folder);
  int descriptor_ = -1;
  TemporaryFolder folder_;
  std::string path_;
};

// The worker's end. The caller owns the descriptor.
Result<int> connect_channel(const std::string& path);

}  // namespace bench
