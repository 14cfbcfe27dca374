// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

namespace bench {

std::string Error::message() const {
  std::string text;
  if (!where.empty()) text += where + ": ";
  text += what;
  if (!next.empty()) text += "; " + next;
  return text;
}

Error at_option(Error error, std::string_view option) {
  error.where = error.where.empty() ? std::string(option) : std::string(option) + " " + error.where;
  return error;
}

}  // namespace bench
