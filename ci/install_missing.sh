# SPDX-License-Identifier: Apache-2.0
# Sourced by ./bench and ci/test, which both build on a machine where nothing was installed by hand.
# shellcheck shell=sh

# install_missing <caller> <root> [<option of ci/setup>]: reports what is missing, and installs it if
# the environment (CI, BENCH_SETUP=yes) or the user at the terminal permits it. Otherwise says how to
# install it and exits with status 2.
install_missing() {
  caller=$1
  setup=$2/ci/setup
  shift 2
  missing=$("$setup" --check "$@") && return 0
  command=$(printf "'%s'" "$(printf '%s' "$setup" | sed "s/'/'\\\\''/g")")${1:+ $1}
  printf '%s: missing for the build:\n' "$caller" >&2
  printf '%s\n' "$missing" | sed 's/^/  /' >&2
  if [ -n "${CI:-}" ] || [ "${BENCH_SETUP:-}" = yes ]; then
    answer=yes
  elif [ -t 0 ] && [ -t 2 ]; then
    printf 'Install it now? [y/N] ' >&2
    read -r answer || answer=no
  else
    printf '%s: install it with: %s\n' "$caller" "$command" >&2
    printf '%s: or set BENCH_SETUP=yes to let this command do so\n' "$caller" >&2
    exit 2
  fi
  case $answer in
    y | Y | yes) "$setup" "$@" || exit 2 ;;
    *)
      printf '%s: nothing was installed; to do it by hand: %s\n' "$caller" "$command" >&2
      exit 2
      ;;
  esac
}
