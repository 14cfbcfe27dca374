// SPDX-License-Identifier: Apache-2.0
// The processors that this program was given.
#pragma once

namespace bench {

// Undoes what the OpenMP runtime that comes with the library does to every program while it is
// loaded: with OMP_PROC_BIND or OMP_PLACES set it binds the first thread to its first place, and
// whoever then asks for the inherited mask finds one processor. Afterwards this thread's mask holds
// all places again. Does nothing where no places are set. Not for workers: they want the binding.
void restore_inherited_processors();

}  // namespace bench
