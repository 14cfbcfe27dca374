// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, unpacked if gzip packed it, whatever its name.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace bench {

// A source of bytes.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Reads up to `size` bytes. Returns 0 at the end.
  virtual Result<std::size_t> read(char* bytes, std::size_t size) = 0;
  // Returns the path of the regular file that has these bytes. Returns nullopt if there is none.
  virtual std::optional<std::string> file() const { return std::nullopt; }
};

// Opens a file as open_input() does (base/file.hpp), which refuses a FIFO or device. Returns an
// error that names the program to use if another program than gzip packed the file. What comes from
// a pipe is not unpacked.
Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& path);
std::unique_ptr<ByteStream> open_standard_input(const std::string& name);
// Returns a stream of the same text in UTF-8 (base/utf8.hpp). Copies nothing if nothing is
// converted.
std::unique_ptr<ByteStream> as_utf8(std::unique_ptr<ByteStream> bytes);

}  // namespace bench
