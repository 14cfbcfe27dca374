// SPDX-License-Identifier: Apache-2.0
// Threads that a library creates by itself. An OpenMP runtime pins its threads to the places of
// OMP_PLACES, and the first thread too. A new thread of anybody else inherits the mask of its
// creator: all threads of such a library would share the processor of the first thread.
#pragma once

#include <sched.h>
#include <span>

namespace bench::ops {

// Permits the calling thread all processors of OpenMP's places while it lives. Does nothing if
// there are no places. Must be destroyed by the same thread.
class AllPlaces {
 public:
  AllPlaces();
  ~AllPlaces();
  AllPlaces(const AllPlaces&) = delete;
  AllPlaces& operator=(const AllPlaces&) = delete;

 private:
  cpu_set_t previous_;
  bool is_changed_ = false;
};

// Pins the threads that `before`, an earlier answer of own_threads(), does not contain to the
// places after the first one, in the order of their numbers. Returns their number. Does nothing
// without places.
int pin_new_threads(std::span<const int> before);

}  // namespace bench::ops
