# SPDX-License-Identifier: Apache-2.0
# bench_embed_text(<sources variable> <name> FILES <file>...)
# Adds to the sources a generated file that contains each text file as
# `bench::kEmbedded<Stem><Ext>`, a std::string_view ("timeline.js" -> kEmbeddedTimelineJs). It is
# regenerated when the file changes.
set(BENCH_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed_text.cmake")

function(bench_embed_text list name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  set(inputs ${arg_FILES})
  list(TRANSFORM inputs PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(JOIN inputs "|" joined)
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUTS=${joined}" "-DOUTPUT=${output}" -P "${BENCH_EMBED_SCRIPT}"
    DEPENDS ${inputs} "${BENCH_EMBED_SCRIPT}" VERBATIM COMMENT "Embedding ${name}")
  set(${list} ${${list}} "${output}" PARENT_SCOPE)
endfunction()
