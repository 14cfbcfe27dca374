// SPDX-License-Identifier: Apache-2.0
// A history in a database: the records of many runs and machines, as lines of bench.baseline/1.
// Writers take turns, and each save is one transaction. No message contains the password.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/database_url.hpp"
#include "harness/store/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The stored runs of a case on a machine class.
struct StoredSeries {
  std::int64_t number = 0;  // in its database
  std::string machine_class, id;
  std::int64_t runs = 0;
  std::string first_time, last_time;  // start of the first and of the last stored run, UTC
  Nanoseconds last_median{0};         // median time of an iteration of the last run, as measured
};

// What a save does with a run that the database has already.
enum class KnownRun {
  keep,    // nothing: a result file contains it again
  update,  // replaces it, if the record differs: the store from which it comes has changed
};

struct SavedRecords {
  std::size_t added = 0;
  std::size_t known = 0;  // also those that were updated
};

class Database {
 public:
  enum class Missing { fail, create };  // what to do if there is no history at the address

  // Opens the history, and migrates it to the present version of the schema. Returns an error for
  // a newer version, for a file that is not a database, and without permission or server.
  static Result<Database> open(const DatabaseUrl& url, Missing missing);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  // Returns all series by machine class and id.
  Result<std::vector<StoredSeries>> list();
  // Returns the runs of a series, as BaselineStore::read() does.
  Result<BaselineHistory> read(const StoredSeries& series);
  // Stores the records in their order, all or none. With KnownRun::keep, records belong to the
  // current epoch of their series; otherwise they state their epoch.
  Result<SavedRecords> save(std::span<const BaselineRecord> records, KnownRun known);

 private:
  class Connection;
  explicit Database(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace bench
