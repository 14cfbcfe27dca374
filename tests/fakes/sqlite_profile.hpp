// SPDX-License-Identifier: Apache-2.0
// SQLite databases for tests, written as SQL, and what a reader makes of them.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/text_source.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::test {

// Returns the bytes of a database that these statements create.
inline std::string sqlite_database(const std::string& statements) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message;
  sqlite3_free(message);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return text;
}

struct SqliteProfile final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<std::string> names(ActivityKind kind) const {
    std::vector<std::string> found;
    for (const Activity& activity : activities)
      if (activity.kind == kind) found.push_back(activity.name);
    return found;
  }
  // The first activity of this kind and name.
  const Activity& at(ActivityKind kind, std::string_view name) const {
    const auto found = std::ranges::find_if(activities, [&](const Activity& activity) {
      return activity.kind == kind && activity.name == name;
    });
    static const Activity kNone;
    EXPECT_NE(found, activities.end()) << name;
    return found == activities.end() ? kNone : *found;
  }

  std::vector<Activity> activities;
  ReadReport report;
  std::string error;  // the reader's error; empty if it read the file
};

inline SqliteProfile read_sqlite_bytes(std::string bytes) {
  SqliteProfile profile;
  const auto source = text_source_for_test("p.sqlite", std::move(bytes));
  auto report = read_activities(*source, profile);
  if (report.ok()) {
    profile.report = *std::move(report);
  } else {
    profile.error = report.error().message();
  }
  return profile;
}

inline SqliteProfile read_sqlite(const std::string& statements) {
  return read_sqlite_bytes(sqlite_database(statements));
}

// The tables of nsys with the columns that the reader needs, and text 1 "name".
inline constexpr const char* kNsysSchema =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, "
    "text TEXT);"
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'void add<float>(float*)'), "
    "(3, 'nvjet_hsh_64x8');";

// The number of a process or thread in nsys.
inline std::string nsys_number(std::int64_t pid, std::int64_t tid = 0) {
  return std::to_string((std::int64_t{1} << 48) + pid * (1 << 24) + tid);
}

}  // namespace bench::test
