// SPDX-License-Identifier: Apache-2.0
// Compiled in place of database.cpp if the build found no SOCI.
#include "harness/store/database.hpp"

#include <utility>

namespace bench {

class Database::Connection {};

namespace {

Error no_soci(const std::string& where) {
  return {"this program was built without SOCI, which reads databases", where,
          "install it (Debian: sudo apt-get install libsoci-dev) and build bench again; the store "
          "in git needs no library: bench history --baseline DIR"};
}

}  // namespace

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&& other) noexcept = default;
Database& Database::operator=(Database&& other) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const DatabaseUrl& url, Missing) { return no_soci(url.shown()); }
Result<std::vector<StoredSeries>> Database::list() { return no_soci(""); }
Result<BaselineHistory> Database::read(const StoredSeries&) { return no_soci(""); }
Result<SavedRecords> Database::save(std::span<const BaselineRecord>, KnownRun) {
  return no_soci("");
}

}  // namespace bench
