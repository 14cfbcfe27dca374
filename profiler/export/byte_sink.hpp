// SPDX-License-Identifier: Apache-2.0
// Output of exporters: a chain of stages (base64, gzip) that ends in a file. The file appears under
// its name only after close().
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
  virtual Status close() = 0;  // must be the last call; without it no file remains
};

// Writes a file through a buffer.
Result<std::unique_ptr<ByteSink>> file_bytes(const std::string& path, Existing existing);
// Appends to `text`, which must outlive the sink.
std::unique_ptr<ByteSink> text_bytes(std::string& text);
// zlib counts its input in 32 bits.
inline constexpr std::size_t kMaxGzipPiece = std::size_t{1} << 30;
// Compresses what is written (RFC 1952), at a level that favours speed, and forwards it. Passes at
// most `max_piece` bytes to zlib at a time.
std::unique_ptr<ByteSink> gzip_bytes(std::unique_ptr<ByteSink> next,
                                     std::size_t max_piece = kMaxGzipPiece);
// Encodes what is written as base64 (RFC 4648) on one line and forwards it.
std::unique_ptr<ByteSink> base64_bytes(std::unique_ptr<ByteSink> next);
// Forwards `before`, then what is written, then `after`.
std::unique_ptr<ByteSink> framed_bytes(std::string_view before, std::string after,
                                       std::unique_ptr<ByteSink> next);

}  // namespace bench
