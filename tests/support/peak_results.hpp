// SPDX-License-Identifier: Apache-2.0
// Fixture of the tests of `bench peak`: a folder in which ceilings are stored and cases are run.
#pragma once

#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace bench::test {

class PeakResultsTest : public testing::Test {
 protected:
  // Returns the path of the only file of ceilings in the folder; empty if there is none.
  std::string peak_file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.path().filename() == "peak.jsonl") return entry.path().string();
    }
    return {};
  }
  // Returns the record of the first case in a result file of the folder, which must have one.
  nlohmann::json case_record(const std::string& result) const {
    return records_of_kind(read_text(folder_.file(result)), "case").at(0);
  }
  const TemporaryFolder folder_;
};

}  // namespace bench::test
