// SPDX-License-Identifier: Apache-2.0
// Creation of folders, including temporary ones, and names of what is created.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Creates the folder and its parents. Succeeds if the folder exists. The error states the system's
// reason; its `next` is empty, so the caller may set it.
Status create_folder(const std::string& path);

// Returns an error if files cannot be created in the folder, which need not exist yet. Call this
// before long work that produces the files. Removes the folders that it creates for the check.
Status check_output_folder(const std::string& path);

// A new folder that only this user can access. The destructor removes it with its content.
class TemporaryFolder {
 public:
  // Creates "bench-PURPOSE-XXXXXX", with six random characters, in TMPDIR or else in /tmp. Returns
  // an error if this is not a writable folder.
  static Result<TemporaryFolder> create(std::string_view purpose);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  // Returns the path of the file `name` in this folder.
  std::string file(std::string_view name) const;

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty if moved from
};

// Names of new files and folders that contain text of the input, such as a configuration's `name`.

// Returns a part of a file name that resembles `text` and stays in its folder, whatever the text
// contains: letters, digits, `_`, `+`, `-`, and `.` after the first character. Replaces other
// characters by `-`. Cuts a long text and adds its hash. Different texts may have the same result.
std::string file_stem(std::string_view text);

}  // namespace bench
