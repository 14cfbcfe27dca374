// SPDX-License-Identifier: Apache-2.0
// The layers of PyProf's example (configs/pyprof_resnet50.yaml) beside the table of the talk that
// introduced PyProf.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace bench::test::pyprof_example_test {
namespace {

using nlohmann::json;

struct Numbers {
  std::int64_t flops = 0, bytes = 0;
  friend bool operator==(const Numbers&, const Numbers&) = default;
};
std::ostream& operator<<(std::ostream& out, const Numbers& numbers) {
  return out << numbers.flops << " FLOP " << numbers.bytes << " B";
}

// FLOPs and bytes of PyProf's table by row.
std::map<int, Numbers> table_of_pyprof() {
  std::istringstream lines(
      read_text(BENCH_SOURCE_DIR "/profiler/readers/testdata/pyprof_resnet50.txt"));
  std::map<int, Numbers> rows;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    constexpr std::size_t kFlops = 7, kBytes = 8;
    if (fields.size() <= kBytes || fields[1] == "Layer") continue;
    rows[std::stoi(fields[0])] = {std::stoll(fields[kFlops]), std::stoll(fields[kBytes])};
  }
  return rows;
}

std::map<std::string, Numbers> work_of_configuration() {
  const ProgramResult result = run_program(
      {{BENCH_BINARY, "list", "configs/pyprof_resnet50.yaml", "--json"}, BENCH_SOURCE_DIR, {}});
  EXPECT_EQ(result.status, 0) << result.err;
  std::map<std::string, Numbers> work;
  const json document = json::parse(result.out);
  for (const json& entry : document.at("cases")) {
    work[entry.at("id")] = {entry.at("work").at("flops"), entry.at("work").at("bytes")};
  }
  return work;
}

std::string id_of(const std::string& op, const std::string& tokens) {
  return fmt::format("{}/forward/{}/f16/onednn/cpu/hot", op, tokens);
}

TEST(PyprofExample, CasesHaveTheNumbersOfItsTable) {
  const std::map<int, Numbers> table = table_of_pyprof();
  const std::map<std::string, Numbers> work = work_of_configuration();
  const std::map<int, std::string> same = {{3, id_of("conv", "n32c3h224w224k64r7s7u2p3")},
                                           {7, id_of("pointwise", "relu-32x64x112x112")},
                                           {10, id_of("conv", "n32c64h56w56k64r1s1")},
                                           {14, id_of("pointwise", "relu-32x64x56x56")},
                                           {22, id_of("pointwise", "relu-32x64x56x56")},
                                           {24, id_of("conv", "n32c64h56w56k256r1s1")},
                                           {29, id_of("conv", "n32c64h56w56k256r1s1")},
                                           {34, id_of("pointwise", "relu-32x256x56x56")}};
  for (const auto& [row, id] : same) {
    ASSERT_TRUE(work.contains(id)) << id;
    EXPECT_EQ(work.at(id), table.at(row)) << "row " << row;
  }
  EXPECT_EQ(work.size(), 12u);
}

// docs/work_model.md and the comments of the configuration say why.
TEST(PyprofExample, DiffersWhereTheConventionsDo) {
  const std::map<int, Numbers> table = table_of_pyprof();
  const std::map<std::string, Numbers> work = work_of_configuration();
  const std::string product = id_of("conv", "n32c64h56w56k64r3s3p1");
  EXPECT_EQ(table.at(17), (Numbers{0, 0}));
  EXPECT_EQ(work.at(product), (Numbers{7'398'752'256, 25'763'840}));
  const std::string sum = id_of("pointwise", "add-32x256x56x56-32x256x56x56");
  EXPECT_EQ(table.at(33), (Numbers{38'535'168, 154'140'672}));
  EXPECT_EQ(work.at(sum), (Numbers{25'690'112, 154'140'672}));
  EXPECT_EQ(table.at(8), (Numbers{0, 0}));
  EXPECT_EQ(work.at(id_of("pool", "max-n32c64h112w112r3u2p1")), (Numbers{51'380'224, 64'225'280}));
  // PyProf gives the FLOPs of a batch norm to each of its two kernels, and four passes to the
  // first.
  for (const auto& [row, tokens, channels] : {std::tuple(5, "training-n32c64h112w112", 64),
                                              {12, "training-n32c64h56w56", 64},
                                              {26, "training-n32c256h56w56", 256}}) {
    const Numbers got = work.at(id_of("batch_norm", tokens));
    EXPECT_EQ(got.flops, table.at(row).flops) << "row " << row;
    EXPECT_EQ(got.flops, table.at(row + 1).flops) << "row " << row + 1;
    EXPECT_EQ(got.bytes, table.at(row).bytes / 2 + 4 * channels * 4) << "row " << row;
  }
}

}  // namespace
}  // namespace bench::test::pyprof_example_test
