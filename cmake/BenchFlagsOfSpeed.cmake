# SPDX-License-Identifier: Apache-2.0
# bench_flags_of_speed(FLAGS RESULT): sets RESULT to the compiler's options in FLAGS that may change the
# speed of a program, separated by one space. They are part of the machine class, so options must be
# left out that differ between builds of the same code: warnings, debug information, paths and texts of
# messages (docs/decisions/0036).
function(bench_flags_of_speed flags result)
  # -Wa, -Wp, and -Wl, pass options to other programs.
  set(no_effect "^-g|^-W[^apl]|^-W[apl][^,]|^-W$|^-pedantic|^-f(file|debug|macro|profile|canon)-prefix-map"
    "^-fdiagnostics-|^-fmessage-length=|^-f(no-)?color-diagnostics|^-frandom-seed=|^-pipe$|^-I.|^-L.")
  list(JOIN no_effect "|" no_effect)
  set(with_operand -I -L -isystem -iquote -idirafter)
  separate_arguments(words UNIX_COMMAND "${flags}")
  set(kept "")
  set(is_operand FALSE)
  foreach(word IN LISTS words)
    if(is_operand)
      set(is_operand FALSE)
    elseif(word IN_LIST with_operand)
      set(is_operand TRUE)
    elseif(NOT word MATCHES "${no_effect}")
      list(APPEND kept "${word}")
    endif()
  endforeach()
  list(JOIN kept " " kept)
  set(${result} "${kept}" PARENT_SCOPE)
endfunction()
