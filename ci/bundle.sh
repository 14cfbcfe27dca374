#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/bundle.sh [--build DIR] [--out FILE | --tree DIR]
# Packs a build into one archive that runs on other x86-64 machines without a network or packages:
# the installed tree, with all required libraries except those on every machine with a C++ compiler
# (glibc, libstdc++), CUPTI of the toolkit that it was built with, and the program of GPU checks.
# cuDNN and cuBLAS are too large: the target machine must provide them (docs/cuda.md).
# ci/gpu_check.sh unpacks and runs the archive.
#   --build DIR  the build to pack (default: build/release, which is brought up to date first)
#   --out FILE   the archive (default: build/bundle/bench.tar.gz)
#   --tree DIR   the tree itself in this new folder, in place of an archive (ci/wheel)
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

usage() { sed -n '3,12s/^# //p' "${BASH_SOURCE[0]}"; }
build='' out=build/bundle/bench.tar.gz unpacked=''
limit=$((60 * 1000 * 1000))
while (($#)); do
  case $1 in
    --build) build=${2:?folder} && shift 2 ;;
    --out) out=${2:?file} && shift 2 ;;
    --tree) unpacked=${2:?folder} && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done
if [[ -z $build ]]; then
  # ./bench builds only what a run needs; an installed tree has more.
  BENCH_SETUP=yes ./bench --version >&2
  build=build/release
  cmake --build "$build" >&2
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
tree=$stage/bench
cmake --install "$build" --strip --prefix "$tree" >/dev/null

libraries=$tree/lib/bench
notices=$libraries/notices
mkdir "$notices"
# add_library FILE NAME: copies a library of another project, with the notice of its licence.
add_library() {
  local file package notice
  file=$(readlink -f "$1")
  case $2 in
    libcupti.so.* | libnvperf_*) notice=licenses/nvidia-cuda.txt ;;
    *)
      package=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null || true)
      notice=/usr/share/doc/${package%%:*}/copyright
      ;;
  esac
  if [[ ! -s $notice ]]; then
    printf 'ci/bundle.sh: no notice of the licence of %s, which must not be packed without one\n' "$file" >&2
    exit 1
  fi
  install -m 644 "$file" "$libraries/$2"
  install -m 644 "$notice" "$notices/$2.txt"
}
# In the plugin's folder, which it searches first: records of CUPTI are structures of one version.
cupti=$(sed -n 's/^BENCH_CUPTI_LIBRARY:FILEPATH=//p' "$build/CMakeCache.txt")
plugin=$libraries/libbench_cuda.so
if [[ -f $plugin && -n $cupti ]]; then
  add_library "$cupti" "$(objdump -p "$cupti" | awk '/SONAME/ {print $2}')"
  # CUPTI needs these to read counters: names and values on the host, and the device's side.
  for name in libnvperf_host.so libnvperf_target.so; do
    counters=$(dirname -- "$cupti")/$name
    [[ ! -f $counters ]] || add_library "$counters" "$name"
  done
fi
checks=$build/lib/bench/bench_gpu_test
[[ ! -x $checks ]] || install -s -m 755 "$checks" "$tree/bin/bench_gpu_test"

# The libraries that the loader finds on this machine, except those in the tree and those on every
# machine.
everywhere='^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libutil|libstdc\+\+|libgcc_s)\.so\.'
while read -r name path; do
  [[ -e $libraries/$name || $name =~ $everywhere ]] || add_library "$path" "$name"
done < <(ldd "$tree"/bin/* "$libraries"/*.so* | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u)
# The loader finds what a program needs by its RUNPATH, which LD_LIBRARY_PATH precedes. It does not use
# this RUNPATH for what only a library of the program needs.
needed() { objdump -p "$1" | awk '/NEEDED/ {print $2}'; }
for program in "$tree"/bin/*; do
  direct=$(needed "$program")
  for library in $(ldd "$program" | awk -v folder="$libraries/" '{print folder $1}'); do
    [[ -e $library ]] || continue
    for name in $(needed "$library"); do
      [[ ! -e $libraries/$name ]] || grep -qxF "$name" <<<"$direct" || ci/search_beside.py "$library"
    done
  done
done

if [[ -n $unpacked ]]; then
  cp -r "$tree" "$unpacked"
  exit 0
fi
mkdir -p "$(dirname -- "$out")"
# The time of the commit, so that the same sources give the same archive. A source archive has it in a
# file, and otherwise only the times of its files.
archived() { awk '$2 ~ /^[0-9]+$/ { print $2; found = 1 } END { exit !found }' cmake/source_commit.txt; }
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || archived || stat -c %Y CHANGELOG.md)}
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" \
  --directory "$stage" bench | gzip -9n >"$out"
bytes=$(stat -c %s "$out")
if ((bytes > limit)); then
  printf 'ci/bundle.sh: %s has %d bytes, more than %d\n' "$out" "$bytes" "$limit" >&2
  exit 1
fi
printf '%s: %d bytes\n' "$out" "$bytes"
