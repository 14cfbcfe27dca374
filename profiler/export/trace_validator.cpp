// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_validator.hpp"

#include "base/quote.hpp"
#include "base/text_encoding.hpp"
#include "profiler/byte_stream.hpp"
#include "profiler/export/trace_rules.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace bench {
namespace {

using Refill = std::function<std::string_view()>;  // returns the next piece; empty at the end

// Input stream for rapidjson::Reader.
class PieceStream {
 public:
  using Ch = char;
  explicit PieceStream(Refill refill) : refill_(std::move(refill)) { fill(); }
  char Peek() const { return position_ < piece_.size() ? piece_[position_] : '\0'; }
  char Take() {
    const char c = Peek();
    if (position_ < piece_.size()) {
      ++position_;
      ++consumed_;
      if (position_ == piece_.size()) fill();
    }
    return c;
  }
  std::size_t Tell() const { return consumed_; }
  bool at_end() const { return position_ >= piece_.size(); }
  // Required for output streams; never called.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  void fill() {
    piece_ = refill_();
    position_ = 0;
  }
  Refill refill_;
  std::string_view piece_;
  std::size_t position_ = 0, consumed_ = 0;
};

// Finds the events in a document of either form: an object with `traceEvents`, or a bare array.
class TraceHandler {
 public:
  explicit TraceHandler(TraceRules& rules) : rules_(rules) {}

  bool StartObject() { return open(Scope::object); }
  bool StartArray() { return open(Scope::array); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (depth_ == 1) root_key_.assign(text, size);
    if (depth_ == event_depth_) key_.assign(text, size);
    if (depth_ == event_depth_ + 1) argument_.assign(text, size);
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return scalar(JsonType::text, {text, size});
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return scalar(JsonType::number, {text, size});
  }
  bool Bool(bool value) { return scalar(JsonType::other, value ? "true" : "false"); }
  bool Null() { return scalar(JsonType::other, "null"); }
  // Required by the parser; never called, because numbers arrive as text.
  bool Int(int) { return true; }
  bool Uint(unsigned) { return true; }
  bool Int64(std::int64_t) { return true; }
  bool Uint64(std::uint64_t) { return true; }
  bool Double(double) { return true; }

  // Returns whether the text may end here: between two events of a bare array.
  bool between_events() const { return root_ == Scope::array && depth_ == 1; }
  bool has_events() const { return has_events_; }

 private:
  enum class Scope { object, array };

  bool open(Scope scope) {
    ++depth_;
    if (depth_ == 1) {
      root_ = scope;
      event_depth_ = scope == Scope::array ? 2 : 3;
      has_events_ = in_events_ = scope == Scope::array;
    } else if (depth_ == 2 && root_ == Scope::object) {
      in_events_ = root_key_ == "traceEvents" && scope == Scope::array;
      has_events_ = has_events_ || in_events_;
    } else if (in_events_ && depth_ == event_depth_ + 1 && key_ != "args" && key_ != "id2") {
      store(raw_.fields, key_, JsonType::other, "");
    } else if (in_events_ && depth_ == event_depth_ + 2 && key_ == "args") {
      store(raw_.args, argument_, JsonType::other, "");
    }
    if (in_events_ && depth_ == event_depth_) {
      raw_.fields.clear();
      raw_.args.clear();
      if (scope == Scope::array) rules_.file_problem("an event that is not an object");
    }
    return true;
  }

  bool close() {
    if (in_events_ && depth_ == event_depth_) rules_.event(raw_);
    if (in_events_ && depth_ == event_depth_ - 1) in_events_ = false;
    --depth_;
    return true;
  }

  bool scalar(JsonType type, std::string_view text) {
    if (depth_ == 0) rules_.file_problem("neither an object nor an array");
    if (depth_ == 1 && root_ == Scope::object && root_key_ == "displayTimeUnit" && text != "ns" &&
        text != "ms") {
      rules_.file_problem(fmt::format("displayTimeUnit is {}, expected ns or ms", quote(text)));
    }
    if (!in_events_) return true;
    if (depth_ == event_depth_ - 1) rules_.file_problem("an event that is not an object");
    if (depth_ == event_depth_) store(raw_.fields, key_, type, text);
    if (depth_ == event_depth_ + 1 && key_ == "args") store(raw_.args, argument_, type, text);
    if (depth_ == event_depth_ + 1 && key_ == "id2") {
      store(raw_.fields, key_, type, fmt::format("{}:{}", argument_, text));
    }
    return true;
  }

  template <class Map>
  static void store(Map& map, const std::string& key, JsonType type, std::string_view text) {
    map[key] = JsonScalar{type, std::string(text)};
  }

  TraceRules& rules_;
  int depth_ = 0;
  int event_depth_ = 0;
  Scope root_ = Scope::object;
  bool in_events_ = false;
  bool has_events_ = false;
  std::string root_key_, key_, argument_;
  RawEvent raw_;
};

TraceCheck check_pieces(Refill refill) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  TraceCheck check;
  TraceRules rules(check);
  TraceHandler handler(rules);
  PieceStream stream(std::move(refill));
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!result && stream.at_end() && handler.between_events()) {
    check.ending = TraceEnding::unterminated;
  } else if (!result) {
    rules.file_problem(fmt::format("byte {}: {}", result.Offset() + 1,
                                   rapidjson::GetParseError_En(result.Code())));
  } else if (!handler.has_events()) {
    rules.file_problem("no `traceEvents`");
  }
  rules.finish();
  return check;
}

}  // namespace

std::int64_t TraceCheck::total() const {
  return std::accumulate(events.begin(), events.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

TraceCheck check_trace(std::string_view text) {
  return check_pieces([&]() { return std::exchange(text, {}); });
}

Result<TraceCheck> check_trace_file(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> bytes, open_bytes(path));
  std::optional<Error> failure;
  std::array<char, 65536> block;
  Utf8Converter converter;
  TraceCheck check = check_pieces([&]() -> std::string_view {
    while (!failure) {  // a block may be too short to be converted
      const Result<std::size_t> count = bytes->read(block.data(), block.size());
      if (!count.ok()) failure = count.error();
      if (!count.ok() || *count == 0) break;
      const auto piece = converter.convert({block.data(), *count});
      if (!piece.empty()) return piece;
    }
    return converter.finish();
  });
  if (failure) return *failure;
  return check;
}

}  // namespace bench
