// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on its corpus, which includes inputs that once failed, and on mutated copies
// of it. The copies are the same in every build, and need no fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(BENCH_FUZZ_CORPUS)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void run_target(const std::string& input) {
  EXPECT_EQ(
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
}

// Erases or repeats a part of the input, replaces it by a part of `other`, or overwrites one byte.
std::string mutate(std::string input, const std::string& other, std::mt19937& random) {
  if (input.empty()) return other;
  const std::size_t begin = random() % input.size();
  const std::size_t length = 1 + random() % std::min<std::size_t>(16, input.size() - begin);
  switch (random() % 4) {
    case 0:
      return input.erase(begin, length);
    case 1:
      return input.insert(begin, input.substr(begin, length));
    case 2:
      if (other.empty()) return input;
      return input.replace(begin, length, other.substr(random() % other.size(), 16));
    default:
      input[begin] = static_cast<char>(random() % 256);
      return input;
  }
}

TEST(Replay, TheCorpus) {
  const std::vector<std::string> inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  for (const std::string& input : inputs) run_target(input);
}

TEST(Replay, MutatedCopiesOfTheCorpus) {
  constexpr int kCopies = 3000;
  const std::vector<std::string> inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  std::mt19937 random(1);
  for (int i = 0; i < kCopies; ++i) {
    std::string input = inputs[random() % inputs.size()];
    const std::uint64_t mutations = 1 + random() % 4;
    for (std::uint64_t k = 0; k < mutations; ++k) {
      input = mutate(std::move(input), inputs[random() % inputs.size()], random);
    }
    run_target(input);
  }
}

}  // namespace
