// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/byte_sink.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t kBlock = 1 << 18;  // a write of 256 KiB costs little more than copying it

class FileBytes final : public ByteSink {
 public:
  explicit FileBytes(OutputFile file) : file_(std::move(file)) { buffer_.reserve(kBlock); }

  Status write(std::string_view bytes) override {
    buffer_ += bytes;
    return buffer_.size() < kBlock ? Status(Done{}) : drain();
  }
  Status close() override {
    BENCH_RETURN_IF_ERROR(drain());
    return file_.commit();
  }

 private:
  Status drain() {
    BENCH_RETURN_IF_ERROR(file_.append(buffer_));
    buffer_.clear();
    return Done{};
  }

  OutputFile file_;
  std::string buffer_;
};

class TextBytes final : public ByteSink {
 public:
  explicit TextBytes(std::string& text) : text_(text) {}
  Status write(std::string_view bytes) override {
    text_ += bytes;
    return Done{};
  }
  Status close() override { return Done{}; }

 private:
  std::string& text_;
};

class GzipBytes final : public ByteSink {
 public:
  GzipBytes(std::unique_ptr<ByteSink> next, std::size_t max_piece)
      : next_(std::move(next)), max_piece_(max_piece) {
    // 15 bits of window, plus 16 for the gzip header. Level 2 compresses traces to a fifteenth of
    // their size, in a fifth of the time of the default level.
    ready_ = deflateInit2(&stream_, 2, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipBytes() override {
    if (ready_) deflateEnd(&stream_);
  }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, max_piece_);
      BENCH_RETURN_IF_ERROR(deflate_all(piece, Z_NO_FLUSH));
      bytes.remove_prefix(piece.size());
    }
    return Done{};
  }
  Status close() override {
    BENCH_RETURN_IF_ERROR(deflate_all({}, Z_FINISH));
    return next_->close();
  }

 private:
  Status deflate_all(std::string_view bytes, int flush) {
    if (!ready_) return Error{"cannot compress: zlib has no memory", "", "free some memory"};
    // zlib does not modify its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      deflate(&stream_, flush);
      const std::size_t made = block_.size() - stream_.avail_out;
      BENCH_RETURN_IF_ERROR(next_->write({block_.data(), made}));
    } while (stream_.avail_out == 0);
    return Done{};
  }

  std::unique_ptr<ByteSink> next_;
  std::size_t max_piece_;
  z_stream stream_{};
  bool ready_ = false;
  std::array<char, 65536> block_;
};

class Base64Bytes final : public ByteSink {
 public:
  explicit Base64Bytes(std::unique_ptr<ByteSink> next) : next_(std::move(next)) {}

  Status write(std::string_view bytes) override {
    pending_ += bytes;
    const std::size_t whole = pending_.size() / 3 * 3;
    BENCH_RETURN_IF_ERROR(encode(whole));
    pending_.erase(0, whole);
    return Done{};
  }
  Status close() override {
    const std::size_t rest = pending_.size();
    pending_.resize(rest == 0 ? 0 : 3, '\0');
    BENCH_RETURN_IF_ERROR(encode(pending_.size(), rest == 0 ? 0 : 3 - rest));
    return next_->close();
  }

 private:
  // Replaces the last `padding` digits by '='.
  Status encode(std::size_t size, std::size_t padding = 0) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_.clear();
    for (std::size_t i = 0; i < size; i += 3) {
      const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
      for (int shift = 18; shift >= 0; shift -= 6) text_ += kDigits[group >> shift & 63];
    }
    text_.replace(text_.size() - padding, padding, padding, '=');
    return next_->write(text_);
  }
  std::uint32_t byte(std::size_t i) const { return static_cast<unsigned char>(pending_[i]); }

  std::unique_ptr<ByteSink> next_;
  std::string pending_, text_;
};

class FramedBytes final : public ByteSink {
 public:
  FramedBytes(std::string_view before, std::string after, std::unique_ptr<ByteSink> next)
      : before_(before), after_(std::move(after)), next_(std::move(next)) {}

  Status write(std::string_view bytes) override {
    BENCH_RETURN_IF_ERROR(open());
    return next_->write(bytes);
  }
  Status close() override {
    BENCH_RETURN_IF_ERROR(open());
    BENCH_RETURN_IF_ERROR(next_->write(after_));
    return next_->close();
  }

 private:
  Status open() {
    if (before_.empty()) return Done{};
    return next_->write(std::exchange(before_, {}));
  }

  std::string before_, after_;
  std::unique_ptr<ByteSink> next_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> file_bytes(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, existing));
  return std::unique_ptr<ByteSink>(std::make_unique<FileBytes>(std::move(file)));
}

std::unique_ptr<ByteSink> text_bytes(std::string& text) {
  return std::make_unique<TextBytes>(text);
}

std::unique_ptr<ByteSink> gzip_bytes(std::unique_ptr<ByteSink> next, std::size_t max_piece) {
  return std::make_unique<GzipBytes>(std::move(next), max_piece);
}

std::unique_ptr<ByteSink> base64_bytes(std::unique_ptr<ByteSink> next) {
  return std::make_unique<Base64Bytes>(std::move(next));
}

std::unique_ptr<ByteSink> framed_bytes(std::string_view before, std::string after,
                                       std::unique_ptr<ByteSink> next) {
  return std::make_unique<FramedBytes>(before, std::move(after), std::move(next));
}

}  // namespace bench
