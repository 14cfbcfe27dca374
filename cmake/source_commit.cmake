# SPDX-License-Identifier: Apache-2.0
# bench_source_commit(<source folder> <version> COMMIT <variable> TIME <variable> IS_RELEASE <variable>)
# Sets the commit of the sources (12 digits, with `-dirty` if they were changed), its time in seconds since
# 1970, and whether the tag v<version> names it. The variables are empty if nothing is known. In an
# archive, `git archive` has written all of this into source_commit.txt.
function(bench_source_commit source version)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "COMMIT;TIME;IS_RELEASE" "")
  set(commit "")
  set(time "")
  set(names "")
  # Otherwise a build could take the index lock from a concurrent commit.
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND git -C "${source}" rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # A source archive inside another repository has a commit of its own.
  if(top STREQUAL source)
    execute_process(COMMAND git -C "${source}" describe --always --abbrev=12 --dirty --exclude=*
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND git -C "${source}" log -1 "--format=%ct %D"
      OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  else()
    file(STRINGS "${source}/cmake/source_commit.txt" text)
    if(text MATCHES "^([0-9a-f]+) (.*)")
      set(text "${CMAKE_MATCH_2}")
      string(SUBSTRING "${CMAKE_MATCH_1}" 0 12 commit)
    endif()
  endif()
  if(commit AND text MATCHES "^([0-9]+) ?(.*)")
    set(time "${CMAKE_MATCH_1}")
    set(names ", ${CMAKE_MATCH_2},")
  endif()
  set(is_release FALSE)
  string(FIND "${names}" ", tag: v${version}," at)
  if(NOT at EQUAL -1 AND NOT commit MATCHES "-dirty$")
    set(is_release TRUE)
  endif()
  set(${arg_COMMIT} "${commit}" PARENT_SCOPE)
  set(${arg_TIME} "${time}" PARENT_SCOPE)
  set(${arg_IS_RELEASE} "${is_release}" PARENT_SCOPE)
endfunction()
