// SPDX-License-Identifier: Apache-2.0
#include "profiler/text_source.hpp"

#include "profiler/byte_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace bench {
namespace {

class StringStream final : public ByteStream {
 public:
  explicit StringStream(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(char* bytes, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - position_);
    std::memcpy(bytes, text_.data() + position_, count);
    position_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

// Splits a stream into lines. The buffer holds the unread part and grows only for a long line.
class BufferedSource final : public TextSource {
 public:
  BufferedSource(std::string name, std::unique_ptr<ByteStream> bytes,
                 std::size_t first_buffer = kFirstBuffer)
      : name_(std::move(name)), bytes_(as_utf8(std::move(bytes))), buffer_(first_buffer) {}

  const std::string& name() const override { return name_; }
  Status status() const override { return status_; }
  std::optional<std::string> file() const override { return bytes_->file(); }

  std::string_view head() override {
    while (!consumed_ && end_ < kHeadSize && fill()) {
    }
    if (!consumed_) head_.assign(buffer_.data(), std::min(end_, kHeadSize));
    return head_;
  }

  bool next(Line& line) override {
    consumed_ = true;
    if (must_skip_rest_) skip_rest();
    const std::size_t size = find_end();
    if (size == 0 && begin_ == end_) return false;
    line.number = ++number_;
    line.cut = size > kMaxProfileLine;
    line.text = {buffer_.data() + begin_, std::min(size, kMaxProfileLine)};
    begin_ += line.text.size();
    must_skip_rest_ = line.cut;
    line.has_end = !line.cut && begin_ < end_;
    if (line.has_end) ++begin_;
    if (line.text.ends_with('\r')) {  // the line is complete, also without the newline after it
      line.text.remove_suffix(1);
      line.has_end = !line.cut;
    }
    return true;
  }

  std::string_view next_piece() override {
    consumed_ = true;
    if (begin_ == end_) fill();
    const std::string_view piece(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_;
    return piece;
  }

 private:
  static constexpr std::size_t kFirstBuffer = 256 * 1024;

  // Returns the length of the line at begin_ without its newline. Returns more than kMaxProfileLine
  // if the line is longer than that.
  std::size_t find_end() {
    std::size_t searched = 0;
    while (true) {
      const char* start = buffer_.data() + begin_;
      const void* found = std::memchr(start + searched, '\n', end_ - begin_ - searched);
      if (found != nullptr) {
        return static_cast<std::size_t>(static_cast<const char*>(found) - start);
      }
      searched = end_ - begin_;
      if (searched > kMaxProfileLine || !fill()) return searched;
    }
  }

  void skip_rest() {
    must_skip_rest_ = false;
    while (true) {
      const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
      if (found != nullptr) {
        begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
        return;
      }
      begin_ = end_;
      if (!fill()) return;
    }
  }

  // Appends more bytes at end_. Returns false at the end or after an error.
  bool fill() {
    if (at_end_) return false;
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const auto count = bytes_->read(buffer_.data() + end_, buffer_.size() - end_);
    if (!count.ok()) status_ = count.error();
    at_end_ = !count.ok() || *count == 0;
    if (!at_end_) end_ += *count;
    return !at_end_;
  }

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
  std::string head_;
  bool consumed_ = false;
  bool at_end_ = false;
  bool must_skip_rest_ = false;  // the rest of a cut line
  Status status_ = Done{};
};

}  // namespace

Result<std::unique_ptr<TextSource>> open_text(const std::string& path) {
  const auto make_source = [](std::string name, std::unique_ptr<ByteStream> bytes) {
    return std::unique_ptr<TextSource>(
        std::make_unique<BufferedSource>(std::move(name), std::move(bytes)));
  };
  if (path == "-") {
    const std::string name = "(standard input)";
    return make_source(name, open_standard_input(name));
  }
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, open_bytes(path));
  return make_source(path, std::move(bytes));
}

Result<std::unique_ptr<TextSource>> open_profile(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(PassChoice choice, choose_passes({&path, 1}));
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(path));
  source->passes().choose(std::move(choice));
  return source;
}

std::unique_ptr<TextSource> text_source_for_test(std::string name, std::string text) {
  const std::size_t buffer_size = text.size() + 1;  // never 0
  return std::make_unique<BufferedSource>(
      std::move(name), std::make_unique<StringStream>(std::move(text)), buffer_size);
}

}  // namespace bench
