#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuda_symbols_test.sh READELF CAPTURE FILE... [-- PLUGIN...]: checks that no FILE has a symbol of
# NVIDIA's libraries or needs one of them. CAPTURE is preloaded into other programs and replaces the
# four functions that switch CUDA's profiler. It must define exactly these, which shows that this
# test finds what it looks for. A PLUGIN is built with CUDA's toolkit and may contain CUDA's
# runtime, but must not export or need any of it.
set -euo pipefail
readelf=$1 capture=$2
shift 2

fail() { printf 'cuda_symbols_test.sh: %s\n' "$*" >&2 && exit 1; }

# foreign_symbols --symbols|--dyn-syms FILE: "DEFINED|UND NAME" of C functions of CUDA's runtime and driver,
# cuBLAS, cuDNN, CUPTI, NVML and NVRTC.
foreign_symbols() {
  "$readelf" --wide "$1" "$2" | awk '$4 == "FUNC" || $4 == "OBJECT" || $4 == "NOTYPE" {
    name = $8
    sub(/@.*/, "", name)
    if (name ~ /^(cu[A-Z]|cuda[A-Z_]|cublas|cudnn|cupti|nvml|nvrtc)/)
      print ($7 == "UND" ? "UND" : "DEFINED"), name
  }' | sort -u
}
foreign_libraries() {
  "$readelf" --wide --dynamic "$1" |
    sed -n 's/.*(NEEDED).*\[\(lib\(cuda\|cudart\|cublas\|cudnn\|cupti\|nvidia\|nvrtc\)[^]]*\)\].*/\1/p'
}

stands_in=$(foreign_symbols --symbols "$capture")
[[ $stands_in == "DEFINED cuProfilerStart
DEFINED cuProfilerStop
DEFINED cudaProfilerStart
DEFINED cudaProfilerStop" ]] || fail "$capture: unexpected symbols: $stands_in"

table=--symbols
for file in "$@"; do
  if [[ $file == -- ]]; then
    table=--dyn-syms
    continue
  fi
  symbols=$(foreign_symbols $table "$file")
  [[ -z $symbols ]] || fail "$file: symbols of CUDA: $symbols"
done
for file in "$capture" "$@"; do
  [[ $file != -- ]] || continue
  "$readelf" --wide --dynamic "$file" | grep -q '(NEEDED)' || fail "$file: no program or library that is loaded"
  needed=$(foreign_libraries "$file")
  [[ -z $needed ]] || fail "$file: needs $needed"
done
