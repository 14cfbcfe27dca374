// SPDX-License-Identifier: Apache-2.0
// The choices that were made by measurement on a device (tuner.hpp). As text they pass from the
// worker that chose for a case to those that measure it, so that all execute the same kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

class ChoiceStore {
 public:
  // Takes over the choices of another process, in the form of text(), in place of those before.
  // Ignores lines without a key and a name.
  void fix(std::string_view text);
  // Returns the name that is fixed for a key.
  std::optional<std::string> find_fixed(const std::string& key) const;
  // Records that the candidate `name` was chosen. Keys and names must not contain tabs or line
  // breaks; such choices are not recorded.
  void note(const std::string& key, const std::string& name);
  // Returns all choices that this process has noted, also for earlier cases, whose kernels it may
  // use again: "KEY<tab>NAME" lines in the order of their keys. Empty if there are none.
  std::string text() const;

 private:
  std::map<std::string, std::string> fixed_, noted_;
};

}  // namespace bench::ops::cuda
