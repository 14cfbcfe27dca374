// SPDX-License-Identifier: Apache-2.0
// The processors that this program may use.
#pragma once

namespace bench {

// Restores the affinity mask that the library's OpenMP runtime changes while it is loaded. If
// OMP_PROC_BIND or OMP_PLACES is set, the runtime binds the first thread to its first place, and
// the inherited mask then shows only one processor. Afterwards this thread's mask contains all
// places again. Does nothing if no places are set. Not for workers, which need the binding.
void restore_inherited_processors();

}  // namespace bench
