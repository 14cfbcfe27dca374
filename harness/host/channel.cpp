// SPDX-License-Identifier: Apache-2.0
#include "harness/host/channel.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

Error system_error(const std::string& what, const std::string& path) {
  return {fmt::format("{}: {}", what, std::strerror(errno)), path, ""};
}

Result<sockaddr_un> make_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{"the name is too long for a socket", path,
                 "set TMPDIR to a folder with a short path"};
  }
  path.copy(address.sun_path, path.size());
  return address;
}

}  // namespace

Result<ChannelListener> ChannelListener::create() {
  BENCH_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::create("worker"));
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ChannelListener listener(descriptor, std::move(folder));
  if (descriptor < 0) return system_error("cannot make a socket", listener.path_);
  BENCH_ASSIGN_OR_RETURN(const sockaddr_un address, make_address(listener.path_));
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(descriptor, 1) != 0) {
    return system_error("cannot listen", listener.path_);
  }
  return listener;
}

ChannelListener::ChannelListener(int descriptor, TemporaryFolder folder)
    : descriptor_(descriptor), folder_(std::move(folder)), path_(folder_.file("socket")) {}

ChannelListener::ChannelListener(ChannelListener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      folder_(std::move(other.folder_)),
      path_(std::exchange(other.path_, {})) {}

ChannelListener::~ChannelListener() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<int> ChannelListener::accept() {
  const int connection = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return std::nullopt;
  return connection;
}

Result<int> connect_channel(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const sockaddr_un address, make_address(path));
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return system_error("cannot make a socket", path);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    Error error = system_error("cannot reach the coordinator", path);
    close(descriptor);
    return error;
  }
  return descriptor;
}

}  // namespace bench
