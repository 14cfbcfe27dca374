// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/last_resort.hpp"

#include "base/printable.hpp"
#include "harness/result/record.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace bench {
namespace {

constexpr int kStatus = static_cast<int>(ExitStatus::not_measured);
constexpr std::string_view kNoMemory =
    "bench: not enough memory; free some, raise the limit of the process (`ulimit -v`), or ask for "
    "less: fewer cases, smaller files\n";

// Passes the message for the current exception to `write` in pieces, because there may be no memory
// to join them.
template <class Write>
void write_exception_message(Write write) {
  const auto write_internal_error = [&](const char* what) {
    write("bench: internal error: ");
    write(what);
    write("; please report it, with the command\n");
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    write(kNoMemory);
  } catch (const std::length_error&) {  // a string or vector longer than any memory
    write(kNoMemory);
  } catch (const std::exception& error) {
    write_internal_error(error.what());
  } catch (...) {
    write_internal_error("an exception of unknown kind");
  }
}

// The terminate handler: writes a message to standard error and ends the process.
[[noreturn]] void end_process() {
  const auto write = [](std::string_view text) {
    // If standard error is closed, nothing more can be done.
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  };
  if (std::current_exception()) {
    write_exception_message(write);
  } else {
    write("bench: internal error: terminated; please report it, with the command\n");
  }
  std::_Exit(kStatus);
}

}  // namespace

int with_last_resort(std::ostream& err, const std::function<int()>& program) {
  const std::terminate_handler previous = std::set_terminate(end_process);
  int status = kStatus;
  try {
    status = program();
  } catch (...) {
    write_exception_message([&](std::string_view text) { print_lines(err, text); });
  }
  std::set_terminate(previous);
  return status;
}

}  // namespace bench
