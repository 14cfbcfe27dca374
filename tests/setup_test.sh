#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/setup_test.sh <setup>: ci/setup on simulated distributions: their os-release, and package
# managers that record their calls instead of installing.
set -uo pipefail
setup=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset CMAKE_PREFIX_PATH dnnl_ROOT

check() { # check <what> <expected> <got>
  if [[ $2 != "$3" ]]; then
    printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

# A checkout in which all wheels are installed, so that only packages of the distribution are missing.
root=$work/checkout
mkdir -p "$root/ci/requirements" "$work/bin"
cp "$setup" "$root/ci/setup"
while read -r name folder; do
  echo "nothing==0" >"$root/ci/requirements/$name.txt"
  mkdir -p "$root/build/deps/$folder"
  cp "$root/ci/requirements/$name.txt" "$root/build/deps/$folder/installed-$name.txt"
done <<'WHEELS'
onednn venv
nvtx nvtx
cuda cuda
WHEELS

# Queries report a package as installed if it is listed; installing adds it to the list.
cat >"$work/bin/manager" <<'MANAGER'
#!/bin/sh
tool=${0##*/}
here=${0%/*}
for last; do :; done
case "$tool $*" in
  'rpm '* | 'pacman -Qq '*) grep -qx "$last" "$here/installed" ;;
  *) echo "$tool $*" >>"$here/calls"; printf '%s\n' "$@" >>"$here/installed" ;;
esac
MANAGER
chmod +x "$work/bin/manager"
for tool in rpm dnf pacman; do ln -s manager "$work/bin/$tool"; done
printf '#!/bin/sh\necho 0\n' >"$work/bin/id" # as root, so that nothing asks for a password
chmod +x "$work/bin/id"

# on <ID> <ID_LIKE> <NAME> <arguments>...: sets its output and status
on() {
  printf 'ID=%s\nID_LIKE="%s"\nNAME="%s"\n' "$1" "$2" "$3" >"$work/os-release"
  shift 3
  out=$(PATH="$work/bin:$PATH" BENCH_OS_RELEASE="$work/os-release" "$root/ci/setup" "$@" 2>"$work/err")
  status=$?
}
fresh() { rm -f "$work/bin/calls" && : >"$work/bin/installed"; }

fedora="ca-certificates cmake gcc-c++ git google-benchmark-devel cli11-devel fmt-devel hwloc-devel \
protozero-devel sqlite-devel yaml-cpp-devel ninja-build json-devel python3 rapidjson-devel zlib-devel"
arch="ca-certificates cmake gcc git benchmark cli11 fmt hwloc protozero sqlite yaml-cpp ninja \
nlohmann-json python rapidjson zlib"

fresh
on fedora '' 'Fedora Linux' --check --build
check "Fedora: status" 1 $status
check "Fedora: names" "packages of Fedora Linux: $fedora" "$out"
on fedora '' 'Fedora Linux' --build
check "Fedora: installs" "dnf install --assumeyes $fedora" "$(cat "$work/bin/calls")"
check "Fedora: status of installing" 0 $status
on fedora '' 'Fedora Linux' --check --build
check "Fedora: nothing is missing afterwards" "0 " "$status $out"

fresh
printf 'cmake\nzlib\n' >"$work/bin/installed"
on manjaro arch 'Manjaro Linux' --check --build
rest=${arch/cmake /}
check "like Arch: what is missing" "packages of Manjaro Linux: ${rest% zlib}" "$out"
on manjaro arch 'Manjaro Linux' --build
check "like Arch: installs" "pacman -S --needed --noconfirm ${rest% zlib}" "$(cat "$work/bin/calls")"
# Without a package database `pacman -S` fails, with a message that a script's user may not see.
check "like Arch: names the command and what it may lack" "ci/setup: installing packages of Manjaro Linux: \
pacman -S --needed --noconfirm ${rest% zlib}; if pacman has no package database yet, run \`pacman -Sy\` first" \
  "$(grep installing "$work/err")"

# A dpkg-query, on Debian or elsewhere, without any package.
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query" && chmod +x "$work/bin/dpkg-query"
for like in 'ubuntu debian Ubuntu' 'debian - Debian'; do
  read -r id id_like name <<<"$like"
  on "$id" "$id_like" "$name" --check --build
  check "$name: names" "packages of $name: ca-certificates cmake g++ git libbenchmark-dev libcli11-dev \
libfmt-dev libhwloc-dev libprotozero-dev libsqlite3-dev libyaml-cpp-dev ninja-build nlohmann-json3-dev python3 python3-venv \
rapidjson-dev zlib1g-dev" "$out"
done

# CUDA's wheels are arranged like a toolkit; repeating this is harmless.
cuda=$root/build/deps/cuda
mkdir -p "$root/build/deps/venv/bin"
cat >"$root/build/deps/venv/bin/python" <<'PYTHON'
#!/bin/sh
# Python 3.11. Used as pip, it installs what $WHEELS names below the folder after --prefix.
[ "$1" != -c ] || { echo python3.11 && exit; }
while [ "$1" != --prefix ]; do shift; done
packages=$2/lib/python3.11/site-packages/nvidia
mkdir -p "$packages"
for wheel in $WHEELS; do mkdir -p "$packages/$wheel/include" "$packages/$wheel/lib"; done
touch "$packages/cu13/lib/libcupti.so.13"
[ ! -d "$packages/cudnn" ] || touch "$packages/cudnn/include/cudnn.h" "$packages/cudnn/lib/libcudnn.so.9"
PYTHON
chmod +x "$root/build/deps/venv/bin/python"
export WHEELS
# A failure while arranging the toolkit used to leave a folder that counted as installed.
WHEELS=cu13 on debian '' Debian --cuda
check "toolkit without cuDNN: status" 1 $status
on debian '' Debian --check --cuda
check "toolkit without cuDNN: what is missing" "1 PyPI package: nothing==0" "$status $out"
# The files of an older Python stay in place.
mkdir -p "$cuda/lib/python3.9/site-packages/nvidia"
for _ in 1 2; do
  WHEELS='cu13 cudnn' on debian '' Debian --cuda
  check "toolkit: status" 0 $status
  for file in toolkit/lib64/libcupti.so toolkit/include/cudnn.h cudnn/libcudnn.so.9; do
    [[ -f $cuda/$file ]] || check "toolkit: file" "$file" "nothing"
  done
done
on debian '' Debian --check --cuda
check "toolkit: nothing is missing afterwards" "0 " "$status $out"
rm "$cuda/toolkit"
on debian '' Debian --check --cuda
check "toolkit: a link that is missing" "1 PyPI package: nothing==0" "$status $out"

# oneDNN from its source: a tree that builds one function, and a repository with a tag of it. The
# library contains the options of its build.
mkdir -p "$root/ops/gemm" "$root/ops/onednn" "$work/source"
echo 'dnnl::matmul::primitive_desc a; dnnl::pooling_forward b;' >"$root/ops/gemm/onednn.cpp"
echo 'dnnl::reorder c; // dnnl::sum_of_nothing' >"$root/ops/onednn/chain.cpp"
cat >"$work/source/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
set(PROJECT_VERSION "9.8.7")
project(DNNL VERSION "${PROJECT_VERSION}" LANGUAGES C)
file(WRITE "${CMAKE_BINARY_DIR}/options.txt"
  "${ONEDNN_ENABLE_PRIMITIVE} ${ONEDNN_ENABLE_WORKLOAD} ${ONEDNN_BUILD_TESTS} ${ONEDNN_CPU_RUNTIME}\n")
add_library(dnnl SHARED dnnl.c)
set_target_properties(dnnl PROPERTIES VERSION 3.8 SOVERSION 3)
install(TARGETS dnnl)
install(FILES dnnl.h DESTINATION include)
CMAKE
echo 'int dnnl_answer(void);' >"$work/source/dnnl.h"
echo 'int dnnl_answer(void) { return 42; }' >"$work/source/dnnl.c"
source_on() { on debian '' Debian "$@"; }
source_on --check --onednn "$work/source"
check "source: what is missing" "1 oneDNN 9.8.7, built from its source" "$status $out"
source_on --onednn "$work/source"
check "source: status" 0 $status
prefix=$root/build/deps/onednn-9.8.7
for file in lib/libdnnl.so.3 include/dnnl.h; do
  [[ -e $prefix/$file ]] || check "source: file" "$file" "nothing"
done
check "source: options" "MATMUL;POOLING;REORDER TRAINING OFF OMP" \
  "$(cat "$root/build/deps/onednn-build/9.8.7/options.txt")"
check "source: says how to use it" "  ./bench duet configs/quick.yaml --cand-library build/deps/onednn-9.8.7" \
  "$(grep -- --cand-library "$work/err")"
source_on --check --onednn "$work/source"
check "source: nothing is missing afterwards" "0 " "$status $out"
# A folder that changes is built again.
echo 'int dnnl_answer(void) { return 43; }' >"$work/source/dnnl.c"
before=$(cksum <"$prefix/lib/libdnnl.so.3.8")
source_on --onednn "$work/source"
[[ $(cksum <"$prefix/lib/libdnnl.so.3.8") != "$before" ]] || check "source: builds again" "a new library" "the old one"

export BENCH_ONEDNN_REPOSITORY=$work/source
git -C "$work/source" init -q
git -C "$work/source" add -A
git -C "$work/source" -c user.name=t -c user.email=t@t commit -qm source
git -C "$work/source" tag v9.9
source_on --onednn v9.9
check "version: status" 0 $status
[[ -e $root/build/deps/onednn-9.9/lib/libdnnl.so.3 ]] || check "version: file" "libdnnl.so.3" "nothing"
# A version that is installed needs neither network nor compiler.
BENCH_ONEDNN_REPOSITORY=/nowhere source_on --onednn 9.9
check "version: cached" "0 " "$status $(grep -e downloading -e building "$work/err")"
source_on --onednn 9.10
check "version: no such tag" "1 ci/setup: the repository has no tag v9.10, or it cannot be reached; download the \
source yourself, and name its folder: ci/setup --onednn FOLDER" "$status $(grep 'no tag' "$work/err")"
source_on --onednn "$work/typo"
check "source: no such folder" "2 ci/setup: no such folder, and not a version: $work/typo" "$status $(cat "$work/err")"
source_on --onednn "$work/bin"
check "source: another folder" "1 ci/setup: $work/bin is not a source tree of oneDNN: its CMakeLists.txt states no version" \
  "$status $(cat "$work/err")"

# If no package names are known, the configure step reports what is missing.
on void '' 'Void' --check --build
check "unknown distribution" "0 " "$status $out"

[[ $failures == 0 ]] && echo "setup: all checks passed"
exit $((failures > 0))
