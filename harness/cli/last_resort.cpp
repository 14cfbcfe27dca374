// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/last_resort.hpp"

#include "harness/report/exit_status.hpp"

#include <exception>
#include <new>
#include <ostream>
#include <stdexcept>

namespace bench {
namespace {

// Messages are literals as far as that goes: there may be no memory to put them together.
int out_of_memory(std::ostream& err) {
  err << "bench: not enough memory; free some, raise the limit of the process (`ulimit -v`), or "
         "ask for less: fewer cases, smaller files\n";
  return static_cast<int>(ExitStatus::not_measured);
}

int internal_error(std::ostream& err, const char* what) {
  err << "bench: internal error: " << what << "; please report it, with the command\n";
  return static_cast<int>(ExitStatus::not_measured);
}

}  // namespace

int with_last_resort(std::ostream& err, const std::function<int()>& program) {
  try {
    return program();
  } catch (const std::bad_alloc&) {
    return out_of_memory(err);
  } catch (const std::length_error&) {  // a string or vector longer than any memory
    return out_of_memory(err);
  } catch (const std::exception& error) {
    return internal_error(err, error.what());
  } catch (...) {
    return internal_error(err, "an exception of unknown kind");
  }
}

}  // namespace bench
