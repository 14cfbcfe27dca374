// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_file.hpp"

#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/network_graph.hpp"
#include "harness/config/parameter_value.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace bench {

namespace {

constexpr std::string_view kSuffix = ".yaml";
constexpr std::string_view kSuffixes[] = {kSuffix, ".yml"};

std::string make_network_path(const std::string& folder, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  return path.lexically_normal().string();
}

// Returns a text that identifies the computation of a network: its problems and their connections.
std::string format_content(const ops::Network& network) {
  std::string text = network.name;
  for (const ops::Node& node : network.nodes) {
    std::vector<std::string> sources;
    for (const ops::Source& source : node.sources) {
      sources.push_back(fmt::to_string(ops::source_code(source)));
      if (source.output > 0) sources.back() += fmt::format(".{}", source.output);
    }
    text += fmt::format(";{}/{}/{}", node.problem.op->name, ops::problem_tokens(node.problem),
                        fmt::join(sources, ","));
  }
  return text;
}

}  // namespace

const NetworkFile* NetworkStore::find(const std::string& name,
                                      const std::vector<std::string>& folders,
                                      FileLocation location) {
  if (!is_network_name(name)) {
    diagnostics_.add(location, fmt::format("`network`: found {}", quote(name)),
                     "a network's name has letters, digits and underscores");
    return nullptr;
  }
  std::vector<std::string> all_folders = folders;
  all_folders.insert(all_folders.end(), request_.network_folders.begin(),
                     request_.network_folders.end());
  for (std::size_t i = 0; i < all_folders.size() * std::size(kSuffixes); ++i) {
    const std::string& folder = all_folders[i / std::size(kSuffixes)];
    const std::string wanted = name + std::string(kSuffixes[i % std::size(kSuffixes)]);
    const std::string path = make_network_path(folder, wanted);
    auto entry = files_.find(path);
    if (entry == files_.end()) {
      const auto text = request_.read(path);
      if (!text.ok() && !has_file(folder, wanted)) continue;
      if (!text.ok()) {
        diagnostics_.add(location, fmt::format("cannot read network {}: {}", quote(name),
                                               text.error().message()));
        return nullptr;
      }
      auto file = read_network(diagnostics_, path, *text, registry_);
      if (file && file->definition.name != name) {
        diagnostics_.add(
            {file->file, {1, 1}},
            fmt::format("the file contains a network named {}", quote(file->definition.name)),
            fmt::format("write `network: {}` or rename the file", yaml::format_scalar(name)));
        file.reset();
      }
      entry = files_.emplace(path, std::move(file)).first;
    }
    return entry->second ? &*entry->second : nullptr;
  }
  diagnostics_.add(location, fmt::format("unknown network {}", quote(name)),
                   make_unknown_network_hint(name, all_folders));
  return nullptr;
}

// Returns whether the folder contains the file, even if it cannot be read.
bool NetworkStore::has_file(const std::string& folder, const std::string& file) const {
  if (!request_.list) return false;
  const std::vector<std::string> names = request_.list(folder);
  return std::ranges::find(names, file) != names.end();
}

std::string NetworkStore::make_unknown_network_hint(const std::string& name,
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
                                       DataType dtype, FileLocation location) {
  const auto [entry, inserted] =
      bound_.try_emplace({&file, segment.batch, segment.fusion, segment.mode, dtype});
  if (inserted) entry->second = make_bound_network(file, segment, dtype, location);
  return entry->second.get();
}

std::unique_ptr<BoundNetwork> NetworkStore::make_bound_network(const NetworkFile& file,
                                                               const NetworkSegment& segment,
                                                               DataType dtype,
                                                               FileLocation location) {
  auto network = ops::make_network(file.definition, segment.batch, dtype, segment.mode,
                                   segment.fusion, registry_);
  if (!network.ok()) {
    const Error& error = network.error();
    const std::string description =
        fmt::format("{}, batch {}, {}", file.definition.name, segment.batch, info(dtype).name);
    diagnostics_.add(file.find_location(error.where),
                     fmt::format("{} ({}, measured at {})", error.what, description,
                                 diagnostics_.place(location).text()),
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

// The state of reading a network file; the rows of kRows write to it.
struct NetworkDraft {
  NetworkFile result;
  const yaml::Node* layers = nullptr;
  // The positions of the inputs per layer. A layer without the key `inputs` has its own position.
  std::vector<std::vector<yaml::SourceLocation>> input_locations;
  std::vector<yaml::SourceLocation> output_locations;
  yaml::SourceLocation loss_location;  // the key `inputs` of `loss`, if it has one
};

namespace {

constexpr std::string_view kInput = "input";

constexpr std::array<std::string_view, 4> kInputKeys = {"c", "d", "h", "w"};

// Reads the input's sizes. As for operators, h defaults to d and w to h. Without d, h and w, the
// input is a vector.
void read_input(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                NetworkDraft& draft) {
  if (!reader.is_mapping(node, key.name)) return;
  std::array<std::optional<std::int64_t>, kInputKeys.size()> sizes;
  for (const yaml::Entry& entry : node.entries) {
    const auto found = std::find(kInputKeys.begin(), kInputKeys.end(), entry.key);
    if (found == kInputKeys.end()) {
      reader.report_error(entry.location, "unknown key " + quote(entry.key),
                          expected_key(entry.key, kInputKeys));
      continue;
    }
    sizes[static_cast<std::size_t>(found - kInputKeys.begin())] =
        reader.integer(*entry.value, entry.key, 1, std::numeric_limits<std::int64_t>::max());
  }
  if (node.find("c") == nullptr)
    reader.report_error(node.location, "`input` lacks `c`, its channels");
  if (sizes[1] && !sizes[2]) sizes[2] = sizes[1];
  if (sizes[2] && !sizes[3]) sizes[3] = sizes[2];
  for (const auto& size : sizes) {
    if (size) draft.result.definition.input.push_back(*size);
  }
}

ops::Dims read_sizes(const Reader& reader, const yaml::Node& node, std::string_view key) {
  ops::Dims sizes;
  for (const yaml::Node* item : reader.items(node, key)) {
    const auto size = reader.integer(*item, key, 1, std::numeric_limits<std::int64_t>::max());
    if (size) sizes.push_back(*size);
  }
  return sizes;
}

void read_named_inputs(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                       NetworkDraft& draft) {
  if (!reader.is_mapping(node, key.name)) return;
  for (const yaml::Entry& entry : node.entries) {
    draft.result.definition.inputs.push_back(
        {entry.key, read_sizes(reader, *entry.value, entry.key)});
    draft.result.layer_locations.emplace(entry.key, NetworkFile::LayerLocation{entry.location, {}});
  }
}

void read_outputs(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                  NetworkDraft& draft) {
  for (const yaml::Node* item : reader.items(node, key.name)) {
    const auto name = reader.text(*item, key.name);
    if (!name) continue;
    draft.result.definition.outputs.push_back(*name);
    draft.output_locations.push_back(item->location);
  }
}

// Reads the parameters of the loss or the optimizer, which a training step adds. `others`: keys
// that are not parameters.
void read_training(const Reader& reader, const yaml::Node& node, std::string_view op_name,
                   std::span<const std::string_view> others, NetworkDraft& draft) {
  if (!reader.is_mapping(node, op_name)) return;
  const ops::Operator* op = ops::find_operator(op_name);
  ops::LayerDefinition definition{.name = std::string(op_name),
                                  .op = std::string(op_name),
                                  .parameters = ops::ParameterSet(op->parameters),
                                  .inputs = {}};
  for (const yaml::Entry& entry : node.entries) {
    if (std::ranges::find(others, entry.key) != others.end()) continue;
    const ops::Parameter* parameter = ops::find_parameter(op->parameters, entry.key);
    if (parameter == nullptr || parameter->kind == ops::ParameterKind::count) {
      reader.report_error(
          entry.location,
          fmt::format("unknown key {} of {}", quote(entry.key), with_article(op_name)),
          "the sizes follow from the network; its other parameters are those of the operator");
      continue;
    }
    if (auto value = read_parameter(reader, *parameter, *entry.value)) {
      definition.parameters.set(parameter->name, *std::move(value));
    }
  }
  draft.result.definition.training.push_back(std::move(definition));
}

// Reads the loss, whose key `inputs` names the output that it reads.
void read_loss(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
               NetworkDraft& draft) {
  constexpr std::array<std::string_view, 1> kOthers = {"inputs"};
  read_training(reader, node, key.name, kOthers, draft);
  const yaml::Entry* inputs =
      node.kind == yaml::Kind::mapping ? node.find(kOthers.front()) : nullptr;
  if (inputs == nullptr) return;
  draft.loss_location = inputs->location;
  std::vector<std::string>& names = draft.result.definition.training.back().inputs;
  for (const yaml::Node* item : reader.items(*inputs->value, inputs->key)) {
    if (auto name = reader.text(*item, inputs->key)) names.push_back(*std::move(name));
  }
  if (names.size() == 1) return;
  reader.report_error(inputs->location,
                      fmt::format("a loss has {} inputs, expected 1", names.size()),
                      "name one of the network's outputs");
}

constexpr std::array<KeyRow<NetworkDraft>, 8> kRows = {{
    {{"version", "`1`", "required", "version of this format", 1, 1}, check_integer},
    {{"network", "word of letters, digits and _", "required",
      "the network's name; the file is NAME.yaml"},
     [](const Reader& reader, const KeyInfo& key, const yaml::Node& node, NetworkDraft& draft) {
       const auto name = reader.text(node, key.name);
       if (name && !is_network_name(*name)) {
         reader.report_mismatch(node, key.name, "letters, digits and underscores");
       } else if (name) {
         draft.result.definition.name = *name;
       }
     }},
    {{"input", "mapping of `c`, `d`, `h`, `w`", "this or `inputs`",
      "sizes of the only input, an image without its batch"},
     read_input},
    {{"inputs", "mapping of names to lists of sizes", "this or `input`",
      "the inputs; the first size of each is multiplied by the batch"},
     read_named_inputs},
    {{"layers", "list of layers and blocks", "required", "the graph, in any order without a cycle"},
     [](const Reader& reader, const KeyInfo& key, const yaml::Node& node, NetworkDraft& draft) {
       if (node.kind == yaml::Kind::sequence && !node.items.empty()) {
         draft.layers = &node;
       } else {
         reader.report_mismatch(node, key.name, "a list of at least one layer");
       }
     }},
    {{"outputs", "list of layer names", "the last layer", "the layers that give the outputs"},
     read_outputs},
    {{"loss", "mapping of parameters of `loss`", "`function: softmax_cross_entropy`",
      "what a training step computes of the output; "
      "`inputs` names it if the network has several"},
     read_loss},
    {{"optimizer", "mapping of parameters of `optimizer`", "`function: sgd`",
      "how a training step changes the parameters"},
     [](const Reader& reader, const KeyInfo& key, const yaml::Node& node, NetworkDraft& draft) {
       read_training(reader, node, key.name, {}, draft);
     }},
}};

constexpr std::array<KeyInfo, 5> kLayerKeys = {{
    {"name", "text", "required", "distinct in the network"},
    {"op", "operator", "required, but for a view", "what the layer computes"},
    {"inputs", "list of names of layers, blocks and inputs", "the layer before",
     "in the operator's order"},
    {"PARAMETER", "as in a case", "",
     "the operator's parameters; omit sizes that follow from the inputs"},
    {"reshape", "list of sizes", "",
     "a view: the sizes in which other layers see its input, the first times the batch; no `op`"},
}};

constexpr std::array<KeyInfo, 4> kBlockKeys = {{
    {"name", "text", "required",
     "inside: what enters a repetition; outside: what leaves the last one"},
    {"repeat", "number", "required", "how often the layers follow each other"},
    {"layers", "list of layers and blocks", "required",
     "the last one gives the output; layer L of repetition I is called NAME.I.L"},
    {"inputs", "name of a layer, block or input", "the layer before",
     "what enters the first repetition"},
}};

// A layer with the positions of what was written. Names of inputs are those of the list in which
// the layer stands.
struct WrittenLayer {
  ops::LayerDefinition definition;
  NetworkFile::LayerLocation location;
  std::vector<yaml::SourceLocation> input_locations;
};

// A list of layers whose blocks are expanded. `aliases`: the layer that gives a block's output.
struct WrittenLayers {
  std::vector<WrittenLayer> layers;
  std::map<std::string, std::string, std::less<>> aliases;
};

void read_inputs(const Reader& reader, const yaml::Node& node, WrittenLayer& layer) {
  for (const yaml::Node* item : reader.items(node, "inputs")) {
    const auto name = reader.text(*item, "inputs");
    if (!name) continue;
    layer.definition.inputs.push_back(*name);
    layer.input_locations.push_back(item->location);
  }
}

std::vector<std::string_view> list_layer_keys(const ops::Operator& op) {
  std::vector<std::string_view> names = {"name", "op", "inputs"};
  for (const ops::Parameter& parameter : op.parameters) names.push_back(parameter.name);
  return names;
}

void read_layer_parameter(const Reader& reader, const ops::Operator& op, const yaml::Entry& entry,
                          WrittenLayer& layer) {
  const ops::Parameter* parameter = ops::find_parameter(op.parameters, entry.key);
  if (parameter == nullptr) {
    reader.report_error(
        entry.location,
        fmt::format("unknown key {} of {}", quote(entry.key), with_article(op.name)),
        expected_key(entry.key, list_layer_keys(op)));
    return;
  }
  if (auto value = read_parameter(reader, *parameter, *entry.value)) {
    layer.definition.parameters.set(parameter->name, *std::move(value));
    layer.location.parameters.emplace(parameter->name, entry.value->location);
  }
}

std::string read_layer_name(const Reader& reader, const yaml::Node& node) {
  const yaml::Entry* entry = node.find("name");
  if (entry == nullptr) {
    reader.report_error(node.location, "a layer lacks its `name`");
    return {};
  }
  const auto name = reader.text(*entry->value, "name");
  if (name && *name == kInput) {
    reader.report_error(entry->value->location, "`input` names the network's input, not a layer",
                        "choose another name");
    return {};
  }
  return name.value_or(std::string());
}

// Reports keys other than `keys`, which are those of a view or block.
void check_keys(const Reader& reader, const yaml::Node& node, std::string_view what,
                std::span<const std::string_view> keys) {
  for (const yaml::Entry& entry : node.entries) {
    if (std::ranges::find(keys, entry.key) != keys.end()) continue;
    reader.report_error(entry.location,
                        fmt::format("unknown key {} of {}", quote(entry.key), with_article(what)),
                        expected_key(entry.key, keys));
  }
}

WrittenLayer read_view(const Reader& reader, const yaml::Node& node) {
  constexpr std::array<std::string_view, 3> kKeys = {"name", "reshape", "inputs"};
  WrittenLayer layer{.definition = {}, .location = {node.location, {}}, .input_locations = {}};
  layer.definition.name = read_layer_name(reader, node);
  const yaml::Entry& reshape = *node.find("reshape");
  layer.definition.reshape = read_sizes(reader, *reshape.value, "reshape");
  layer.location.parameters.emplace("reshape", reshape.value->location);
  if (const yaml::Entry* inputs = node.find("inputs")) read_inputs(reader, *inputs->value, layer);
  check_keys(reader, node, "view", kKeys);
  return layer;
}

WrittenLayer read_layer(const Reader& reader, const yaml::Node& node) {
  if (node.find("reshape") != nullptr) return read_view(reader, node);
  WrittenLayer layer{.definition = {}, .location = {node.location, {}}, .input_locations = {}};
  layer.definition.name = read_layer_name(reader, node);
  const yaml::Entry* op_entry = node.find("op");
  const ops::Operator* op = op_entry == nullptr ? nullptr : read_operator(reader, *op_entry->value);
  if (op_entry == nullptr) reader.report_error(node.location, "a layer lacks its `op`");
  if (op != nullptr) {
    layer.definition.op = op->name;
    layer.definition.parameters = ops::ParameterSet(op->parameters);
  }
  for (const yaml::Entry& entry : node.entries) {
    if (entry.key == "inputs") {
      read_inputs(reader, *entry.value, layer);
    } else if (entry.key != "name" && entry.key != "op" && op != nullptr) {
      read_layer_parameter(reader, *op, entry, layer);
    }
  }
  return layer;
}

// Returns the layers of one repetition of a block: their names get the block's name and the number
// of the repetition. `entering`: the value that the block's name stands for inside.
std::vector<WrittenLayer> repeat_layers(const std::vector<WrittenLayer>& layers,
                                        std::string_view block, std::int64_t repetition,
                                        std::string_view entering) {
  std::vector<WrittenLayer> result = layers;
  for (WrittenLayer& layer : result) {
    layer.definition.name = fmt::format("{}.{}.{}", block, repetition, layer.definition.name);
    for (std::string& input : layer.definition.inputs) {
      const bool is_own = std::ranges::any_of(
          layers, [&](const WrittenLayer& own) { return own.definition.name == input; });
      if (is_own) {
        input = fmt::format("{}.{}.{}", block, repetition, input);
      } else if (input == block) {
        input = entering;
      }
    }
  }
  return result;
}

// Replaces the names of blocks among the inputs by those of the layers that give their outputs.
void resolve_aliases(WrittenLayers& list) {
  for (WrittenLayer& layer : list.layers) {
    for (std::string& input : layer.definition.inputs) {
      const auto alias = list.aliases.find(input);
      if (alias != list.aliases.end()) input = alias->second;
    }
  }
}

WrittenLayers read_layers(const Reader& reader, const yaml::Node& node,
                          const std::string& entering);

// Reads a block and appends its repetitions. `before`: what enters it if it names no input.
void read_block(const Reader& reader, const yaml::Node& node, const std::string& before,
                WrittenLayers& list) {
  constexpr std::array<std::string_view, 4> kKeys = {"name", "repeat", "layers", "inputs"};
  constexpr std::int64_t kMaxRepetitions = 1000;
  constexpr std::size_t kMaxLayers = 100'000;  // blocks in blocks multiply
  check_keys(reader, node, "block", kKeys);
  const std::string name = read_layer_name(reader, node);
  const yaml::Entry* repeat = node.find("repeat");
  const yaml::Entry* layers = node.find("layers");
  if (repeat == nullptr || layers == nullptr) {
    return reader.report_error(node.location, fmt::format("a block lacks its `{}`",
                                                          repeat == nullptr ? "repeat" : "layers"));
  }
  const auto count = reader.integer(*repeat->value, "repeat", 1, kMaxRepetitions);
  WrittenLayer entry{.definition = {}, .location = {node.location, {}}, .input_locations = {}};
  if (const yaml::Entry* inputs = node.find("inputs")) read_inputs(reader, *inputs->value, entry);
  if (entry.definition.inputs.size() > 1) {
    reader.report_error(node.find("inputs")->location,
                        "a block has one input, which each repetition replaces by its output",
                        "let its layers name further layers in their own `inputs`");
  }
  std::string entering = entry.definition.inputs.empty() ? before : entry.definition.inputs.front();
  const WrittenLayers inner = read_layers(reader, *layers->value, name);
  if (!count || inner.layers.empty()) return;
  if (list.layers.size() + static_cast<std::size_t>(*count) * inner.layers.size() > kMaxLayers) {
    return reader.report_error(repeat->value->location,
                               fmt::format("the network has more than {} layers", kMaxLayers),
                               "repeat less often");
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    auto repetition = repeat_layers(inner.layers, name, i, entering);
    entering = repetition.back().definition.name;
    std::ranges::move(repetition, std::back_inserter(list.layers));
  }
  list.aliases[name] = entering;
}

// Reads a list of layers and blocks. `entering`: what the first one reads if it names no input.
WrittenLayers read_layers(const Reader& reader, const yaml::Node& node,
                          const std::string& entering) {
  WrittenLayers list;
  std::map<std::string, yaml::SourceLocation> names;
  for (const yaml::Node* item : reader.items(node, "layers")) {
    if (!reader.is_mapping(*item, "layers")) continue;
    const std::string before = list.layers.empty() ? entering : list.layers.back().definition.name;
    const yaml::Entry* name = item->find("name");
    const std::string text = name == nullptr ? std::string() : name->value->text;
    const auto [first, inserted] = names.emplace(text, item->location);
    if (!inserted && !text.empty()) {
      reader.report_error(item->location,
                          fmt::format("duplicate layer {}, first at line {}, column {}",
                                      quote(text), first->second.line, first->second.column),
                          "layers need distinct names");
    }
    if (item->find("repeat") != nullptr || item->find("layers") != nullptr) {
      read_block(reader, *item, before, list);
      continue;
    }
    WrittenLayer layer = read_layer(reader, *item);
    if (layer.definition.inputs.empty()) {
      layer.definition.inputs.push_back(before);
      layer.input_locations.push_back(item->location);
    }
    list.layers.push_back(std::move(layer));
  }
  resolve_aliases(list);
  return list;
}

void read_graph(const Reader& reader, NetworkDraft& draft) {
  ops::NetworkDefinition& definition = draft.result.definition;
  const std::string first =
      definition.inputs.empty() ? std::string(kInput) : definition.inputs.front().name;
  WrittenLayers list = read_layers(reader, *draft.layers, first);
  for (WrittenLayer& layer : list.layers) {
    draft.result.layer_locations.emplace(layer.definition.name, std::move(layer.location));
    draft.input_locations.push_back(std::move(layer.input_locations));
    definition.layers.push_back(std::move(layer.definition));
  }
  const auto resolve_alias = [&](std::string& name) {
    const auto alias = list.aliases.find(name);
    if (alias != list.aliases.end()) name = alias->second;
  };
  std::ranges::for_each(definition.outputs, resolve_alias);
  for (ops::LayerDefinition& added : definition.training) {
    std::ranges::for_each(added.inputs, resolve_alias);
  }
}

// Reports a loss that reads something else than an output of the network.
void check_loss(const Reader& reader, const NetworkDraft& draft) {
  const ops::NetworkDefinition& definition = draft.result.definition;
  std::vector<std::string_view> outputs(definition.outputs.begin(), definition.outputs.end());
  if (outputs.empty() && !definition.layers.empty()) outputs = {definition.layers.back().name};
  for (const ops::LayerDefinition& added : definition.training) {
    for (const std::string& input : added.inputs) {
      if (std::ranges::find(outputs, input) != outputs.end()) continue;
      reader.report_error(
          draft.loss_location,
          fmt::format("the loss reads {}, which is not an output of the network", quote(input)),
          expectation(input, outputs));
    }
  }
}

void check_required_keys(const Reader& reader, const yaml::Node& root) {
  for (const KeyRow<NetworkDraft>& row : kRows) {
    if (row.info.default_value == "required" && root.find(row.info.name) == nullptr) {
      reader.report_error(root.location, fmt::format("the key `{}` is missing", row.info.name),
                          std::string(row.info.help));
    }
  }
  const bool has_input = root.find("input") != nullptr;
  if (has_input != (root.find("inputs") != nullptr)) return;
  reader.report_error(
      has_input ? root.find("inputs")->location : root.location,
      has_input ? "a network has `input` or `inputs`, not both" : "the key `input` is missing",
      "`input` has the sizes of one image; `inputs` maps names to lists of sizes");
}

}  // namespace

FileLocation NetworkFile::find_location(std::string_view where) const {
  // Layer names may contain dots, so the longest prefix that is a layer's name is used.
  for (std::size_t end = where.size(); end != std::string_view::npos && end > 0;
       end = where.rfind('.', end - 1)) {
    const auto layer = layer_locations.find(where.substr(0, end));
    if (layer == layer_locations.end()) continue;
    const std::string_view parameter_name =
        end < where.size() ? where.substr(end + 1) : std::string_view();
    const auto parameter = layer->second.parameters.find(parameter_name);
    return {file, parameter == layer->second.parameters.end() ? layer->second.position
                                                              : parameter->second};
  }
  return {file, {1, 1}};
}

std::optional<NetworkFile> read_network(Diagnostics& diagnostics, const std::string& file,
                                        std::string_view text,
                                        const ops::OperatorRegistry& registry) {
  const std::size_t count_before = diagnostics.count();
  const Reader reader(diagnostics, diagnostics.add_file(file), registry);
  const auto document = reader.parse(text);
  if (!document) return std::nullopt;
  const yaml::Node& root = document->root();
  if (root.kind != yaml::Kind::mapping) {
    reader.report_error(root.location, fmt::format("found {}, expected a mapping", describe(root)),
                        "a network has the keys version, network, input and layers");
    return std::nullopt;
  }
  NetworkDraft draft;
  draft.result.file = reader.file();
  read_keys(reader, root, kRows, draft);
  check_required_keys(reader, root);
  if (draft.layers != nullptr) {
    read_graph(reader, draft);
    check_loss(reader, draft);
    check_graph(reader, {draft.result.definition, draft.input_locations, draft.output_locations});
  }
  if (diagnostics.count() != count_before) return std::nullopt;
  return std::move(draft.result);
}

Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file, const ops::OperatorRegistry& registry) {
  Diagnostics diagnostics;
  auto network = read_network(diagnostics, file, text, registry);
  if (!network) return diagnostics.list();
  return std::move(network->definition);
}

std::span<const KeyRow<NetworkDraft>> network_rows() { return kRows; }
std::span<const KeyInfo> layer_keys() { return kLayerKeys; }
std::span<const KeyInfo> block_keys() { return kBlockKeys; }

}  // namespace bench
