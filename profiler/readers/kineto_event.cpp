// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/kineto_event.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace bench {
namespace {

constexpr std::int64_t kEventDepth = 1;
constexpr std::int64_t kArgumentDepth = 2;
// Kineto's deepest value is a list of lists of shapes, at 5.
constexpr std::int64_t kMaxDepth = 64;

// Calls `use` with each character of JSON text, and whether it is part of a text in quotes.
template <class Use>
void for_json_characters(std::string_view json, Use use) {
  bool is_text = false, is_escaped = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool is_quote = c == '"' && !is_escaped;
    if (is_quote) is_text = !is_text;
    is_escaped = is_text && c == '\\' && !is_escaped;
    use(i, is_text || is_quote);
  }
}

std::string with_usual_blanks(std::string_view json) {
  std::string text;
  for_json_characters(json, [&](std::size_t i, bool is_text) {
    const char c = json[i];
    if (!is_text && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) return;
    text += c;
    if (!is_text && c == ',') text += ' ';
  });
  return text;
}

std::string_view without_quotes(std::string_view item) {
  while (item.starts_with(' ')) item.remove_prefix(1);
  if (item.size() < 2 || !item.starts_with('"') || !item.ends_with('"')) return item;
  return item.substr(1, item.size() - 2);
}

// Returns an entry for a new field, which reuses the memory of an earlier event.
KinetoField& append_field(std::vector<KinetoField>& fields, std::size_t& used) {
  if (used == fields.size()) fields.emplace_back();
  return fields[used++];
}

}  // namespace

const KinetoField* KinetoEvent::find(const Fields& fields, std::size_t used,
                                     std::string_view name) {
  for (std::size_t i = 0; i < used; ++i) {
    if (fields[i].name == name) return &fields[i];
  }
  return nullptr;
}

std::optional<std::int64_t> KinetoEvent::argument_integer(std::string_view name) const {
  const KinetoField* field = argument(name);
  const bool is_scalar = field != nullptr && (field->type == KinetoField::Type::number ||
                                              field->type == KinetoField::Type::text);
  return is_scalar ? parse_number<std::int64_t>(field->text) : std::nullopt;
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  if (list.size() <= 2) return items;
  list = list.substr(1, list.size() - 2);
  std::int64_t depth = 0;
  std::size_t begin = 0;
  for_json_characters(list, [&](std::size_t i, bool is_text) {
    if (is_text) return;
    const char c = list[i];
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != ',' || depth != 0) return;
    items.push_back(without_quotes(list.substr(begin, i - begin)));
    begin = i + 1;
  });
  items.push_back(without_quotes(list.substr(begin)));
  return items;
}

// The handler of the JSON parser, and the parser.
struct KinetoEventParser::State
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, KinetoEventParser::State> {
  bool StartObject() { return open(KinetoField::Type::other); }
  bool StartArray() { return open(KinetoField::Type::list); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view name(text, size);
    if (depth == kEventDepth) in_arguments = name == "args";
    const bool is_argument = depth == kArgumentDepth && in_arguments;
    if (depth != kEventDepth && !is_argument) return true;
    field = is_argument ? &append_field(event.arguments_, event.used_arguments_)
                        : &append_field(event.fields_, event.used_);
    field->name = name;
    field->type = KinetoField::Type::other;
    field->text.clear();
    field_depth = depth;
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return scalar({text, size}, KinetoField::Type::text);
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return scalar({text, size}, KinetoField::Type::number);
  }
  bool Bool(bool value) { return scalar(value ? "true" : "false", KinetoField::Type::other); }
  bool Null() { return scalar("", KinetoField::Type::other); }

  bool open(KinetoField::Type type) {
    ++depth;
    if (depth > kMaxDepth) return fail("nests deeper than any event");
    if (depth == kEventDepth)
      return type == KinetoField::Type::other ? true : fail("not an object");
    if (field == nullptr || depth != field_depth + 1) return true;
    field->type = type;
    value_begin = stream->Tell();  // at the bracket
    return true;
  }
  bool close() {
    --depth;
    const bool is_list = field != nullptr && field->type == KinetoField::Type::list;
    if (is_list && depth == field_depth) {
      field->text = with_usual_blanks(source.substr(value_begin, stream->Tell() + 1 - value_begin));
    }
    return true;
  }
  bool scalar(std::string_view text, KinetoField::Type type) {
    if (depth == 0) return fail("not an object");
    if (field == nullptr || depth != field_depth) return true;
    field->type = type;
    field->text = text;
    return true;
  }
  bool fail(std::string_view what) {
    problem = what;
    return false;
  }

  void begin(std::string_view text, rapidjson::MemoryStream& memory) {
    source = text;
    stream = &memory;
    event.used_ = event.used_arguments_ = 0;
    depth = field_depth = 0;
    field = nullptr;
    in_arguments = false;
    problem.clear();
  }

  KinetoEvent event;
  rapidjson::Reader reader;
  std::string_view source;
  rapidjson::MemoryStream* stream = nullptr;
  std::int64_t depth = 0;
  KinetoField* field = nullptr;  // the last one
  std::int64_t field_depth = 0;  // depth of the object that has it
  std::size_t value_begin = 0;
  bool in_arguments = false;
  std::string problem;
};

KinetoEventParser::KinetoEventParser() : state_(std::make_unique<State>()) {}
KinetoEventParser::~KinetoEventParser() = default;

Result<const KinetoEvent*> KinetoEventParser::parse(std::string_view text) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  state_->begin(text, stream);
  const rapidjson::ParseResult result = state_->reader.Parse<kFlags>(stream, *state_);
  if (result) return &state_->event;
  if (!state_->problem.empty()) return Error{state_->problem, "", ""};
  return Error{fmt::format("not JSON at its character {}: {}", result.Offset() + 1,
                           rapidjson::GetParseError_En(result.Code())),
               "", ""};
}

}  // namespace bench
