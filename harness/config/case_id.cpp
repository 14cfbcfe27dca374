// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_id.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "harness/config/reader.hpp"
#include "harness/config/settings.hpp"
#include "ops/foreign_words.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <system_error>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kNetwork = ops::kNetworkOperator;
constexpr std::string_view kIdForm =
    "an id is op/direction/parameters/dtype/backend/device/cache[/option...]";

std::vector<std::string_view> split_segments(std::string_view id) {
  std::vector<std::string_view> segments;
  for (std::size_t begin = 0; begin <= id.size();) {
    const std::size_t end = std::min(id.find('/', begin), id.size());
    segments.push_back(id.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

Error unknown_name_error(std::string_view segment, std::string_view name,
                         std::span<const std::string_view> names) {
  return Error{fmt::format("unknown {} {}", segment, quote(name)), "",
               ops::expected_word(name, names)};
}

Result<std::size_t> find_name(std::string_view segment, std::string_view name,
                              std::span<const std::string_view> names) {
  const auto match = std::find(names.begin(), names.end(), name);
  if (match == names.end()) return unknown_name_error(segment, name, names);
  return static_cast<std::size_t>(match - names.begin());
}

std::vector<std::string_view> list_op_names(const ops::OperatorRegistry& registry) {
  std::vector<std::string_view> names = registry.operator_names();
  names.push_back(kNetwork);
  return names;
}

Status read_op(CaseKey& key, std::string_view text, const ops::OperatorRegistry& registry) {
  const ops::Operator* op = registry.find(text);
  if (op == nullptr && text != kNetwork)
    return unknown_name_error("operator", text, list_op_names(registry));
  key.op = op == nullptr ? kNetwork : op->name;
  return Done{};
}

Status read_direction(CaseKey& key, std::string_view text, const ops::OperatorRegistry&) {
  BENCH_ASSIGN_OR_RETURN(const std::size_t index,
                         find_name("direction", text, enumerator_names<ops::Direction>()));
  key.direction = static_cast<ops::Direction>(index);
  if (key.op == kNetwork && key.direction != ops::Direction::forward) {
    return Error{"a network's direction is forward", "", "training is its flag `+training`"};
  }
  return Done{};
}

Status read_parameters(CaseKey& key, std::string_view text, const ops::OperatorRegistry&) {
  key.parameters = text;
  return Done{};
}

Status read_dtype(CaseKey& key, std::string_view text, const ops::OperatorRegistry&) {
  std::vector<std::string_view> names;
  for (const DataTypeInfo& row : data_types()) {
    if (row.is_case_type) names.push_back(row.name);
  }
  BENCH_ASSIGN_OR_RETURN(const std::size_t index, find_name("data type", text, names));
  key.dtype = *data_type_from_name(names[index]);
  return Done{};
}

Status read_backend(CaseKey& key, std::string_view text, const ops::OperatorRegistry& registry) {
  if (registry.find_backend(text) == nullptr) {
    return unknown_name_error("backend", text, registry.backend_names());
  }
  key.backend = text;
  return Done{};
}

Status read_device(CaseKey& key, std::string_view text, const ops::OperatorRegistry& registry) {
  BENCH_ASSIGN_OR_RETURN(const std::size_t index, find_name("device", text, device_names()));
  key.device = device_names()[index];
  const ops::BackendRow* row = registry.find_backend(key.backend);
  if (row == nullptr || row->device == key.device) return Done{};
  return Error{fmt::format("backend `{}` does not run on device `{}`", row->name, key.device), "",
               fmt::format("its device is {}", row->device)};
}

Status read_cache(CaseKey& key, std::string_view text, const ops::OperatorRegistry&) {
  BENCH_ASSIGN_OR_RETURN(const std::size_t index,
                         find_name("cache mode", text, enumerator_names<CacheMode>()));
  key.cache = static_cast<CacheMode>(index);
  if (key.op == kNetwork && key.cache == CacheMode::cold_weights) {
    return Error{"cache mode `cold_weights` is for layers, not for a whole network", "",
                 "use hot or cold: a network streams its weights anyway"};
  }
  return Done{};
}

// Functions that read the required segments, in the order of an id.
using SegmentReader = Status (*)(CaseKey&, std::string_view, const ops::OperatorRegistry&);
constexpr std::array<SegmentReader, 7> kSegmentReaders = {
    read_op, read_direction, read_parameters, read_dtype, read_backend, read_device, read_cache};

// The setting that an option of an id changes.
BENCH_ENUM(OptionSetting, threads, streams, layout, math);
constexpr std::string_view kThreadsOption = "t", kStreamsOption = "st";

// Returns the number in an option such as "t4" or "st2"; nullopt if the option is another one.
std::optional<int> read_counted_option(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto count = parse_number<int>(text.substr(prefix.size()));
  return count && *count >= 1 && *count <= kMaxThreads ? count : std::nullopt;
}

Result<OptionSetting> read_option(CaseKey& key, std::string_view text) {
  if (const auto threads = read_counted_option(text, kThreadsOption)) {
    key.threads = threads;
    return OptionSetting::threads;
  }
  if (const auto streams = read_counted_option(text, kStreamsOption)) {
    key.streams = *streams;
    return OptionSetting::streams;
  }
  constexpr std::size_t kCounted = 2;
  std::vector<std::string_view> names = {"t1", "st2"};
  for (const auto layout : enumerator_names<ops::Layout>().subspan(1)) names.push_back(layout);
  for (const auto math : enumerator_names<ops::Math>().subspan(1)) names.push_back(math);
  BENCH_ASSIGN_OR_RETURN(const std::size_t index, find_name("option", text, names));
  // The counted options have been read above, so the name is one of the others.
  const std::size_t layouts = enumerator_names<ops::Layout>().size() - 1;
  const std::size_t other = index - kCounted;
  if (other < layouts) {
    key.layout = static_cast<ops::Layout>(other + 1);
    return OptionSetting::layout;
  }
  key.math = static_cast<ops::Math>(other - layouts + 1);
  return OptionSetting::math;
}

// Reads the options, which follow the required segments.
Status read_options(CaseKey& key, std::span<const std::string_view> segments) {
  std::map<OptionSetting, std::string_view> seen;
  for (const std::string_view text : segments) {
    BENCH_ASSIGN_OR_RETURN(const OptionSetting setting, read_option(key, text));
    const auto [first, is_new] = seen.emplace(setting, text);
    if (is_new) continue;
    return Error{fmt::format("options {} and {} both set the {}", quote(first->second), quote(text),
                             to_string(setting)),
                 "", "give one of them"};
  }
  if (key.threads) return check_streams(key.streams, *key.threads);
  return Done{};
}

// Validates the parameter segment and makes it canonical.
Status normalise_parameters(CaseKey& key, const ops::OperatorRegistry& registry) {
  if (key.op == kNetwork) {
    BENCH_RETURN_IF_ERROR(check_network_math(key.math));
    BENCH_ASSIGN_OR_RETURN(const NetworkSegment segment, parse_network_segment(key.parameters));
    key.parameters = format_network_segment(segment);
    return Done{};
  }
  BENCH_ASSIGN_OR_RETURN(const ops::Problem problem, problem_from_key(key, registry));
  key.parameters = ops::problem_tokens(problem);
  return Done{};
}

Result<CaseKey> parse_segments(std::string_view id, const ops::OperatorRegistry& registry) {
  const std::vector<std::string_view> segments = split_segments(id);
  CaseKey key;
  const std::size_t required = std::min(segments.size(), kSegmentReaders.size());
  for (std::size_t i = 0; i < required; ++i) {
    BENCH_RETURN_IF_ERROR(kSegmentReaders[i](key, segments[i], registry));
  }
  BENCH_RETURN_IF_ERROR(read_options(key, std::span(segments).subspan(required)));
  if (segments.size() < kSegmentReaders.size()) {
    return Error{
        fmt::format("{} segments, expected at least {}", segments.size(), kSegmentReaders.size()),
        "", std::string(kIdForm)};
  }
  BENCH_RETURN_IF_ERROR(normalise_parameters(key, registry));
  return key;
}

}  // namespace

Status check_network_math(ops::Math math) {
  if (math != ops::Math::fast_accumulation) return Done{};
  return Error{"`fast_accumulation` is for single products, not for networks", "", "leave it out"};
}

std::string to_id(const CaseKey& key) {
  std::string id;
  id.reserve(96);
  const auto append = [&](std::string_view segment) {
    if (!id.empty()) id += '/';
    id += segment;
  };
  append(key.op);
  append(to_string(key.direction));
  append(key.parameters);
  append(info(key.dtype).name);
  append(key.backend);
  append(key.device);
  append(to_string(key.cache));
  if (key.threads) append(fmt::format("{}{}", kThreadsOption, *key.threads));
  if (key.streams != 1) append(fmt::format("{}{}", kStreamsOption, key.streams));
  if (key.layout != ops::Layout::any) {
    append(to_string(key.layout));
  }
  if (key.math != ops::Math::standard) {
    append(to_string(key.math));
  }
  return id;
}

Result<CaseKey> parse_id(std::string_view id, const ops::OperatorRegistry& registry) {
  auto key = parse_segments(id, registry);
  if (key.ok()) return key;
  Error error = std::move(key).error();
  error.where = fmt::format("case id {}", id.size() > 200 ? id.substr(0, 200) : id);
  return error;
}

Result<ops::Problem> problem_from_key(const CaseKey& key, const ops::OperatorRegistry& registry) {
  const ops::Operator* op = registry.find(key.op);
  if (op == nullptr) return unknown_name_error("operator", key.op, registry.operator_names());
  BENCH_ASSIGN_OR_RETURN(ops::ProblemTokens tokens, ops::parse_problem_tokens(*op, key.parameters));
  return ops::make_problem({.op = op,
                            .direction = key.direction,
                            .dtype = key.dtype,
                            .layout = key.layout,
                            .math = key.math,
                            .parameters = std::move(tokens.parameters),
                            .post_ops = std::move(tokens.post_ops)});
}

bool looks_like_id(std::string_view argument, const ops::OperatorRegistry& registry) {
  const std::size_t slash = argument.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view op = argument.substr(0, slash);
  return op == kNetwork || registry.find(op) != nullptr;
}

namespace {

constexpr std::array<std::string_view, 2> kFlags = {"separate", "training"};

Error make_batch_error(std::string_view text) {
  return Error{fmt::format("a batch is written `n` and a number >= 1, found {}", quote(text)), "",
               "write NAME-n8"};
}

Status parse_batch(std::string_view text, std::int64_t& batch) {
  const char* end = text.data() + text.size();
  if (!text.starts_with('n')) return make_batch_error(text);
  const auto [stop, error] = std::from_chars(text.data() + 1, end, batch);
  if (stop != end || error != std::errc() || batch < 1) return make_batch_error(text);
  return Done{};
}

}  // namespace

bool is_network_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_word);
}

std::string format_network_segment(const NetworkSegment& segment) {
  std::string text = segment.name;
  if (segment.batch != 1) text += fmt::format("-n{}", segment.batch);
  if (segment.fusion == ops::Fusion::separate) text += "+separate";
  if (segment.mode == ops::Mode::training) text += "+training";
  return text;
}

Result<NetworkSegment> parse_network_segment(std::string_view text) {
  NetworkSegment segment;
  const std::size_t name_end = std::min(text.find_first_of("-+"), text.size());
  segment.name = text.substr(0, name_end);
  if (!is_network_name(segment.name)) {
    return Error{
        fmt::format("a network's name has letters, digits and _, found {}", quote(segment.name)),
        "", ""};
  }
  text.remove_prefix(name_end);
  if (text.starts_with('-')) {
    const std::size_t end = std::min(text.find('+'), text.size());
    BENCH_RETURN_IF_ERROR(parse_batch(text.substr(1, end - 1), segment.batch));
    text.remove_prefix(end);
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+', 1), text.size());
    const std::string_view flag = text.substr(1, end - 1);
    if (flag == kFlags[0]) {
      segment.fusion = ops::Fusion::separate;
    } else if (flag == kFlags[1]) {
      segment.mode = ops::Mode::training;
    } else {
      return Error{fmt::format("unknown flag {} of a network", quote(flag)), "",
                   expectation(flag, kFlags)};
    }
    text.remove_prefix(end);
  }
  return segment;
}

}  // namespace bench
