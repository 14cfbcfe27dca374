// SPDX-License-Identifier: Apache-2.0
// JSON as other programs really write it: with faults, between other output, or not to its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One object at the top level of a text, without what stands around it and with the faults repaired
// that reports of Google Benchmark are known to have: numbers that JSON does not have ("nan",
// "-inf", "1.#INF", "12%") become null or the number, decimal commas points; a missing comma before
// a name is added, one before a closing bracket removed. Bytes that are not UTF-8 become U+FFFD.
struct JsonPart {
  std::string text;
  std::size_t begin = 0;  // position in the text
  // Whether the text ends before the object does. `text` then ends behind the last complete member
  // of a list in the object, and closes both; it is empty if there is no such member.
  bool is_cut = false;
};

// Finds the objects of a text that contain `key`. What precedes each of their lines, as ctest and
// other runners print it, is removed first.
std::vector<JsonPart> find_json_objects(std::string_view text, std::string_view key);

}  // namespace bench
