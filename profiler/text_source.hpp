// SPDX-License-Identifier: Apache-2.0
// The text of a profile, line by line: a file, packed or not, a pipe or a string.
#pragma once

#include "base/result.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/pass_selection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Text that is read piece by piece, from a file, a pipe or a string.
class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual const std::string& name() const = 0;  // used in messages
  // The result of next(), which reads the next line without its newline. `text` stays valid until
  // the next call. next() returns false at the end. It cuts a line longer than kMaxProfileLine and
  // sets `cut`. A read error ends the text; status() returns the error.
  struct Line {
    std::string_view text;
    std::int64_t number = 0;  // starts at 1
    bool cut = false;
    bool has_end = false;  // if false, the text may end in the middle of the line
  };
  virtual bool next(Line& line) = 0;
  // Reads the next bytes, newlines included, for formats that are not made of lines. The text stays
  // valid until the next call. Empty at the end. A text is read with next() or with this function.
  virtual std::string_view next_piece() = 0;
  virtual Status status() const = 0;
  // Returns the beginning of the text, up to kHeadSize bytes, without consuming it.
  virtual std::string_view head() = 0;
  // Returns the path of the regular file whose bytes these are, for formats that libraries read
  // from a file. Returns nullopt for a pipe, a packed file or a string.
  virtual std::optional<std::string> file() const { return std::nullopt; }

  // Which activities of the text count, if it is a result file. To read several files of one
  // result, share one selection, which must outlive the source.
  PassSelection& passes() { return shared_passes_ != nullptr ? *shared_passes_ : own_passes_; }
  void share(PassSelection& passes) { shared_passes_ = &passes; }

  // Makes the function that computes the work of a framework's operators on a device of a compute
  // capability ("9.0"; empty if it is unknown). Readers of ranges use it. Without it, their
  // operators have no work.
  using WorkFactory = std::function<FrameworkWorkProvider(std::string_view capability)>;
  const WorkFactory& work_factory() const { return work_factory_; }
  void set_work_factory(WorkFactory factory) { work_factory_ = std::move(factory); }

 private:
  PassSelection own_passes_;
  PassSelection* shared_passes_ = nullptr;
  WorkFactory work_factory_;
};
inline constexpr std::size_t kHeadSize = 65536;  // enough for any header and the first records
// 16 MiB; the tool's own records are far smaller
inline constexpr std::size_t kMaxProfileLine = 1 << 24;

// "-" means standard input. Packed files are read as open_bytes() does (profiler/byte_stream.hpp).
// A byte order mark is removed, and UTF-16 is converted to UTF-8. Opens a file as
// open_input() does (base/file.hpp), which refuses a FIFO or device.
Result<std::unique_ptr<TextSource>> open_text(const std::string& path);
// Opens a file that is read alone, and chooses the passes that count if it is a result file. Of
// standard input and pipes, which can be read only once, the passes of all runs count.
Result<std::unique_ptr<TextSource>> open_profile(const std::string& path);
std::unique_ptr<TextSource> text_source_for_test(std::string name, std::string text);  // for tests

}  // namespace bench
