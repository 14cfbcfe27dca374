// SPDX-License-Identifier: Apache-2.0
// Reads tables of an SQLite database that may be hostile. Nothing in the file is executed: only
// columns of stored tables are read, in the order in which their rows are stored. Views, virtual
// tables, triggers and functions are refused.
#pragma once

#include "base/result.hpp"
#include "profiler/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace bench {

struct SqliteFunctions;  // of libsqlite3

// Every database begins with this text and a zero byte.
inline constexpr std::string_view kSqliteMagic{"SQLite format 3", 16};

struct SqliteColumn {
  std::string_view name;
  // The values of an optional column that the table lacks are all absent.
  enum class Need { required, optional } need = Need::required;
};

// The rows of a table. Refers to the file, which must outlive it.
class SqliteRows {
 public:
  // Goes to the next row. Returns false at the end, and an error if the file is malformed there.
  Result<bool> next();
  std::int64_t number() const { return number_; }  // number of the row, from 1 on

  // The values of the row, by the index of the requested column. Texts are valid until next().
  // Return nothing if the column is missing, or if the value is NULL or of another type.
  std::optional<std::int64_t> integer(std::size_t column) const;
  std::string_view text(std::size_t column) const;
  std::string_view bytes(std::size_t column) const;
  bool is_null(std::size_t column) const;

 private:
  friend class SqliteFile;
  struct Finalize {
    const SqliteFunctions* sqlite;
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteRows(const SqliteFunctions& sqlite, sqlite3_stmt* statement, std::string where,
             std::int64_t limit)
      : sqlite_(&sqlite),
        statement_(statement, Finalize{&sqlite}),
        where_(std::move(where)),
        limit_(limit) {}

  const SqliteFunctions* sqlite_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string where_;  // "FILE: table NAME"
  std::int64_t limit_ = 0;
  std::int64_t number_ = 0;
};

class SqliteFile {
 public:
  // Opens the database that the source contains, with the system's libsqlite3. What has no file of
  // its own (a pipe, a packed file) is first copied to a temporary file, which is removed at the
  // end.
  static Result<SqliteFile> open(TextSource& source);

  SqliteFile(SqliteFile&&) noexcept = default;
  SqliteFile& operator=(SqliteFile&&) noexcept = default;

  const std::string& name() const { return name_; }
  // A sentence on data that is in another file beside this one and is therefore not read; empty if
  // there is none.
  const std::string& unread() const { return unread_; }
  // Whether there is something of this name, also a view.
  bool contains(std::string_view table) const { return tables_.contains(table); }
  bool has_column(std::string_view table, std::string_view column) const;
  // Returns an error that names the table and the column if one is missing or if the table is not a
  // stored one. `table` and the names of columns are texts of this program, not of the file.
  Result<SqliteRows> rows(std::string_view table, std::span<const SqliteColumn> columns) const;

 private:
  struct Close {
    const SqliteFunctions* sqlite;
    void operator()(sqlite3* database) const;
  };
  struct Table {
    bool is_stored = false;  // not a view or virtual table
    std::set<std::string, std::less<>> columns;
  };
  SqliteFile(std::shared_ptr<const SqliteFunctions> sqlite, sqlite3* database, std::string name)
      : sqlite_(std::move(sqlite)),
        database_(database, Close{sqlite_.get()}),
        name_(std::move(name)) {}
  static Result<SqliteFile> open_path(const std::string& path, std::string name);
  Status restrict_reading();
  Status check_size(const std::string& path);
  Status list_tables();
  Status list_columns(const std::string& name, Table& table) const;
  Result<sqlite3_stmt*> prepare(const std::string& query) const;
  Error fault(int code) const;

  std::shared_ptr<const SqliteFunctions> sqlite_;
  std::unique_ptr<sqlite3, Close> database_;
  std::string name_;
  std::string unread_;
  std::int64_t size_ = 0;
  std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace bench
