// SPDX-License-Identifier: Apache-2.0
// Each hint that shows YAML shows text that the reader of configurations accepts. The sources are
// searched for such hints, so that a new one without a row here fails.
#include "harness/config/load.hpp"
#include "harness/config/yaml.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// Contains one layer, so that its name is all that matters.
constexpr std::string_view kNetworkText =
    "version: 1\nnetwork: @\ninput: { c: 4, h: 4 }\nlayers:\n  - { name: a, op: pointwise, "
    "function: relu }\n";

Result<Plan, std::vector<Diagnostic>> load_with_network(const std::string& text,
                                                        const std::string& network = "tiny",
                                                        const std::string& name = "a.yaml") {
  LoadRequest request;
  request.arguments = {name};
  request.read = [&](const std::string& path) -> Result<std::string> {
    if (path == name) return text;
    std::string file(kNetworkText);
    file.replace(file.find('@'), 1, yaml::format_scalar(network));
    if (path == fmt::format("networks/{}.yaml", network)) return file;
    return Error{"no such file", path, ""};
  };
  return load_plan(request);
}

std::string errors_of(const std::string& text, const std::string& network = "tiny") {
  const auto plan = load_with_network(text, network);
  std::string lines;
  if (plan.ok()) return lines;
  for (const Diagnostic& mistake : plan.error()) lines += mistake.message() + "\n";
  return lines;
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  const std::size_t begin = text.find(mark);
  return begin == std::string::npos ? text : text.replace(begin, mark.size(), by);
}

// The texts between backticks that look like YAML with a value.
std::vector<std::string> yaml_in(std::string_view hint) {
  static const std::regex kYaml("(- )?[a-z_<{}0-9]+: .*|\\{ .*");
  std::vector<std::string> found;
  for (std::size_t begin = hint.find('`'); begin != std::string_view::npos;) {
    const std::size_t end = hint.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    std::string text(hint.substr(begin + 1, end - begin - 1));
    if (std::regex_match(text, kYaml)) found.push_back(std::move(text));
    begin = hint.find('`', end + 1);
  }
  return found;
}

// Returns the YAML in the string literals of a source. Joins neighbouring literals.
std::set<std::string> yaml_in_source(std::string text) {
  static const std::regex kComment("//[^\n]*"), kJoint("\"\\s*\n\\s*\"");
  static const std::regex kLiteral("\"((?:[^\"\\\\\n]|\\\\.)*)\"");
  text = std::regex_replace(text, kComment, "");
  text = std::regex_replace(text, kJoint, "");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), kLiteral), end; i != end; ++i) {
    for (std::string& fragment : yaml_in((*i)[1].str())) found.insert(std::move(fragment));
  }
  return found;
}

std::set<std::string> yaml_in_sources() {
  std::set<std::string> found;
  for (const char* folder : {"harness", "ops", "profiler"}) {
    const std::string root = std::string(BENCH_SOURCE_DIR) + "/" + folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".cpp" || name.ends_with("_test.cpp")) continue;
      std::ifstream stream(entry.path());
      found.merge(yaml_in_source({std::istreambuf_iterator<char>(stream), {}}));
    }
  }
  return found;
}

constexpr std::string_view kGemm = "version: 1\ncases:\n  - { op: gemm, m: 8, n: 8, k: 8, @ }\n";
constexpr std::string_view kConvCase =
    "version: 1\ncases:\n  - { op: conv, c: 4, h: 8, k: 4, r: 3, @ }\n";
constexpr std::string_view kPool =
    "version: 1\ncases:\n  - { op: pool, c: 4, h: 8, window: 2, @ }\n";
constexpr std::string_view kMaxPool =
    "version: 1\ncases:\n  - { op: pool, function: max, c: 4, h: 8, @ }\n";
constexpr std::string_view kClip =
    "version: 1\ncases:\n  - { op: pointwise, function: clip, shape: [8], @ }\n";
constexpr std::string_view kNorm = "version: 1\ncases:\n  - { op: layer_norm, shape: [4, 8], @ }\n";
constexpr std::string_view kTopK =
    "version: 1\ncases:\n  - { op: sort, function: topk, shape: [4, 64], @ }\n";
constexpr std::string_view kSlopes = "version: 1\ncases:\n  - { op: prelu, shape: [8], @ }\n";
constexpr std::string_view kTiny = "version: 1\ncases:\n  - { network: tiny, @ }\n";
constexpr std::string_view kAnchors =
    "version: 1\nx: &anchor { m: 8 }\ny: &one { n: 8 }\nz: &two { k: 8 }\n@\n";

// Hints without a value of the user, and a configuration that accepts them in place of `@`.
const std::map<std::string, std::string_view> kFixedHints = {
    {"- op: gemm", "version: 1\ncases:\n  @\n    m: 8\n    n: 8\n    k: 8\n"},
    {"op: conv", "version: 1\ncases: [{ @, c: 4, h: 8, k: 4, r: 3 }]\n"},
    {"- network: resnet18", "version: 1\ncases:\n  @\n"},
    {"tune: 1", kGemm},
    {"tune: true", kGemm},
    {"measure: [layers]", "version: 1\ncases: [{ network: tiny, @ }]\n"},
    {"network: resnet50_v1_5", "version: 1\ncases: [{ @ }]\n"},
    {"cases: [{ op: gemm, m: 64, n: 64, k: 64 }]", "version: 1\n@\n"},
    {"version: 1", "@\ncases: [{ op: gemm, m: 8, n: 8, k: 8 }]\n"},
    {"alpha: -1", kClip},
    {"backend: native", kNorm},
    {"beta: 1", kClip},
    {"bias: false", kGemm},
    {"bias: true", kGemm},
    {"causal: true",
     "version: 1\ncases: [{ op: attention, heads: 2, q_len: 8, head_dim: 4, window: 3, @ }]\n"},
    {"device: cpu", kGemm},
    {"device: cuda", kGemm},
    {"direction: backward_weights", kNorm},
    {"fuse: false", kTiny},
    {"function: avg_include_pad", kPool},
    {"function: max", kPool},
    {"global: true", kMaxPool},
    {"k: 10", kTopK},
    {"layout: any", kConvCase},
    {"layout: nhwc", kConvCase},
    {"math: default", kGemm},
    {"math: fast_accumulation",
     "version: 1\ncases:\n  - { op: gemm, m: 16, n: 16, k: 16, dtype: f8_e4m3, device: cuda, @ "
     "}\n"},
    {"math: tf32", kGemm},
    {"measure: [layers, network]", kTiny},
    {"post_ops: [relu]", kGemm},
    {"scale: false", kNorm},
    {"slopes: all", kSlopes},
    {"slopes: one", kSlopes},
    {"trans_a: false", kGemm},
    {"trans_b: true", kGemm},
    {"threads: 1", kGemm},
    {"transposed: true", kConvCase},
};

// Hints without a key of a configuration: only their syntax counts. The reason is their place.
const std::set<std::string> kSyntaxOnly = {
    "key: value",   // the form of a mapping
    "<<: *anchor",  // the user's own anchors
    "<<: [*one, *other]",
    // What `bench doctor` finds, not hints on configurations.
    "threads: all",
    "addresses: drawn",
    // A log of tritonbench, defaults in a network's file, and what a machine's processors permit.
    "cnt: N, (...)",
    "function: sgd",
    "function: softmax_cross_entropy",
    "streams: {}",
};

// A mistake, and the hint in which its sources have a placeholder. The YAML of the hint is correct
// in place of `bad`.
struct Mistake {
  std::string_view fragment;  // as in the source
  std::string_view text;      // with `@` in place of `bad`
  std::string bad;
  std::string network = "tiny";
};

std::vector<Mistake> list_mistakes() {
  constexpr std::string_view kGemmSweep =
      "version: 1\ncases:\n  - { op: gemm, n: 8, k: 8, sweep: { @ } }\n";
  constexpr std::string_view kWholeGemm =
      "version: 1\ncases:\n  - { op: gemm, m: 8, n: 8, k: 8, @ }\n";
  constexpr std::string_view kSoftmax =
      "version: 1\ncases:\n  - { op: softmax, shape: [8, 8], axis: 1, @ }\n";
  constexpr std::string_view kTinyNetwork = "version: 1\ncases:\n  - { network: tiny, @ }\n";
  constexpr std::string_view kVarying = "{}: {{ {}: {} }}", kList = "{}: {}";
  constexpr std::string_view kSweep = "sweep: {{ {}: {} }}";
  return {
      {kSweep, "version: 1\ncases:\n  - { op: gemm, n: 8, k: 8, @ }\n", "m: [1, 8]"},
      {kSweep, "version: 1\ncases:\n  - { op: softmax, axis: 1, @ }\n", "shape: [[8, 8], [16, 8]]"},
      {kList, kGemmSweep, "m: 1..128"},
      {kList, kGemmSweep, "m: 64"},
      {kList, "version: 1\ncases:\n  - { op: gemm, m: 8, n: 8, k: 8, sweep: { @ } }\n",
       "dtype: bf16"},
      {kVarying, kWholeGemm, "sweep: 1..8"},
      {kVarying, kWholeGemm, "sweep: [1, 8]"},
      {kVarying, kWholeGemm, "sweep: [f32, bf16]"},
      {kVarying, kWholeGemm, "sweep: [{ batch: 1 }, { batch: 8 }]"},
      {kVarying, kWholeGemm, "zip: "},
      {kVarying, kWholeGemm, "sweep: nonsense"},
      {kVarying, kSoftmax, "sweep: [1, 8]"},
      {kVarying, kSoftmax, "sweep: {}"},
      {kVarying, kTinyNetwork, "sweep: [1, 8]"},
      {kVarying, kTinyNetwork, "sweep: {}"},
      {"{0}: {{ {1}: {2} }}", kWholeGemm, "processes: 3"},
      {"{0}: {{ {1}: {2} }}", kWholeGemm, "iterations: 3"},
      {"device: {}", kWholeGemm, "backend: cublas"},
      {"backend: {}", kWholeGemm, "backend: cublas"},
  };
}

TEST(YamlHints, EachOfTheSourcesHasARowHere) {
  std::set<std::string> known(kSyntaxOnly.begin(), kSyntaxOnly.end());
  for (const auto& [hint, text] : kFixedHints) known.insert(hint);
  for (const Mistake& mistake : list_mistakes()) known.insert(std::string(mistake.fragment));
  // Tested below.
  known.insert({"cases: [{{ network: {} }}]", "network: {}"});
  const std::set<std::string> found = yaml_in_sources();
  EXPECT_GT(found.size(), 40u);
  for (const std::string& fragment : found) {
    // foreign_words_test.cpp loads cases in braces.
    if (fragment.starts_with("{ op: ")) continue;
    EXPECT_TRUE(known.contains(fragment))
        << "a hint shows `" << fragment << "`: add a row, so that a test reads it";
  }
}

TEST(YamlHints, AreAcceptedByTheReader) {
  for (const auto& [hint, text] : kFixedHints) {
    const std::string config = replaced(std::string(text), "@", hint);
    const std::string network = hint.find("resnet18") != std::string::npos   ? "resnet18"
                                : hint.find("resnet50") != std::string::npos ? "resnet50_v1_5"
                                                                             : "tiny";
    EXPECT_EQ(errors_of(config, network), "") << config;
  }
  for (const std::string& hint : kSyntaxOnly) {
    const auto parsed =
        yaml::parse(replaced(std::string(kAnchors), "@", replaced(hint, "*other", "*two")));
    ASSERT_TRUE(parsed.ok()) << hint << ": " << parsed.error().what;
    EXPECT_TRUE(parsed->problems().empty()) << hint;
  }
}

// The hints used to be `sweep: { n: [1, 8] }` for a softmax, which has no `n`, `m: [...]` and
// `measure: { processes: ... }`.
TEST(YamlHints, CorrectTheMistake) {
  for (const Mistake& mistake : list_mistakes()) {
    const auto plan = load_with_network(replaced(std::string(mistake.text), "@", mistake.bad));
    ASSERT_FALSE(plan.ok()) << mistake.bad;
    std::vector<std::string> shown;
    for (const Diagnostic& problem : plan.error()) {
      for (std::string& text : yaml_in(problem.next)) shown.push_back(std::move(text));
    }
    EXPECT_FALSE(shown.empty()) << mistake.text << "\n" << plan.error().front().message();
    for (const std::string& hint : shown) {
      // A hint on the device or backend adds to what is there or replaces it.
      const std::string fixed = hint.starts_with("device: ") ? mistake.bad + ", " + hint : hint;
      const std::string config = replaced(std::string(mistake.text), "@", fixed);
      EXPECT_EQ(errors_of(config), "") << mistake.bad << " -> " << config;
    }
  }
}

// The hints must not promise YAML that is not valid either.
TEST(YamlHints, AreLeftOutIfNoYamlWouldBeRight) {
  for (const char* bad :
       {"m: [[x], [y]]", "m: 1e3", "m: []", "m: a b", "m: 'a: b'", "m: ]", "m: {}"}) {
    const std::string text =
        fmt::format("version: 1\ncases:\n  - {{ op: gemm, n: 8, k: 8, sweep: {{ {} }} }}\n", bad);
    const auto plan = load_with_network(text);
    ASSERT_FALSE(plan.ok()) << bad;
    for (const Diagnostic& problem : plan.error())
      EXPECT_THAT(yaml_in(problem.next), testing::IsEmpty()) << bad << ": " << problem.next;
  }
}

// A name with a colon, a comma or a bracket was inserted as it was.
TEST(YamlHints, QuoteTheNamesOfNetworks) {
  for (const std::string name : {"tiny", "a: b", "a, b", "[x]", "# x", "it's \"x\"", "-"}) {
    const std::string network = replaced(std::string(kNetworkText), "@", yaml::format_scalar(name));
    // A file NAME.yaml would be read as a network.
    const auto plan = load_with_network(network, "tiny", "a.json");
    ASSERT_FALSE(plan.ok());
    const std::vector<std::string> shown = yaml_in(plan.error().front().next);
    ASSERT_EQ(shown.size(), 1u) << plan.error().front().message();
    const auto parsed = yaml::parse(shown.front());
    ASSERT_TRUE(parsed.ok()) << shown.front();
    const yaml::Entry* cases = parsed->root().find("cases");
    ASSERT_TRUE(cases) << shown.front();
    const yaml::Entry* named = cases->value->items.at(0)->find("network");
    ASSERT_TRUE(named) << shown.front();
    EXPECT_EQ(named->value->text, name);
  }
}

}  // namespace
}  // namespace bench
