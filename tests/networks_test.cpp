// SPDX-License-Identifier: Apache-2.0
// Compares the networks in configs/networks exactly with independent layer tables.
#include "harness/config/network_file.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using ops::Network;
using ops::Node;
using ops::ParameterSet;
using ops::Tensor;

const std::string kRoot = BENCH_SOURCE_DIR;

using Row = std::map<std::string, std::string>;  // key: column name from the header line

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<Row> read_table(const std::string& network) {
  std::ifstream file(kRoot + "/tests/data/networks/" + network + ".csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line, ',');
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = split(line, ',');
    if (values.size() != names.size()) {
      ADD_FAILURE() << network << ": another number of values than of columns: " << line;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = values[i];
    rows.push_back(std::move(row));
  }
  EXPECT_FALSE(rows.empty()) << network;
  return rows;
}

std::int64_t number(const Row& row, const std::string& column) {
  return std::stoll(row.at(column));
}

ops::NetworkDefinition definition(const std::string& network) {
  const std::string path = kRoot + "/configs/networks/" + network + ".yaml";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  auto parsed = parse_network(text.str(), path);
  if (!parsed.ok()) {
    for (const Diagnostic& fault : parsed.error()) ADD_FAILURE() << fault.message();
    return {};
  }
  return std::move(parsed).value();
}

Network build(const std::string& network, ops::Fusion fusion, std::int64_t batch = 1) {
  Result<Network> built =
      ops::make_network(definition(network), batch, DataType::f32, ops::Mode::inference, fusion);
  if (built.ok()) return std::move(built).value();
  ADD_FAILURE() << built.error().message();
  return {};
}

// A network of single layers, by name.
class Layers {
 public:
  explicit Layers(const Network& network) : network_(network) {
    for (const Node& node : network.nodes) nodes_[node.name] = &node;
  }
  const Node* find(const std::string& name) const {
    const auto entry = nodes_.find(name);
    return entry == nodes_.end() ? nullptr : entry->second;
  }
  const Node& at(const std::string& name) const {
    const Node* node = find(name);
    if (node == nullptr) throw std::out_of_range("no layer " + name);
    return *node;
  }
  // Returns the layer that produces input `input` of a node.
  std::string producer(const Node& node, std::size_t input) const {
    const ops::Source& source = node.sources[input];
    return source.kind == ops::Source::Kind::input ? "input" : network_.nodes[source.index].name;
  }
  // A row of the table can stand for several layers of the network. Returns the last of them: the
  // activation if there is one, else the batch norm, else the layer itself.
  std::string last_of(const std::string& name) const {
    for (const std::string suffix : {".relu6", ".relu", ".hardswish", ".hardsigmoid", ".bn"}) {
      if (find(name + suffix) != nullptr) return name + suffix;
    }
    return name;
  }

 private:
  const Network& network_;
  std::map<std::string, const Node*> nodes_;
};

const Tensor& output_of(const Node& node) { return node.problem.tensors.back(); }

std::int64_t count_learned_parameters(const Node& node) {
  std::int64_t count = 0;
  for (const Tensor& tensor : node.problem.tensors) {
    const bool statistic = tensor.name == "mean" || tensor.name == "variance";
    if (tensor.role == ops::TensorRole::weights && !statistic) count += tensor.elements();
  }
  return count;
}

void expect_image(const Row& row, const Node& node) {
  EXPECT_EQ(node.problem.tensors[0].dims,
            (ops::Dims{1, number(row, "C"), number(row, "H"), number(row, "W")}));
  EXPECT_EQ(output_of(node).dims,
            (ops::Dims{1, number(row, "K"), number(row, "P"), number(row, "Q")}));
}

void expect_window(const Row& row, const ParameterSet& set) {
  EXPECT_EQ(set.numbers("stride"), (std::vector<std::int64_t>(2, number(row, "stride"))));
  const std::vector<ops::PadPair> pads = {{number(row, "pad_t"), number(row, "pad_b")},
                                          {number(row, "pad_l"), number(row, "pad_r")}};
  EXPECT_EQ(set.padding("pad"), pads);
}

void expect_conv(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  expect_image(row, node);
  expect_window(row, set);
  EXPECT_EQ(node.problem.op->name, "conv");
  EXPECT_EQ(set.count("r"), number(row, "R"));
  EXPECT_EQ(set.count("s"), number(row, "S"));
  EXPECT_EQ(set.numbers("dilation"), (std::vector<std::int64_t>(2, number(row, "dil"))));
  EXPECT_EQ(set.count("g"), number(row, "groups"));
  EXPECT_EQ(set.flag("bias"), row.at("bias") == "1");
  EXPECT_EQ(set.flag("transposed"), row.at("op") == "deconv");
}

void expect_max_pool(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  expect_image(row, node);
  expect_window(row, set);
  EXPECT_EQ(set.word("function"), "max");
  EXPECT_EQ(set.numbers("window"), (std::vector{number(row, "R"), number(row, "S")}));
}

void expect_global_pool(const Row& row, const Node& node) {
  expect_image(row, node);
  EXPECT_TRUE(node.problem.parameters.flag("global"));
  EXPECT_TRUE(node.problem.parameters.word("function").starts_with("avg_"));
}

void expect_add(const Row& row, const Node& node) {
  expect_image(row, node);
  EXPECT_EQ(node.problem.parameters.word("function"), "add");
}

// One factor per channel, of squeeze and excitation.
void expect_channel_product(const Row& row, const Node& node) {
  expect_image(row, node);
  EXPECT_EQ(node.problem.parameters.word("function"), "mul");
  EXPECT_EQ(node.problem.tensors[1].dims, (ops::Dims{1, number(row, "C"), 1, 1}));
}

void expect_concat(const Row& row, const Node& node) {
  EXPECT_EQ(node.problem.op->name, "concat");
  EXPECT_EQ(node.problem.parameters.count("axis"), 1);
  EXPECT_EQ(output_of(node).dims,
            (ops::Dims{1, number(row, "K"), number(row, "P"), number(row, "Q")}));
}

void expect_classifier(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  EXPECT_EQ(node.problem.op->name, "gemm");
  EXPECT_EQ(set.count("m"), 1);
  EXPECT_EQ(set.count("k"), number(row, "C"));
  EXPECT_EQ(set.count("n"), number(row, "K"));
  EXPECT_EQ(set.flag("bias"), row.at("bias") == "1");
}

// Maps an operator's name in the table to the function that checks it.
const std::map<std::string, void (*)(const Row&, const Node&)> kChecks = {
    {"conv", expect_conv},
    {"dwconv", expect_conv},
    {"maxpool", expect_max_pool},
    {"global_avgpool", expect_global_pool},
    {"add", expect_add},
    {"fc", expect_classifier},
    {"deconv", expect_conv},
    {"mul_broadcast", expect_channel_product},
    {"concat_channel", expect_concat},
};
// The table's activations as functions of this project.
const std::map<std::string, std::string> kFunctions = {{"relu", "relu"},
                                                       {"relu6", "clip"},
                                                       {"hardswish", "hardswish"},
                                                       {"hardsigmoid", "hardsigmoid"}};

void expect_sources(const Row& row, const Node& node, const Layers& layers) {
  std::size_t input = 0;
  for (const std::string& name : split(row.at("src"), '+')) {
    EXPECT_EQ(layers.producer(node, input++), name.empty() ? "input" : layers.last_of(name));
  }
}

// Elements of activations that are read and written. The table leaves out the factors of a product
// per channel.
void expect_elements(const Row& row, const Node& node) {
  std::int64_t read = 0;
  for (const Tensor& tensor : node.problem.tensors) {
    if (tensor.role == ops::TensorRole::input) read += tensor.elements();
  }
  if (row.at("op") == "mul_broadcast") read -= number(row, "C");
  EXPECT_EQ(read, number(row, "in_elems"));
  EXPECT_EQ(output_of(node).elements(), number(row, "out_elems"));
}

// Returns how many of the network's layers the row represents.
std::size_t expect_row(const Row& row, const Layers& layers) {
  const std::string& name = row.at("layer");
  const Node& node = layers.at(name);
  kChecks.at(row.at("op"))(row, node);
  expect_sources(row, node, layers);
  expect_elements(row, node);
  EXPECT_EQ(node.problem.work.macs.value_or(0), number(row, "macs_per_image"));
  std::int64_t parameters = count_learned_parameters(node);
  std::size_t count = 1;
  if (const Node* batch_norm = layers.find(name + ".bn")) {
    EXPECT_EQ(batch_norm->problem.op->name, "batch_norm");
    EXPECT_EQ(layers.producer(*batch_norm, 0), name);
    parameters += count_learned_parameters(*batch_norm);
    ++count;
  }
  EXPECT_EQ(parameters, number(row, "params"));
  const std::string& activation = row.at("act");
  if (!activation.empty()) {
    const Node& function = layers.at(name + "." + activation);
    const ParameterSet& set = function.problem.parameters;
    EXPECT_EQ(layers.producer(function, 0), count == 2 ? name + ".bn" : name);
    EXPECT_EQ(set.word("function"), kFunctions.at(activation));
    EXPECT_FALSE(set.has("alpha") || set.has("beta"));  // relu6: the defaults 0 and 6
    ++count;
  }
  return count;
}

struct Expected {
  std::string network;
  std::int64_t macs;
  std::int64_t parameters;
  std::size_t distinct_convs;
};

std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.network;
}

class Networks : public ::testing::TestWithParam<Expected> {};

// Published totals (torchvision); distinct convolutions counted in the tables.
INSTANTIATE_TEST_SUITE_P(Shipped, Networks,
                         ::testing::Values(Expected{"resnet50_v1_5", 4089184256, 25557032, 23},
                                           Expected{"resnet18", 1814073344, 11689512, 11},
                                           Expected{"mobilenet_v1", 568740352, 4231976, 19},
                                           Expected{"mobilenet_v2", 300774272, 3504872, 30},
                                           Expected{"mobilenet_v3_large", 216589760, 5483032, 44},
                                           Expected{"unet", 192686325760, 31037698, 19},
                                           Expected{"vgg16", 15470264320, 138357544, 9}),
                         [](const ::testing::TestParamInfo<Expected>& test) {
                           return test.param.network;
                         });

TEST_P(Networks, EveryLayerMatchesTheTable) {
  const Network network = build(GetParam().network, ops::Fusion::separate);
  const Layers layers(network);
  std::size_t count = 0;
  for (const Row& row : read_table(GetParam().network)) {
    SCOPED_TRACE(row.at("layer"));
    count += expect_row(row, layers);
  }
  EXPECT_EQ(network.nodes.size(), count);  // and no other node
}

TEST_P(Networks, TotalsAreThePublishedOnes) {
  for (const ops::Fusion fusion : {ops::Fusion::separate, ops::Fusion::fused}) {
    const Network network = build(GetParam().network, fusion);
    EXPECT_EQ(network.work.macs, GetParam().macs);
    EXPECT_EQ(network.parameters, GetParam().parameters);
  }
  EXPECT_EQ(build(GetParam().network, ops::Fusion::fused, 32).work.macs, 32 * GetParam().macs);
}

TEST_P(Networks, MultiplicitiesAreThoseOfTheTable) {
  std::map<std::string, std::size_t> table;  // shape -> count
  for (const Row& row : read_table(GetParam().network)) {
    if (!row.at("op").ends_with("conv")) continue;
    std::string shape = row.at("op") == "deconv" ? "transposed" : "";
    for (const std::string column :
         {"C", "H", "W", "K", "R", "S", "stride", "pad_t", "groups", "bias"}) {
      shape += column + row.at(column);
    }
    ++table[shape];
  }
  std::multiset<std::size_t> expected;
  for (const auto& [shape, count] : table) expected.insert(count);
  std::multiset<std::size_t> found;
  for (const auto& distinct :
       ops::distinct_layers(build(GetParam().network, ops::Fusion::separate))) {
    if (distinct.problem.op->name == "conv") found.insert(distinct.layers.size());
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), GetParam().distinct_convs);
}

// Fusion merges all other layers into convolutions and classifiers. Pools, joined tensors and
// products per channel stay separate.
TEST_P(Networks, FusionLeavesNothingBehind) {
  const Network network = build(GetParam().network, ops::Fusion::fused);
  for (const Node& node : network.nodes) {
    const std::string_view op = node.problem.op->name;
    EXPECT_TRUE(op == "conv" || op == "gemm" || op == "pool" || op == "concat" ||
                node.name.ends_with(".se.mul"))
        << node.name;
    EXPECT_TRUE(op != "conv" || node.problem.parameters.flag("bias")) << node.name;
  }
}

// The part of a layer's name behind block and repetition: "layer.3.query" is "query".
std::string name_in_block(const std::string& name) {
  return name.substr(name.find('.', name.find('.') + 1) + 1);
}

void expect_product(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  ASSERT_EQ(node.problem.op->name, "gemm");
  EXPECT_EQ(set.count("batch"), number(row, "batch"));
  EXPECT_EQ(set.count("m"), number(row, "M"));
  EXPECT_EQ(set.count("n"), number(row, "N"));
  EXPECT_EQ(set.count("k"), number(row, "K"));
  EXPECT_EQ(set.flag("bias"), row.at("bias") == "1");
  EXPECT_FALSE(set.flag("two_inputs"));
  // Weights are stored as linear layers have them, n x k.
  EXPECT_TRUE(set.flag("trans_b"));
}

// The table has the products and the softmax of attention, which is one operator of the network.
void expect_attention(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  const bool is_context = row.at("layer").ends_with("context");
  EXPECT_EQ(set.count("heads"), number(row, "batch"));
  EXPECT_EQ(set.count("q_len"), number(row, "M"));
  EXPECT_EQ(set.count(is_context ? "head_dim" : "kv_len"), number(row, "N"));
  if (row.at("K").empty()) return;
  EXPECT_EQ(set.count(is_context ? "kv_len" : "head_dim"), number(row, "K"));
}

void expect_rows(const Row& row, const Node& node) {
  EXPECT_EQ(node.problem.op->name, "layer_norm");
  EXPECT_EQ(output_of(node).dims.back(), number(row, "N"));
  EXPECT_EQ(output_of(node).elements(), number(row, "batch") * number(row, "M") * number(row, "N"));
}

// Multiply-accumulates of all pairs. Tables count them; a causal problem leaves out later keys.
std::int64_t count_all_pairs(const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  const std::int64_t macs = node.problem.work.macs.value_or(0);
  if (node.problem.op->name != "attention" || !set.flag("causal")) return macs;
  EXPECT_EQ(set.count("q_len"), set.count("kv_len"));
  return macs / (set.count("q_len") + 1) * 2 * set.count("q_len");
}

bool is_attention_row(const Row& row) {
  return row.at("op") == "batched_gemm" || row.at("op") == "softmax";
}

// The nodes that a row stands for. Returns the FLOPs of the row.
std::int64_t expect_nodes_of_row(const Row& row, const Network& network) {
  const std::vector<std::string> names = split(row.at("layer"), '+');
  const bool is_attention = is_attention_row(row);
  std::int64_t count = 0;
  std::int64_t flops = 0;
  for (const Node& node : network.nodes) {
    const bool is_named = std::ranges::find(names, name_in_block(node.name)) != names.end();
    if (is_attention ? node.problem.op->name != "attention" : !is_named) continue;
    ++count;
    // Attention is two products of equal work.
    flops += (is_attention ? 1 : 2) * count_all_pairs(node);
    if (is_attention) {
      expect_attention(row, node);
    } else {
      row.at("K").empty() ? expect_rows(row, node) : expect_product(row, node);
    }
  }
  EXPECT_EQ(count, number(row, "count"));
  if (row.at("K").empty()) return 0;
  EXPECT_EQ(flops, number(row, "flops_total"));
  return flops;
}

struct Transformer {
  std::string network;
  std::int64_t flops;  // value of the table
  std::int64_t parameters;
};

std::ostream& operator<<(std::ostream& out, const Transformer& expected) {
  return out << expected.network;
}

class Transformers : public ::testing::TestWithParam<Transformer> {};

// Hugging Face's bert-base-uncased has 109,482,240 parameters and bert-large-uncased 335,141,888;
// the embeddings and the pooler, which the networks leave out, have 24,427,776 and 32,832,512.
// GPT-2 has 124,439,808, of which the network leaves out the 1024 x 768 positions.
INSTANTIATE_TEST_SUITE_P(
    Shipped, Transformers,
    ::testing::Values(Transformer{"bert_base", 22347251712, 109482240 - 24427776},
                      Transformer{"bert_large", 246423748608, 335141888 - 32832512},
                      Transformer{"gpt2", 291648307200, 124439808 - 1024 * 768},
                      Transformer{"gpt2_decode", 284812800, 124439808 - 1024 * 768}),
    [](const ::testing::TestParamInfo<Transformer>& test) { return test.param.network; });

TEST_P(Transformers, EveryRowOfTheTableIsInTheNetwork) {
  const Network network = build(GetParam().network, ops::Fusion::separate);
  std::int64_t flops = 0;
  std::int64_t products = 0;
  for (const Row& row : read_table(GetParam().network)) {
    SCOPED_TRACE(row.at("layer"));
    flops += expect_nodes_of_row(row, network);
    if (row.at("op") == "gemm") products += number(row, "count");
  }
  EXPECT_EQ(flops, GetParam().flops);
  EXPECT_EQ(std::ranges::count(network.nodes, "gemm",
                               [](const Node& node) { return node.problem.op->name; }),
            products);
}

TEST_P(Transformers, TotalsAreThePublishedOnes) {
  for (const ops::Fusion fusion : {ops::Fusion::separate, ops::Fusion::fused}) {
    const Network network = build(GetParam().network, fusion, 8);
    std::int64_t macs = 0;
    for (const Node& node : network.nodes) macs += count_all_pairs(node);
    EXPECT_EQ(2 * macs, 8 * GetParam().flops);
    EXPECT_EQ(network.parameters, GetParam().parameters);
  }
}

// Equal layers are measured once, of 12 blocks.
TEST(ShippedNetworks, BertBaseHasTwelveEqualBlocks) {
  const Network network = build("bert_base", ops::Fusion::fused);
  for (const auto& distinct : ops::distinct_layers(network)) {
    EXPECT_EQ(distinct.layers.size() % 12, 0u) << distinct.layers.front();
  }
  const Layers layers(network);
  EXPECT_EQ(ops::problem_tokens(layers.at("layer.0.context").problem), "h12q128d64");
  EXPECT_EQ(ops::problem_tokens(layers.at("layer.11.intermediate").problem),
            "m128n3072k768+tb+bias+gelu_erf");
  EXPECT_EQ(ops::problem_tokens(layers.at("layer.11.output").problem), "m128n768k3072+tb+bias+add");
  EXPECT_EQ(layers.producer(layers.at("layer.1.query"), 0), "layer.0.norm");
  EXPECT_EQ(layers.producer(layers.at("layer.0.query"), 0), "input");
}

// The published number of parameters of Llama 3 8B is 8,030,261,248: 32 blocks, the embeddings and
// the last product of 128,256 words, and the last norm. benchdnn's list of shapes has the products
// of the feed-forward for 30 tokens: 7,046,430,720 and 3,523,215,360 FLOPs.
TEST(ShippedNetworks, LlamaBlocksHaveThePublishedSizes) {
  constexpr std::int64_t kWidth = 4096, kWords = 128256, kListedTokens = 30;
  for (const auto& [name, tokens] : std::map<std::string, std::int64_t>{
           {"llama3_8b_block", 512}, {"llama3_8b_block_decode", 1}}) {
    const Network network = build(name, ops::Fusion::fused);
    EXPECT_EQ(32 * network.parameters + 2 * kWords * kWidth + kWidth, 8030261248);
    const Layers layers(network);
    const auto flops = [&](const std::string& layer) {
      return 2 * layers.at(layer).problem.work.macs.value_or(0) / tokens * kListedTokens;
    };
    EXPECT_EQ(flops("gate") + flops("up"), 7046430720);
    EXPECT_EQ(flops("down"), 3523215360);
    EXPECT_EQ(network.outputs.size(), 3u);
  }
  const Network prefill = build("llama3_8b_block", ops::Fusion::fused);
  // Products of weights, and the two of attention over 512 * 513 / 2 pairs in each of 32 heads.
  EXPECT_EQ(prefill.work.macs, 111669149696 + 2 * 32 * 128 * (512 * 513 / 2));
  EXPECT_EQ(ops::problem_tokens(Layers(prefill).at("context").problem), "h32g8q512d128+causal");
  EXPECT_EQ(ops::problem_tokens(Layers(prefill).at("query.rotated").problem), "h32s512d128");
  const Network decode = build("llama3_8b_block_decode", ops::Fusion::fused, 4);
  EXPECT_EQ(decode.work.macs, 4 * 226492416);
  EXPECT_EQ(ops::problem_tokens(Layers(decode).at("context").problem), "b4h32g8q1k1024d128");
  EXPECT_EQ(decode.input_count(), 3u);
}

// Later keys are neither computed nor read.
TEST(ShippedNetworks, Gpt2IsCausal) {
  constexpr std::int64_t kPairs = 1024 * 1025 / 2;
  const Network prefill = build("gpt2", ops::Fusion::fused);
  EXPECT_EQ(prefill.work.macs, 136169914368);
  EXPECT_EQ(prefill.work.macs, (291648307200 - 2 * 19327352832) / 2 + 12 * 2 * 12 * 64 * kPairs);
  const Layers layers(prefill);
  EXPECT_EQ(ops::problem_tokens(layers.at("h.0.attn.context").problem), "h12q1024d64+causal");
  EXPECT_EQ(ops::problem_tokens(layers.at("h.11.value").problem), "1024x2304-b1536s768");
  EXPECT_EQ(prefill.outputs.size(), 1u + 2 * 12);
  const Network decode = build("gpt2_decode", ops::Fusion::fused, 4);
  EXPECT_EQ(decode.work.macs, 4 * 142406400);
  EXPECT_EQ(ops::problem_tokens(Layers(decode).at("h.11.attn.context").problem), "b4h12q1k1024d64");
  EXPECT_EQ(decode.input_count(), 1u + 2 * 12);
}

// torchvision states 86,567,656 parameters, class token and positions included, and 17.564 GFLOP,
// where a multiply-accumulate counts once.
TEST(ShippedNetworks, VisionTransformerHasThePublishedTotals) {
  constexpr std::int64_t kTokens = 197, kWidth = 768, kInner = 3072;
  constexpr std::int64_t kBlock =
      kTokens * (4 * kWidth * kWidth + 2 * kWidth * kInner) + 2 * kTokens * kTokens * kWidth;
  const Network network = build("vit_b_16", ops::Fusion::fused);
  EXPECT_EQ(network.work.macs, 196 * kWidth * 3 * 16 * 16 + 12 * kBlock + kWidth * 1000);
  EXPECT_EQ(network.work.macs, 17563828224);
  EXPECT_EQ(network.parameters + kWidth + kTokens * kWidth, 86567656);
  EXPECT_EQ(build("vit_b_16", ops::Fusion::fused, 4).work.macs, 4 * 17563828224);
  const Layers layers(network);
  EXPECT_EQ(ops::problem_tokens(layers.at("tokens").problem), "1x197x768-a1s1x196");
  EXPECT_EQ(ops::problem_tokens(layers.at("encoder.11.context").problem), "h12q197d64");
  EXPECT_EQ(ops::problem_tokens(layers.at("class").problem), "1x197x768-a1s1");
  EXPECT_EQ(ops::problem_tokens(layers.at("head").problem), "m1n1000k768+tb+bias");
}

TEST(ShippedNetworks, NetsOfTheProfilersTutorialsHaveTheirSizes) {
  const Network mnist = build("mnist_cnn", ops::Fusion::fused, 64);
  EXPECT_EQ(mnist.parameters, (25 + 1) * 20 + (20 * 25 + 1) * 50 + 801 * 512 + 513 * 10);
  EXPECT_EQ(mnist.work.macs,
            64 * (24 * 24 * 20 * 25 + 8 * 8 * 50 * 20 * 25 + 800 * 512 + 512 * 10));
  const Network mlp = build("mlp", ops::Fusion::fused, 16);
  EXPECT_EQ(mlp.parameters, 11 * 128 + 129 * 64 + 65 * 32);
  EXPECT_EQ(mlp.work.macs, 16 * (10 * 128 + 128 * 64 + 64 * 32));
}

// The product of all pairs of a sample's vectors.
void expect_pairs(const Row& row, const Node& node) {
  const ParameterSet& set = node.problem.parameters;
  EXPECT_EQ(row.at("op"), "batched_gemm");
  for (const auto& [parameter, column] : {std::pair("batch", "batch"), std::pair("m", "M"),
                                          std::pair("n", "N"), std::pair("k", "K")}) {
    EXPECT_EQ(set.count(parameter), number(row, column)) << parameter;
  }
  EXPECT_TRUE(set.flag("two_inputs") && set.flag("trans_b"));
}

// The table has the lookups and products of MLPerf's DLRM in batches of 128 and 2048 samples.
TEST(ShippedNetworks, DlrmEqualsItsTable) {
  std::map<std::int64_t, std::int64_t> flops;  // key: samples
  for (const Row& row : read_table("dlrm")) {
    SCOPED_TRACE(row.at("samples") + " samples: " + row.at("layer"));
    const Network network = build("dlrm", ops::Fusion::separate, number(row, "samples"));
    const Node& node = Layers(network).at(row.at("layer"));
    if (row.at("op") == "gather") {
      EXPECT_EQ(node.problem.parameters.count("indices"), number(row, "count") * number(row, "M"));
      EXPECT_EQ(node.problem.parameters.count("dim"), number(row, "N"));
      continue;
    }
    row.at("op") == "gemm" ? expect_product(row, node) : expect_pairs(row, node);
    EXPECT_EQ(2 * node.problem.work.macs.value_or(0), number(row, "flops_total"));
    flops[number(row, "samples")] += number(row, "flops_total");
  }
  for (const auto& [samples, sum] : flops) {
    for (const ops::Fusion fusion : {ops::Fusion::separate, ops::Fusion::fused}) {
      EXPECT_EQ(2 * build("dlrm", fusion, samples).work.macs.value_or(0), sum);
    }
  }
}

// The rows of MLPerf's 26 tables, of which the network has 40,000 each at most.
TEST(ShippedNetworks, DlrmHasThePublishedTables) {
  constexpr std::int64_t kRows[] = {39884406, 39043,  17289,    7420,    20263,  3,        7120,
                                    1543,     63,     38532951, 2953546, 403346, 10,       2208,
                                    11938,    155,    4,        976,     14,     39979771, 25641295,
                                    39664984, 585935, 12972,    108,     36};
  constexpr std::int64_t kMaxRows = 40000, kColumns = 128, kPairs = 27 * 26 / 2;
  std::int64_t rows = 0;
  for (const std::int64_t table : kRows) rows += std::min(table, kMaxRows);
  const Network network = build("dlrm", ops::Fusion::separate);
  const Layers layers(network);
  EXPECT_EQ(layers.at("embedding").problem.parameters.count("rows"), rows);
  EXPECT_EQ(output_of(layers.at("features")).dims, (ops::Dims{1, kColumns + kPairs}));
  EXPECT_EQ(network.parameters, 2368897 + rows * kColumns);
}

// The sizes are those of Granite 3.0 1B-A400M, and each expert has equally many rows.
TEST(ShippedNetworks, MixtureOfExpertsHasThePublishedSizes) {
  constexpr std::int64_t kWidth = 1024, kExperts = 32, kExpert = 3 * kWidth * 512, kChosen = 8;
  for (const std::int64_t batch : {1, 128}) {
    const std::int64_t tokens = 4 * batch;
    const Network network = build("moe_block", ops::Fusion::fused, batch);
    EXPECT_EQ(network.parameters, kExperts * kExpert + kExperts * kWidth + kWidth);
    EXPECT_EQ(network.work.macs, tokens * (kWidth * kExperts + kChosen * kExpert));
    const Layers layers(network);
    for (const std::string name : {"gate", "up", "down"}) {
      EXPECT_EQ(layers.at(name).problem.parameters.numbers("groups"),
                ops::Dims(kExperts, tokens * kChosen / kExperts));
    }
    EXPECT_EQ(output_of(network.nodes.back()).dims, (ops::Dims{tokens, kWidth}));
  }
}

struct FromTorchvision {
  std::string network;
  std::int64_t macs, parameters;
};

std::ostream& operator<<(std::ostream& out, const FromTorchvision& expected) {
  return out << expected.network;
}

class TorchvisionNetworks : public ::testing::TestWithParam<FromTorchvision> {};

// Totals of torchvision's own models. The tables list the convolutions and products that
// torchvision 0.29 executes.
INSTANTIATE_TEST_SUITE_P(
    Shipped, TorchvisionNetworks,
    ::testing::Values(FromTorchvision{"densenet121", 2834161664, 7978856},
                      FromTorchvision{"efficientnet_b0", 385814752, 5288548},
                      FromTorchvision{"mobilenet_v3_small", 56510400, 2542856}),
    [](const ::testing::TestParamInfo<FromTorchvision>& test) { return test.param.network; });

TEST_P(TorchvisionNetworks, ConvolutionsAndProductsMatchTheTableInOrder) {
  const Network network = build(GetParam().network, ops::Fusion::separate);
  std::vector<const Node*> nodes;
  for (const Node& node : network.nodes) {
    if (node.problem.work.macs) nodes.push_back(&node);
  }
  const std::vector<Row> rows = read_table(GetParam().network);
  ASSERT_EQ(nodes.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(nodes[i]->name + " is " + rows[i].at("layer"));
    Row row = rows[i];
    for (const std::string side : {"pad_t", "pad_l", "pad_b", "pad_r"}) row[side] = row.at("pad");
    row["dil"] = "1";
    kChecks.at(row.at("op"))(row, *nodes[i]);
    EXPECT_EQ(nodes[i]->problem.work.macs, number(row, "macs"));
    EXPECT_EQ(count_learned_parameters(*nodes[i]), number(row, "params"));
  }
}

TEST_P(TorchvisionNetworks, TotalsAreThePublishedOnes) {
  for (const ops::Fusion fusion : {ops::Fusion::separate, ops::Fusion::fused}) {
    const Network network = build(GetParam().network, fusion);
    EXPECT_EQ(network.work.macs, GetParam().macs);
    EXPECT_EQ(network.parameters, GetParam().parameters);
  }
  EXPECT_EQ(build(GetParam().network, ops::Fusion::fused, 32).work.macs, 32 * GetParam().macs);
}

// Every layer of a block reads all features before it.
TEST(ShippedNetworks, DenseNetJoinsAllFeatures) {
  const Network network = build("densenet121", ops::Fusion::separate);
  const Layers layers(network);
  EXPECT_EQ(ops::problem_tokens(layers.at("denseblock1.1.concat").problem), "1x96x56x56-a1s64x32");
  EXPECT_EQ(ops::problem_tokens(layers.at("denseblock4.16.concat").problem),
            "1x1024x7x7-a1s992x32");
  EXPECT_EQ(layers.producer(layers.at("denseblock4.16.norm1"), 0), "denseblock4.15.concat");
}

TEST(ShippedNetworks, ResNet50FusedIsTheKnownChain) {
  const Network network = build("resnet50_v1_5", ops::Fusion::fused);
  EXPECT_EQ(network.nodes.size(), 53u + 1 + 1 + 1);  // convolutions, max pool, average pool, gemm
  const Layers layers(network);
  EXPECT_EQ(ops::problem_tokens(layers.at("conv1").problem), "c3h224w224k64r7s7u2p3+bias+relu");
  EXPECT_EQ(ops::problem_tokens(layers.at("layer1.0.conv3").problem), "c64h56w56k256r1s1+bias");
  EXPECT_EQ(ops::problem_tokens(layers.at("layer1.0.downsample").problem),
            "c64h56w56k256r1s1+bias+add+relu");
  EXPECT_EQ(ops::problem_tokens(layers.at("layer1.1.conv3").problem),
            "c64h56w56k256r1s1+bias+add+relu");
  EXPECT_EQ(ops::problem_tokens(layers.at("fc").problem), "m1n1000k2048+tb+bias");
}

}  // namespace
}  // namespace bench
