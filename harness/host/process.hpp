// SPDX-License-Identifier: Apache-2.0
// Starts a child process and communicates with it, with time limits. The child stays in the process
// group of its parent. The kernel kills the child when the thread that started it ends.
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
  std::string program;  // a path, or a name to find in PATH
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // the complete environment
  std::vector<int> processors;                     // affinity mask; empty: inherited
  // joined: the child's standard output goes to its standard error. read_line() and write() then
  // need the connection of wait_for_channel().
  enum class Output { own, joined };
  Output output = Output::own;
  // drawn: the kernel randomises addresses, if the system does so. fixed: stack, heap, libraries
  // and mappings have the same addresses in all processes of a program, in any environment. If the
  // system refuses `fixed`, addresses vary.
  enum class Addresses { drawn, fixed };
  Addresses addresses = Addresses::drawn;
};

// Returns `fixed` if the system or the parent disabled the randomisation of this process's
// addresses.
ProcessRequest::Addresses own_addresses();

// Returns the environment of this process.
std::map<std::string, std::string> inherited_environment();

// How a process ended. Both are nullopt if that cannot be known: something else in this process
// waited for it, or it runs with other rights and cannot be killed.
struct ProcessEnd {
  std::optional<int> exit_status;
  std::optional<int> signal;
  // Returns for example "exit status 3" or "SIGSEGV (Segmentation fault)".
  std::string text() const;
};

class ChildProcess {
 public:
  // The result of an operation with a time limit. ready: it is complete. closed: the child has
  // closed the connection or ended. deadline: the time limit has passed. interrupted: the caller's
  // function `interrupted` returned true.
  enum class Wait { ready, closed, deadline, interrupted };

  // Returns an error if no process can be created or the program cannot be executed (with the
  // system's reason).
  static Result<ChildProcess> start(const ProcessRequest& request);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills the process and waits for its end

  pid_t pid() const { return pid_; }

  // Writes `text` to the child's standard input or channel. While it waits, this function calls
  // `interrupted` at least 20 times per second. So do read_line() and wait_for_channel().
  Wait write(std::string_view text, Nanoseconds limit, const std::function<bool()>& interrupted,
             Clock& clock);
  // Reads a line of the child's standard output or channel, without its line break. closed: the
  // output has ended, and `line` has its last, incomplete line. Returns the beginning of a line
  // that is longer than kMaxWorkerLine.
  Wait read_line(std::string& line, Nanoseconds limit, const std::function<bool()>& interrupted,
                 Clock& clock);

  // Returns whether the child has sent output that read_line() has not returned. Does not wait.
  bool has_unread_output();

  // Waits for the child's connection to a listening socket. Closes the child's standard input.
  // After `ready`, write() and read_line() use the connection. closed: the process has ended.
  Wait wait_for_channel(ChannelListener& listener, Nanoseconds limit,
                        const std::function<bool()>& interrupted, Clock& clock);

  // Returns the last kKeptStandardError bytes that the child has written to its standard error.
  const std::string& standard_error() const { return error_tail_; }
  // Returns what the child has written to its standard error since the last call, for forwarding.
  std::string take_standard_error();

  void close_input();
  // Returns false if this process has no right to kill it.
  bool kill();
  // Waits for the end of the process. Kills the process after `limit`; does not wait for one that
  // this process has no right to kill.
  ProcessEnd finish(Nanoseconds limit, Clock& clock);

 private:
  ChildProcess() = default;
  // Waits until `descriptor` is ready for `events`, but at most kMaxPollTime. Sets `is_ready_`.
  // Reads available standard error.
  void poll_once(int descriptor, short events, Nanoseconds remaining);
  void read_standard_error();
  // Returns nullopt if the process still runs.
  std::optional<ProcessEnd> try_reap();
  void close_all();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, error_ = -1;
  bool is_ready_ = false;          // whether poll_once() found its descriptor ready
  std::string buffer_;             // output of the child that read_line() has not returned yet
  std::size_t searched_size_ = 0;  // bytes of buffer_ that contain no line break
  std::string error_tail_;         // for standard_error()
  std::string error_untaken_;      // for take_standard_error()
  std::optional<ProcessEnd> end_;
};

// Maximum length of a worker's line. A longer line is invalid. A round of a million samples takes
// 10 MB, on a GPU 23 MB. Parsing a line needs several times its length in memory.
inline constexpr std::size_t kMaxWorkerLine = std::size_t{32} << 20;
inline constexpr std::size_t kKeptStandardError = 4096;

}  // namespace bench
