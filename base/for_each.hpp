// SPDX-License-Identifier: Apache-2.0
// BENCH_FOR_EACH(macro, items...) expands to macro(item) for each of up to 80 items.
//
// A macro cannot call itself. So BENCH_FOR_EACH_STEP leaves a call that is not expanded yet, and
// each BENCH_RESCAN makes the preprocessor read the text again and expand the next one.
#pragma once

#define BENCH_FOR_EACH(macro, ...) __VA_OPT__(BENCH_RESCAN(BENCH_FOR_EACH_STEP(macro, __VA_ARGS__)))

#define BENCH_FOR_EACH_STEP(macro, item, ...) \
  macro(item) __VA_OPT__(BENCH_FOR_EACH_AGAIN BENCH_NO_ARGUMENTS(macro, __VA_ARGS__))
#define BENCH_FOR_EACH_AGAIN() BENCH_FOR_EACH_STEP
#define BENCH_NO_ARGUMENTS ()

#define BENCH_RESCAN(...) \
  BENCH_RESCAN_3(BENCH_RESCAN_3(BENCH_RESCAN_3(BENCH_RESCAN_3(__VA_ARGS__))))
#define BENCH_RESCAN_3(...) \
  BENCH_RESCAN_2(BENCH_RESCAN_2(BENCH_RESCAN_2(BENCH_RESCAN_2(__VA_ARGS__))))
#define BENCH_RESCAN_2(...) \
  BENCH_RESCAN_1(BENCH_RESCAN_1(BENCH_RESCAN_1(BENCH_RESCAN_1(__VA_ARGS__))))
#define BENCH_RESCAN_1(...) __VA_ARGS__

// An item is a word, or a list in parentheses: (word, more...). BENCH_BY_FORM(macro, item) expands
// to macro_Word(item) or to macro_List(item).
#define BENCH_BY_FORM(macro, item) BENCH_JOIN(macro, BENCH_FORM(item))(item)
#define BENCH_FORM(item) BENCH_SECOND(BENCH_MARK_LIST item, _Word, )
#define BENCH_MARK_LIST(...) , _List
#define BENCH_FIRST(first, ...) first
#define BENCH_SECOND(...) BENCH_SECOND_OF(__VA_ARGS__)
#define BENCH_SECOND_OF(first, second, ...) second
#define BENCH_JOIN(left, right) BENCH_JOIN_EXPANDED(left, right)
#define BENCH_JOIN_EXPANDED(left, right) left##right
