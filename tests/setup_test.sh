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
yaml-cpp-devel ninja-build json-devel python3 rapidjson-devel zlib-devel"
arch="ca-certificates cmake gcc git benchmark cli11 fmt hwloc yaml-cpp ninja nlohmann-json python \
rapidjson zlib"

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
libfmt-dev libhwloc-dev libyaml-cpp-dev ninja-build nlohmann-json3-dev python3 python3-venv rapidjson-dev \
zlib1g-dev" "$out"
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

# If no package names are known, the configure step reports what is missing.
on void '' 'Void' --check --build
check "unknown distribution" "0 " "$status $out"

[[ $failures == 0 ]] && echo "setup: all checks passed"
exit $((failures > 0))
