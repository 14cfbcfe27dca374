// SPDX-License-Identifier: Apache-2.0
// Where exporters write to: a chain of stages (base64, gzip) that ends in a file, which is there
// under its name only after close().
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace bench {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
  virtual Status close() = 0;  // the last call; without it nothing is left behind
};

// A file written through a buffer.
Result<std::unique_ptr<ByteSink>> file_bytes(const std::string& path, Existing existing);
// Appends to `text`, which outlives it.
std::unique_ptr<ByteSink> text_bytes(std::string& text);
// What is written to it goes on compressed (RFC 1952), at a level that favours speed.
std::unique_ptr<ByteSink> gzip_bytes(std::unique_ptr<ByteSink> next);
// What is written to it goes on as base64 (RFC 4648) on one line.
std::unique_ptr<ByteSink> base64_bytes(std::unique_ptr<ByteSink> next);
// `before`, what is written, `after`.
std::unique_ptr<ByteSink> framed_bytes(std::string_view before, std::string after,
                                       std::unique_ptr<ByteSink> next);

}  // namespace bench
