// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bench {

// Output stream for rapidjson::Writer that appends to the caller's string.
struct JsonStringStream {
  using Ch = char;
  std::string& text;
  void Put(char c) { text.push_back(c); }
  void Flush() {}
};

}  // namespace bench
