// SPDX-License-Identifier: Apache-2.0
#include "profiler/byte_stream.hpp"

#include "base/file.hpp"
#include "base/quote.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

class DescriptorStream final : public ByteStream {
 public:
  enum class Owned { no, yes };
  DescriptorStream(int descriptor, Owned owned, std::string name)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)) {}
  ~DescriptorStream() override {
    if (owned_ == Owned::yes) ::close(descriptor_);
  }
  DescriptorStream(const DescriptorStream&) = delete;
  DescriptorStream& operator=(const DescriptorStream&) = delete;

  Result<std::size_t> read(char* bytes, std::size_t size) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, bytes, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EISDIR) return Error{"is a folder", name_, "name a file in it"};
      if (errno != EINTR) return Error{fmt::format("cannot read: {}", strerror(errno)), name_, ""};
    }
  }

  std::optional<std::string> file() const override {
    struct ::stat facts {};
    const bool is_file =
        owned_ == Owned::yes && ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
    return is_file ? std::optional(name_) : std::nullopt;
  }

 private:
  int descriptor_;
  Owned owned_;
  std::string name_;
};

class GzipStream final : public ByteStream {
 public:
  GzipStream(gzFile file, std::string name) : file_(file), name_(std::move(name)) {}
  ~GzipStream() override { gzclose(file_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  Result<std::size_t> read(char* bytes, std::size_t size) override {
    constexpr std::size_t kMaxCount = std::size_t{1} << 30;  // gzread counts in an int
    const int count = gzread(file_, bytes, static_cast<unsigned>(std::min(size, kMaxCount)));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    // For an incomplete file, gzread yields what can be unpacked, then Z_BUF_ERROR.
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0 && code != Z_BUF_ERROR) return std::size_t{0};
    return Error{fmt::format("cannot unpack: {}", code == Z_ERRNO ? strerror(errno) : message),
                 name_, ""};
  }

 private:
  gzFile file_;
  std::string name_;
};

// Converts a text with a byte order mark to UTF-8.
class Utf8Stream final : public ByteStream {
 public:
  explicit Utf8Stream(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)) {}

  Result<std::size_t> read(char* bytes, std::size_t size) override {
    while (converted_.empty() && !at_end_) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t count, bytes_->read(bytes, size));
      at_end_ = count == 0;
      converted_ = at_end_ ? converter_.finish() : converter_.convert({bytes, count});
      if (converted_.data() == bytes) {  // nothing was converted
        converted_ = {};
        return count;
      }
    }
    const std::size_t count = std::min(size, converted_.size());
    std::memcpy(bytes, converted_.data(), count);
    converted_.remove_prefix(count);
    return count;
  }

  std::optional<std::string> file() const override { return bytes_->file(); }

 private:
  std::unique_ptr<ByteStream> bytes_;
  Utf8Converter converter_;
  std::string_view converted_;  // what is not read yet
  bool at_end_ = false;
};

// A packed file begins with these bytes. `unpack` is the command that unpacks it.
struct Packer {
  std::string_view magic;
  std::string_view name;
  std::string_view unpack;
};
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::array<Packer, 6> kPackers = {{{"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
                                             {"\xfd\x37zXZ", "xz", "xz -dk"},
                                             {"BZh", "bzip2", "bzip2 -dk"},
                                             {"PK\x03\x04", "zip", "unzip"},
                                             {"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
                                             {"7z\xbc\xaf", "7-Zip", "7z x"}}};

// Returns the first bytes of a file; fewer if it is short, and none of a pipe.
std::string read_magic(int descriptor) {
  std::array<char, 8> bytes{};
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(Descriptor descriptor, open_input(path));
  const std::string magic = read_magic(descriptor.get());
  const auto* packer = std::ranges::find_if(
      kPackers, [&](const Packer& row) { return magic.starts_with(row.magic); });
  if (packer != kPackers.end()) {
    return Error{fmt::format("is packed by {}", packer->name), path,
                 fmt::format("unpack it first: `{} {}`", packer->unpack, shell_quoted(path))};
  }
  if (!magic.starts_with(kGzipMagic)) {
    return std::unique_ptr<ByteStream>(std::make_unique<DescriptorStream>(
        descriptor.release(), DescriptorStream::Owned::yes, path));
  }
  gzFile file = gzdopen(descriptor.get(), "rb");
  if (file == nullptr) return Error{"cannot unpack: out of memory", path, ""};
  descriptor.release();  // gzclose closes it
  return std::unique_ptr<ByteStream>(std::make_unique<GzipStream>(file, path));
}

std::unique_ptr<ByteStream> open_standard_input(const std::string& name) {
  return std::make_unique<DescriptorStream>(STDIN_FILENO, DescriptorStream::Owned::no, name);
}

std::unique_ptr<ByteStream> as_utf8(std::unique_ptr<ByteStream> bytes) {
  return std::make_unique<Utf8Stream>(std::move(bytes));
}

}  // namespace bench
