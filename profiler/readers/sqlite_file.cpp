// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/sqlite_file.hpp"

#include "base/env.hpp"
#include "base/file.hpp"
#include "base/function_table.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bench {

// Found when a file is opened, so that neither `bench` nor the programs that load
// libbench_profile.so need the library.
struct SqliteFunctions {
  BENCH_FUNCTIONS(SqliteFunctions, (close, sqlite3_close_v2), (column_blob, sqlite3_column_blob),
                  (column_bytes, sqlite3_column_bytes), (column_int64, sqlite3_column_int64),
                  (column_text, sqlite3_column_text), (column_type, sqlite3_column_type),
                  (db_config, sqlite3_db_config), (errmsg, sqlite3_errmsg),
                  (errstr, sqlite3_errstr), (exec, sqlite3_exec), (finalize, sqlite3_finalize),
                  (limit, sqlite3_limit), (open, sqlite3_open_v2), (prepare, sqlite3_prepare_v2),
                  (set_authorizer, sqlite3_set_authorizer), (step, sqlite3_step));
};

namespace {

Result<std::shared_ptr<const SqliteFunctions>> load_sqlite(const std::string& name) {
  constexpr std::array<std::string_view, 2> kFiles = {"libsqlite3.so.0", "libsqlite3.so"};
  const std::array<SearchStep, 1> search = {SearchStep{"", "the loader's path"}};
  const auto library = DynamicLibrary::open(kFiles, search);
  if (!library.ok()) {
    return Error{
        fmt::format("is an SQLite file, which needs libsqlite3: {}", library.error().reason), name,
        "install libsqlite3 (Debian: libsqlite3-0)"};
  }
  auto functions = std::make_shared<SqliteFunctions>();
  BENCH_RETURN_IF_ERROR(fill_functions(*library, *functions));
  return std::shared_ptr<const SqliteFunctions>(std::move(functions));
}

constexpr std::string_view kExportAgain =
    "the file is incomplete or malformed: export it again (`nsys export --type sqlite`), or copy "
    "it "
    "again";

struct SqliteLimit {
  int id;
  int value;
};
// A query of this program has one table, at most 64 columns and no expression.
constexpr std::array<SqliteLimit, 11> kLimits = {{{SQLITE_LIMIT_LENGTH, 1 << 24},
                                                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                                  {SQLITE_LIMIT_COLUMN, 256},
                                                  {SQLITE_LIMIT_EXPR_DEPTH, 16},
                                                  {SQLITE_LIMIT_COMPOUND_SELECT, 1},
                                                  {SQLITE_LIMIT_VDBE_OP, 4096},
                                                  {SQLITE_LIMIT_FUNCTION_ARG, 2},
                                                  {SQLITE_LIMIT_ATTACHED, 0},
                                                  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 16},
                                                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                  {SQLITE_LIMIT_WORKER_THREADS, 0}}};

struct SqliteSwitch {
  int id;
  int value;
};
constexpr std::array<SqliteSwitch, 7> kSqliteSwitches = {
    {{SQLITE_DBCONFIG_DEFENSIVE, 1},
     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
     {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
     {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
     {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}}};

// Allows only to read columns and to list them. `first` of a pragma is its name, and `inside` names
// the view or trigger that reads.
int authorise(void*, int action, const char* first, const char*, const char*, const char* inside) {
  if (action == SQLITE_SELECT) return SQLITE_OK;
  if (action == SQLITE_PRAGMA)
    return first != nullptr && std::string_view(first) == "table_xinfo" ? SQLITE_OK : SQLITE_DENY;
  return action == SQLITE_READ && inside == nullptr ? SQLITE_OK : SQLITE_DENY;
}

// A path as a URI: SQLite decodes %XX and ends the path at `?` and `#`.
std::string make_uri(const std::string& path) {
  std::string uri = "file:";
  if (path.starts_with("//")) uri += "//";  // else the first part would be a host
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted_identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

// A file that is removed when the object is destroyed.
class TemporaryFile {
 public:
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Copies the rest of the source.
  Status fill(TextSource& source) {
    const std::string folder = environment_variable("TMPDIR").value_or("/var/tmp");
    std::string path = folder + "/.bench-sqlite-XXXXXX";
    const Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (file.get() < 0) return failed("create a file in this folder", folder);
    path_ = std::move(path);
    while (true) {
      const std::string_view piece = source.next_piece();
      if (piece.empty()) return source.status();
      for (std::size_t done = 0; done < piece.size();) {
        const ::ssize_t count = ::write(file.get(), piece.data() + done, piece.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed("write a temporary file", folder);
        done += static_cast<std::size_t>(count);
      }
    }
  }
  const std::string& path() const { return path_; }

 private:
  static Error failed(std::string_view action, const std::string& folder) {
    return Error{fmt::format("cannot {}: {}", action, strerror(errno)), folder,
                 "set TMPDIR to a folder with more space: SQLite needs an unpacked file"};
  }
  std::string path_;
};

// The files in which SQLite keeps changes that are not yet, or not for good, in the database.
struct SideFile {
  std::string_view suffix;
  std::string_view problem;
};
constexpr std::array<SideFile, 2> kSideFiles = {
    {{"-wal", "contains newer data, which is not read: these results may be incomplete"},
     {"-journal", "shows that a change of the file did not end: these results may be wrong"}}};
// A log or journal begins with a header of this size, or longer. Its first byte is 0 if it counts
// no more.
constexpr std::int64_t kSideFileHeader = 32;

// The database is opened as one that never changes, so that nothing is written beside it; SQLite
// then ignores these files.
std::string describe_side_files(const std::string& path, const std::string& name) {
  for (const SideFile& row : kSideFiles) {
    const std::string beside = fmt::format("{}{}", path, row.suffix);
    const Descriptor file(::open(beside.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct ::stat facts {};
    const bool is_file =
        file.get() >= 0 && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode);
    char first = 0;
    const bool counts = is_file && facts.st_size > kSideFileHeader &&
                        ::pread(file.get(), &first, 1, 0) == 1 && first != 0;
    if (counts)
      return fmt::format(
          "{}: the file {}{} beside it {}; close the program that writes it, or run "
          "`sqlite3 {} 'PRAGMA wal_checkpoint(TRUNCATE)'`",
          name, name, row.suffix, row.problem, name);
  }
  return {};
}

std::uint32_t read_big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite->finalize(statement);
}

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite->close(database); }

Result<bool> SqliteRows::next() {
  const int code = sqlite_->step(statement_.get());
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) {
    return Error{fmt::format("cannot be read after row {}: {}", number_, sqlite_->errstr(code)),
                 where_, std::string(kExportAgain)};
  }
  // A malformed tree of pages may contain itself.
  if (++number_ > limit_) {
    return Error{"has more rows than the file has room for", where_, std::string(kExportAgain)};
  }
  return true;
}

std::optional<std::int64_t> SqliteRows::integer(std::size_t column) const {
  const int index = static_cast<int>(column);
  if (sqlite_->column_type(statement_.get(), index) != SQLITE_INTEGER) return std::nullopt;
  return sqlite_->column_int64(statement_.get(), index);
}

std::string_view SqliteRows::text(std::size_t column) const {
  const int index = static_cast<int>(column);
  if (sqlite_->column_type(statement_.get(), index) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite_->column_text(statement_.get(), index));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite_->column_bytes(statement_.get(), index))};
}

std::string_view SqliteRows::bytes(std::size_t column) const {
  const int index = static_cast<int>(column);
  if (sqlite_->column_type(statement_.get(), index) != SQLITE_BLOB) return {};
  const auto* bytes = static_cast<const char*>(sqlite_->column_blob(statement_.get(), index));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite_->column_bytes(statement_.get(), index))};
}

bool SqliteRows::is_null(std::size_t column) const {
  return sqlite_->column_type(statement_.get(), static_cast<int>(column)) == SQLITE_NULL;
}

Error SqliteFile::fault(int code) const {
  const bool is_malformed = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR;
  return Error{
      fmt::format("cannot be read as an SQLite database: {}", sqlite_->errmsg(database_.get())),
      name_, is_malformed ? std::string(kExportAgain) : std::string()};
}

Result<SqliteFile> SqliteFile::open(TextSource& source) {
  if (const auto path = source.file()) {
    BENCH_ASSIGN_OR_RETURN(SqliteFile file, open_path(*path, source.name()));
    file.unread_ = describe_side_files(*path, source.name());
    return file;
  }
  TemporaryFile copy;
  BENCH_RETURN_IF_ERROR(copy.fill(source));
  return open_path(copy.path(), source.name());
}

Result<SqliteFile> SqliteFile::open_path(const std::string& path, std::string name) {
  BENCH_ASSIGN_OR_RETURN(auto sqlite, load_sqlite(name));
  sqlite3* database = nullptr;
  constexpr int kFlags =
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int code = sqlite->open(make_uri(path).c_str(), &database, kFlags, nullptr);
  SqliteFile file(std::move(sqlite), database, std::move(name));
  if (code != SQLITE_OK) return file.fault(code);
  BENCH_RETURN_IF_ERROR(file.check_size(path));  // before SQLite reads anything
  BENCH_RETURN_IF_ERROR(file.restrict_reading());
  BENCH_RETURN_IF_ERROR(file.list_tables());
  return file;
}

Status SqliteFile::restrict_reading() {
  for (const SqliteLimit& limit : kLimits) sqlite_->limit(database_.get(), limit.id, limit.value);
  for (const SqliteSwitch& row : kSqliteSwitches) {
    const int code = sqlite_->db_config(database_.get(), row.id, row.value, nullptr);
    if (code != SQLITE_OK) return fault(code);
  }
  // Checks that the cells of a page are inside it. Both pragmas precede the authoriser, which
  // refuses them.
  for (const char* pragma : {"PRAGMA cell_size_check=1", "PRAGMA cache_size=-16384"}) {
    const int code = sqlite_->exec(database_.get(), pragma, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fault(code);
  }
  sqlite_->set_authorizer(database_.get(), authorise, nullptr);
  return Done{};
}

// The header states the number of pages, so that a file that lacks some is recognised at once.
Status SqliteFile::check_size(const std::string& path) {
  constexpr std::size_t kHeader = 100;
  std::array<char, kHeader> bytes{};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct ::stat facts {};
  const bool is_read = file.get() >= 0 && ::fstat(file.get(), &facts) == 0 &&
                       ::pread(file.get(), bytes.data(), kHeader, 0) == ::ssize_t{kHeader};
  if (!is_read) {
    return Error{"is shorter than the header of an SQLite database", name_,
                 std::string(kExportAgain)};
  }
  size_ = facts.st_size;
  const std::string_view header(bytes.data(), kHeader);
  const std::uint32_t size_field = read_big_endian(header.substr(16, 2));
  const std::int64_t page = size_field == 1 ? 65536 : size_field;
  const std::int64_t pages = read_big_endian(header.substr(28, 4));
  // Old versions of SQLite do not keep the number of pages, and the two counters then differ.
  const bool is_valid = header.substr(24, 4) == header.substr(92, 4);
  if (is_valid && size_ < page * pages) {
    return Error{fmt::format("is truncated: {} of {}", format_bytes(Bytes{size_}),
                             format_bytes(Bytes{page * pages})),
                 name_, std::string(kExportAgain)};
  }
  return Done{};
}

Result<sqlite3_stmt*> SqliteFile::prepare(const std::string& query) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite_->prepare(database_.get(), query.c_str(), static_cast<int>(query.size()),
                                    &statement, nullptr);
  if (code != SQLITE_OK) return fault(code);
  return statement;
}

Status SqliteFile::list_tables() {
  constexpr std::size_t kMaxTables = 4096;
  BENCH_ASSIGN_OR_RETURN(sqlite3_stmt* const statement,
                         prepare("SELECT \"name\", \"type\", \"rootpage\" FROM \"sqlite_master\""));
  SqliteRows rows(*sqlite_, statement, name_, size_);
  while (true) {
    BENCH_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) break;
    const bool is_table = rows.text(1) == "table";
    if (!is_table && rows.text(1) != "view") continue;
    if (tables_.size() >= kMaxTables) {
      return Error{fmt::format("has more than {} tables", kMaxTables), name_,
                   "name a file of nsys or nvprof"};
    }
    // A virtual table has no page.
    tables_[std::string(rows.text(0))].is_stored = is_table && rows.integer(2).value_or(0) > 0;
  }
  for (auto& [name, table] : tables_) {
    if (table.is_stored) BENCH_RETURN_IF_ERROR(list_columns(name, table));
  }
  return Done{};
}

// Lists the stored columns. A generated one would be computed by an expression of the file, so it
// counts as missing. So do the columns of a table that SQLite cannot list.
Status SqliteFile::list_columns(const std::string& name, Table& table) const {
  const auto prepared = prepare("PRAGMA table_xinfo(" + quoted_identifier(name) + ")");
  if (!prepared.ok()) return Done{};
  SqliteRows rows(*sqlite_, *prepared, name_, size_);
  constexpr std::size_t kName = 1, kHidden = 6;
  while (true) {
    BENCH_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return Done{};
    if (rows.integer(kHidden) == 0) table.columns.emplace(rows.text(kName));
  }
}

bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.columns.contains(column);
}

Result<SqliteRows> SqliteFile::rows(std::string_view table,
                                    std::span<const SqliteColumn> columns) const {
  const std::string where = fmt::format("{}: table {}", name_, table);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return Error{"is missing", where, ""};
  if (!found->second.is_stored) {
    return Error{"is a view or a virtual table, which is never read", where,
                 "name a file that nsys or nvprof wrote"};
  }
  std::string query = "SELECT ";
  for (const SqliteColumn& column : columns) {
    const bool is_known = found->second.columns.contains(column.name);
    if (!is_known && column.need == SqliteColumn::Need::required) {
      return Error{fmt::format("column {} is missing", quote(column.name)), where,
                   "export the report with another version of nsys, or record the program with "
                   "`bench profile -- PROGRAM`"};
    }
    if (query.size() > 7) query += ", ";
    query += is_known ? quoted_identifier(column.name) : "NULL";
  }
  query += fmt::format(" FROM {} NOT INDEXED", quoted_identifier(table));
  BENCH_ASSIGN_OR_RETURN(sqlite3_stmt* const statement, prepare(query));
  constexpr std::int64_t kMinRow = 4;  // bytes, with its place in the page
  return SqliteRows(*sqlite_, statement, where, size_ / kMinRow);
}

}  // namespace bench
