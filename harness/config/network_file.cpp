// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_file.hpp"

#include "base/nearest_name.hpp"
#include "harness/config/network_segment.hpp"
#include "harness/config/parameter_value.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

namespace bench {

namespace {

constexpr std::string_view kSuffix = ".yaml";

std::string network_path(const std::string& folder, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(folder) / (name + std::string(kSuffix));
  return path.lexically_normal().string();
}

// Returns everything that decides what a network computes: problems and their connections.
std::string format_content(const ops::Network& network) {
  std::string text = network.name;
  for (const ops::Node& node : network.nodes) {
    text += fmt::format(";{}/{}/{}", node.problem.op->name, ops::problem_tokens(node.problem),
                        fmt::join(node.sources, ","));
  }
  return text;
}

}  // namespace

const NetworkFile* NetworkStore::find(const std::string& name,
                                      const std::vector<std::string>& folders, Spot spot) {
  if (!is_network_name(name)) {
    findings_.add(spot, fmt::format("`network`: found {}", quote(name)),
                  "a network's name has letters, digits and underscores");
    return nullptr;
  }
  std::vector<std::string> all = folders;
  all.insert(all.end(), request_.network_folders.begin(), request_.network_folders.end());
  for (const std::string& folder : all) {
    const std::string path = network_path(folder, name);
    auto known = files_.find(path);
    if (known == files_.end()) {
      const auto text = request_.read(path);
      if (!text.ok() && !lists(folder, name)) continue;
      if (!text.ok()) {
        findings_.add(
            spot, fmt::format("cannot read network {}: {}", quote(name), text.error().message()));
        return nullptr;
      }
      auto file = read_network(findings_, path, *text, registry_);
      if (file && file->definition.name != name) {
        findings_.add(
            {file->file, {1, 1}},
            fmt::format("the file contains a network named {}", quote(file->definition.name)),
            fmt::format("write `network: {}` or rename the file", name));
        file.reset();
      }
      known = files_.emplace(path, std::move(file)).first;
    }
    return known->second ? &*known->second : nullptr;
  }
  findings_.add(spot, fmt::format("unknown network {}", quote(name)), missing_hint(name, all));
  return nullptr;
}

// Whether the file exists, even if it cannot be read.
bool NetworkStore::lists(const std::string& folder, const std::string& name) const {
  if (!request_.list) return false;
  const std::vector<std::string> names = request_.list(folder);
  return std::ranges::find(names, name + std::string(kSuffix)) != names.end();
}

std::string NetworkStore::missing_hint(const std::string& name,
                                       const std::vector<std::string>& folders) const {
  std::vector<std::string> stems;
  for (const std::string& folder : folders) {
    if (!request_.list) break;
    for (const std::string& file : request_.list(folder)) {
      if (!file.ends_with(kSuffix)) continue;
      std::string stem = file.substr(0, file.size() - kSuffix.size());
      if (std::find(stems.begin(), stems.end(), stem) == stems.end()) stems.push_back(stem);
    }
  }
  const std::vector<std::string_view> names(stems.begin(), stems.end());
  if (!names.empty()) return expectation(name, names);
  return fmt::format("looked for {}{} in {}", name, kSuffix, fmt::join(folders, ", "));
}

const BoundNetwork* NetworkStore::bind(const NetworkFile& file, const NetworkSegment& segment,
                                       DataType dtype, Spot spot) {
  const auto [place, inserted] =
      bound_.try_emplace({&file, segment.batch, segment.fusion, segment.mode, dtype});
  if (inserted) place->second = make(file, segment, dtype, spot);
  return place->second.get();
}

std::unique_ptr<BoundNetwork> NetworkStore::make(const NetworkFile& file,
                                                 const NetworkSegment& segment, DataType dtype,
                                                 Spot spot) {
  auto network = ops::make_network(file.definition, segment.batch, dtype, segment.mode,
                                   segment.fusion, registry_);
  if (!network.ok()) {
    const Error& error = network.error();
    const std::string subject =
        fmt::format("{}, batch {}, {}", file.definition.name, segment.batch, info(dtype).name);
    findings_.add(
        file.find_spot(error.where),
        fmt::format("{} ({}, measured at {})", error.what, subject, findings_.place(spot).text()),
        error.next);
    return nullptr;
  }
  auto bound = std::make_unique<BoundNetwork>();
  bound->network = std::make_shared<const ops::Network>(*std::move(network));
  bound->layers = ops::distinct_layers(*bound->network);
  bound->segment = format_network_segment(segment);
  bound->content = format_content(*bound->network);
  PlannedNetwork planned;
  planned.definition = file.definition;
  planned.batch = segment.batch;
  planned.mode = segment.mode;
  planned.fusion = segment.fusion;
  planned.case_id_prefix = fmt::format("network/forward/{}/{}", bound->segment, info(dtype).name);
  bound->planned = std::make_shared<const PlannedNetwork>(std::move(planned));
  return bound;
}

// The target of the rows of the file's table.
struct NetworkDraft {
  NetworkFile result;
  const yaml::Node* layers = nullptr;
  // Per layer: the locations of its inputs, if written.
  std::vector<std::vector<yaml::SourceLocation>> input_locations;
};

namespace {

constexpr std::string_view kInput = "input";

constexpr std::array<std::string_view, 4> kInputKeys = {"c", "d", "h", "w"};

// Reads {c, h, w}. As for operators, w defaults to h; c without h is a vector.
void read_input(const Reader& reader, const yaml::Node& node, NetworkDraft& draft) {
  if (!reader.is_mapping(node, "input")) return;
  std::array<std::optional<std::int64_t>, kInputKeys.size()> sizes;
  for (const yaml::Entry& entry : node.entries) {
    const auto key = std::find(kInputKeys.begin(), kInputKeys.end(), entry.key);
    if (key == kInputKeys.end()) {
      reader.complain(entry.location, "unknown key " + quote(entry.key),
                      expected_key(entry.key, kInputKeys));
      continue;
    }
    sizes[static_cast<std::size_t>(key - kInputKeys.begin())] =
        reader.integer(*entry.value, entry.key, 1, std::numeric_limits<std::int64_t>::max());
  }
  if (node.find("c") == nullptr) reader.complain(node.location, "`input` lacks `c`, its channels");
  if (sizes[1] && !sizes[2]) sizes[2] = sizes[1];
  if (sizes[2] && !sizes[3]) sizes[3] = sizes[2];
  for (const auto& size : sizes) {
    if (size) draft.result.definition.input.push_back(*size);
  }
}

constexpr std::array<KeyRow<NetworkDraft>, 4> kRows = {{
    {{"version", "`1`", "required", "version of this format"},
     [](const Reader& reader, const yaml::Node& node, NetworkDraft&) {
       static_cast<void>(reader.integer(node, "version", 1, 1));
     }},
    {{"network", "word of letters, digits and _", "required",
      "the network's name; the file is NAME.yaml"},
     [](const Reader& reader, const yaml::Node& node, NetworkDraft& draft) {
       const auto name = reader.text(node, "network");
       if (name && !is_network_name(*name)) {
         reader.mismatch(node, "network", "letters, digits and underscores");
       } else if (name) {
         draft.result.definition.name = *name;
       }
     }},
    {{"input", "mapping of `c`, `d`, `h`, `w`", "required", "sizes of the input without its batch"},
     read_input},
    {{"layers", "list of layers", "required",
      "the graph, in any order without a cycle; the last layer gives the output"},
     [](const Reader& reader, const yaml::Node& node, NetworkDraft& draft) {
       if (node.kind == yaml::Kind::sequence && !node.items.empty()) {
         draft.layers = &node;
       } else {
         reader.mismatch(node, "layers", "a list of at least one layer");
       }
     }},
}};

constexpr std::array<KeyInfo, 4> kLayerKeys = {{
    {"name", "text", "required", "distinct in the network"},
    {"op", "operator", "required", "what the layer computes"},
    {"inputs", "list of layer names, or `input`", "the layer before", "in the operator's order"},
    {"PARAMETER", "as in a case", "",
     "the operator's parameters; omit sizes that follow from the inputs"},
}};

void read_inputs(const Reader& reader, const yaml::Node& node, ops::LayerDefinition& layer,
                 std::vector<yaml::SourceLocation>& locations) {
  for (const yaml::Node* item : reader.items(node, "inputs")) {
    const auto name = reader.text(*item, "inputs");
    if (!name) continue;
    layer.inputs.push_back(*name);
    locations.push_back(item->location);
  }
}

std::vector<std::string_view> layer_key_names(const ops::Operator& op) {
  std::vector<std::string_view> names = {"name", "op", "inputs"};
  for (const ops::Parameter& parameter : op.parameters) names.push_back(parameter.name);
  return names;
}

void read_layer_parameter(const Reader& reader, const ops::Operator& op, const yaml::Entry& entry,
                          ops::LayerDefinition& layer, NetworkFile::LayerPlace& place) {
  const ops::Parameter* parameter = ops::find_parameter(op.parameters, entry.key);
  if (parameter == nullptr) {
    reader.complain(entry.location,
                    fmt::format("unknown key {} of a {}", quote(entry.key), op.name),
                    expected_key(entry.key, layer_key_names(op)));
    return;
  }
  if (auto value = read_parameter(reader, *parameter, *entry.value)) {
    layer.parameters.set(parameter->name, *std::move(value));
    place.parameters.emplace(parameter->name, entry.value->location);
  }
}

std::string read_layer_name(const Reader& reader, const yaml::Node& node) {
  const yaml::Entry* entry = node.find("name");
  if (entry == nullptr) {
    reader.complain(node.location, "a layer lacks its `name`");
    return {};
  }
  const auto name = reader.text(*entry->value, "name");
  if (name && *name == kInput) {
    reader.complain(entry->value->location, "`input` names the network's input, not a layer",
                    "choose another name");
    return {};
  }
  return name.value_or(std::string());
}

void read_layer(const Reader& reader, const yaml::Node& node, NetworkDraft& draft) {
  if (!reader.is_mapping(node, "layers")) return;
  ops::LayerDefinition layer;
  layer.name = read_layer_name(reader, node);
  const yaml::Entry* op_entry = node.find("op");
  const ops::Operator* op = op_entry == nullptr ? nullptr : read_operator(reader, *op_entry->value);
  if (op_entry == nullptr) reader.complain(node.location, "a layer lacks its `op`");
  NetworkFile::LayerPlace place{node.location, {}};
  std::vector<yaml::SourceLocation> locations;
  if (op != nullptr) {
    layer.op = op->name;
    layer.parameters = ops::ParameterSet(op->parameters);
  }
  for (const yaml::Entry& entry : node.entries) {
    if (entry.key == "inputs") {
      read_inputs(reader, *entry.value, layer, locations);
    } else if (entry.key != "name" && entry.key != "op" && op != nullptr) {
      read_layer_parameter(reader, *op, entry, layer, place);
    }
  }
  const auto [first, inserted] = draft.result.places.emplace(layer.name, std::move(place));
  if (!inserted && !layer.name.empty()) {
    reader.complain(
        node.location,
        fmt::format("duplicate layer {}, first at line {}, column {}", quote(layer.name),
                    first->second.location.line, first->second.location.column),
        "layers need distinct names");
  }
  auto& layers = draft.result.definition.layers;
  if (layer.inputs.empty()) {
    layer.inputs.push_back(layers.empty() ? std::string(kInput) : layers.back().name);
    locations.push_back(node.location);
  }
  layers.push_back(std::move(layer));
  draft.input_locations.push_back(std::move(locations));
}

// Returns edges by layer index; -1 stands for the network's input and unknown names.
std::vector<std::vector<int>> resolve_inputs(const Reader& reader, const NetworkDraft& draft) {
  const auto& layers = draft.result.definition.layers;
  std::map<std::string_view, int> indices;
  std::vector<std::string_view> names = {kInput};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    indices.emplace(layers[i].name, static_cast<int>(i));
    names.push_back(layers[i].name);
  }
  std::vector<std::vector<int>> edges(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (std::size_t k = 0; k < layers[i].inputs.size(); ++k) {
      const std::string& name = layers[i].inputs[k];
      const auto found = indices.find(name);
      edges[i].push_back(found == indices.end() ? -1 : found->second);
      if (found != indices.end() || name == kInput) continue;
      const auto near = nearest_name(name, names);
      reader.complain(
          draft.input_locations[i][k],
          fmt::format("layer {} has an unknown input {}", quote(layers[i].name), quote(name)),
          near ? fmt::format("did you mean `{}`?", *near) : "expected a layer's name or `input`");
    }
  }
  return edges;
}

// Removes layers whose inputs are known, as long as there are any; the others form cycles.
void check_cycles(const Reader& reader, const NetworkDraft& draft,
                  const std::vector<std::vector<int>>& edges) {
  const auto& layers = draft.result.definition.layers;
  std::vector<std::vector<std::size_t>> users(layers.size());
  std::vector<std::size_t> waiting(layers.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const int source : edges[i]) {
      if (source < 0) continue;
      users[static_cast<std::size_t>(source)].push_back(i);
      ++waiting[i];
    }
    if (waiting[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t layer = ready.back();
    ready.pop_back();
    for (const std::size_t user : users[layer]) {
      if (--waiting[user] == 0) ready.push_back(user);
    }
  }
  // Walking back along waiting inputs must reach a layer twice: that is the cycle.
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](auto n) { return n > 0; });
  if (stuck == waiting.end()) return;
  std::vector<std::size_t> path = {static_cast<std::size_t>(stuck - waiting.begin())};
  std::vector<bool> seen(layers.size());
  while (!seen[path.back()]) {
    seen[path.back()] = true;
    for (const int source : edges[path.back()]) {
      if (source < 0 || waiting[static_cast<std::size_t>(source)] == 0) continue;
      path.push_back(static_cast<std::size_t>(source));
      break;
    }
  }
  const auto begin = std::find(path.begin(), path.end(), path.back());
  std::vector<std::string_view> names;
  for (auto step = begin; step != path.end(); ++step) names.push_back(layers[*step].name);
  constexpr std::size_t kMaxShown = 8;
  const bool cut = names.size() > kMaxShown;
  if (cut) names.resize(kMaxShown);
  reader.complain(draft.input_locations[*begin].front(),
                  fmt::format("the inputs of layer {} lead back to it: {}{}", quote(names.front()),
                              fmt::join(names, " <- "), cut ? " <- ..." : ""),
                  "a network must not have a cycle");
}

void check_presence(const Reader& reader, const yaml::Node& root) {
  for (const KeyRow<NetworkDraft>& row : kRows) {
    if (row.info.fallback == "required" && root.find(row.info.name) == nullptr) {
      reader.complain(root.location, fmt::format("the key `{}` is missing", row.info.name),
                      std::string(row.info.help));
    }
  }
}

}  // namespace

Spot NetworkFile::find_spot(std::string_view where) const {
  // Layer names contain dots: the longest prefix that is a layer counts.
  for (std::size_t end = where.size(); end != std::string_view::npos && end > 0;
       end = where.rfind('.', end - 1)) {
    const auto layer = places.find(where.substr(0, end));
    if (layer == places.end()) continue;
    const std::string_view rest = end < where.size() ? where.substr(end + 1) : std::string_view();
    const auto parameter = layer->second.parameters.find(rest);
    return {file, parameter == layer->second.parameters.end() ? layer->second.location
                                                              : parameter->second};
  }
  return {file, {1, 1}};
}

std::optional<NetworkFile> read_network(Findings& findings, const std::string& file,
                                        std::string_view text,
                                        const ops::OperatorRegistry& registry) {
  const std::size_t before = findings.count();
  const Reader reader(findings, findings.add_file(file), registry);
  const auto document = yaml::parse(text);
  if (!document.ok()) {
    reader.complain(document.error().location, document.error().what, document.error().next);
    return std::nullopt;
  }
  for (const yaml::Problem& problem : document->problems()) {
    reader.complain(problem.location, problem.what, problem.next);
  }
  const yaml::Node& root = document->root();
  if (root.kind != yaml::Kind::mapping) {
    reader.complain(root.location, fmt::format("found {}, expected a mapping", describe(root)),
                    "a network has the keys version, network, input and layers");
    return std::nullopt;
  }
  NetworkDraft draft;
  draft.result.file = reader.file();
  read_keys<NetworkDraft>(reader, root, kRows, draft);
  check_presence(reader, root);
  if (draft.layers != nullptr) {
    for (const yaml::Node* layer : draft.layers->items) read_layer(reader, *layer, draft);
    check_cycles(reader, draft, resolve_inputs(reader, draft));
  }
  if (findings.count() != before) return std::nullopt;
  return std::move(draft.result);
}

Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file, const ops::OperatorRegistry& registry) {
  Findings findings;
  auto network = read_network(findings, file, text, registry);
  if (!network) return findings.list();
  return std::move(network->definition);
}

std::span<const KeyRow<NetworkDraft>> network_rows() { return kRows; }
std::span<const KeyInfo> layer_keys() { return kLayerKeys; }

}  // namespace bench
