// SPDX-License-Identifier: Apache-2.0
#include "harness/store/database_schema.hpp"

#include <array>
#include <cassert>

namespace bench {
namespace {

// Stands for the type of a column that numbers its rows in the order in which they are stored.
constexpr std::string_view kIdentity = "{identity}";

using Statements = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> kTables = {
    "create table bench_schema (version bigint not null)",
    "insert into bench_schema (version) values (0)",
    "create table bench_series (series {identity}, machine_class text not null, id text not null, "
    "epoch bigint not null, unique (machine_class, id))",
    "create table bench_record (number {identity}, series bigint not null, run_id text not null, "
    "epoch bigint not null, time text not null, median_ns double precision not null, "
    "line text not null, unique (series, run_id))"};

// The list of all series must not read all records.
constexpr std::array<std::string_view, 4> kCounts = {
    "alter table bench_series add column runs bigint not null default 0",
    "alter table bench_series add column first_number bigint",
    "alter table bench_series add column last_number bigint",
    "update bench_series set runs = counted.runs, first_number = counted.first_number, "
    "last_number = counted.last_number from (select series, count(*) as runs, min(number) as "
    "first_number, max(number) as last_number from bench_record group by series) as counted "
    "where bench_series.series = counted.series"};

constexpr std::array kMigrations = {Statements(kTables), Statements(kCounts)};

}  // namespace

std::int64_t database_version() { return static_cast<std::int64_t>(kMigrations.size()); }

std::vector<std::string> migration(std::int64_t version, DatabaseKind kind) {
  assert(version >= 1 && version <= database_version());
  const std::string_view identity =
      kind == DatabaseKind::sqlite ? "integer primary key" : "bigserial primary key";
  std::vector<std::string> statements;
  for (const std::string_view text : kMigrations[static_cast<std::size_t>(version - 1)]) {
    std::string& statement = statements.emplace_back(text);
    if (const std::size_t at = statement.find(kIdentity); at != std::string::npos)
      statement.replace(at, kIdentity.size(), identity);
  }
  return statements;
}

}  // namespace bench
