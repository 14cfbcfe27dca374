// SPDX-License-Identifier: Apache-2.0
// A child process with pipes, deadlines and no zombies. It stays in this process group. The kernel
// kills it when the thread that started it ends.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace bench {

class ChannelListener;

struct ProcessRequest {
  std::string program;  // a path, or a name that PATH is searched for
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // the complete environment
  std::vector<int> processors;                     // affinity; empty: inherited
  // joined: output goes to standard error. read_line and write then need take_channel().
  enum class Output { own, joined };
  Output output = Output::own;
  // fixed: stack, heap, libraries and mappings have the same addresses in every such process of the
  // same program, whatever its environment. If the system refuses this, addresses vary.
  enum class Addresses { drawn, fixed };
  Addresses addresses = Addresses::drawn;
};

// How this process got its addresses: fixed if the system or its parent disabled randomisation.
ProcessRequest::Addresses own_addresses();

// The environment of this process.
std::map<std::string, std::string> inherited_environment();

// How a process ended.
struct ProcessEnd {
  std::optional<int> exit_status;
  std::optional<int> signal;
  // For example "exit status 3" or "SIGSEGV (Segmentation fault)".
  std::string text() const;
};

class ChildProcess {
 public:
  enum class Wait { ready, closed, deadline, interrupted };

  // Returns an error if no process can be created or the program cannot be executed (with the
  // system's reason).
  static Result<ChildProcess> start(const ProcessRequest& request);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills and reaps

  pid_t pid() const { return pid_; }

  // Writes until all of `text` is written. Calls `interrupted` at least 20 times per second.
  Wait write(std::string_view text, Nanoseconds limit, const std::function<bool()>& interrupted,
             Clock& clock);
  // Reads until there is a complete line and moves it into `line`. closed: end of its output.
  Wait read_line(std::string& line, Nanoseconds limit, const std::function<bool()>& interrupted,
                 Clock& clock);

  // Waits for its connection to a listening socket. closed: the process has ended.
  Wait wait_for_channel(ChannelListener& listener, Nanoseconds limit,
                        const std::function<bool()>& interrupted, Clock& clock);

  // Its standard error so far: the last kKeptStandardError bytes.
  const std::string& standard_error() const { return error_tail_; }
  // Takes its standard error since the last call, for forwarding.
  std::string take_standard_error();

  void close_input();
  void kill();
  // Waits at most `limit` for the end of the process, then kills it.
  ProcessEnd finish(Nanoseconds limit, Clock& clock);

 private:
  ChildProcess() = default;
  // Waits until `descriptor` is ready for `events`, but at most one time slice. Reads standard
  // error in the meantime.
  void poll_once(int descriptor, short events, Nanoseconds remaining);
  void read_standard_error();
  std::optional<ProcessEnd> try_reap();
  void close_all();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, error_ = -1;
  bool ready_ = false;  // what poll_once found
  std::string buffer_;
  std::size_t searched_ = 0;
  std::string error_tail_, error_new_;
  std::optional<ProcessEnd> end_;
};

// A longer line of a worker is invalid. A round of a million samples takes 10 MB, on a GPU 23 MB,
// and parsing a line needs several times its length.
inline constexpr std::size_t kMaxWorkerLine = std::size_t{32} << 20;
inline constexpr std::size_t kKeptStandardError = 4096;

}  // namespace bench
