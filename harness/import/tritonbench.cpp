// SPDX-License-Identifier: Apache-2.0
// Reads files of tritonbench: its operator logs (tritonbench/data/input_configs), and the tables of
// shapes of its operator gemm.
//   Operator: aten.addmm.default
//   cnt: 49, ((T([768], f16), T([8192, 768], f16), T([768, 768], f16, stride=(1, 768))), {})
#include "base/characters.hpp"
#include "base/python_value.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/import/aten_function.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/suite_text.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kOperatorLine = "Operator: aten.";
constexpr std::string_view kCountLine = "cnt: ";
// The default type of tritonbench's products.
constexpr DataType kTableType = DataType::f16;

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// "mm" of "mm.default", "relu" of "relu_.default".
std::string_view function_name(std::string_view written) {
  std::string_view name = written.substr(0, written.find('.'));
  if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// Returns the arguments of "49, ((A, B), {'key': C})": those by position, then those by keyword.
std::optional<std::vector<PythonValue>> read_call(std::string_view text) {
  cut_field(text, ',');  // how often the models call it
  auto call = parse_python_value(trim(text));
  const bool is_call = call && call->kind == PythonValue::Kind::list && !call->items.empty() &&
                       call->items[0].kind == PythonValue::Kind::list;
  if (!is_call) return std::nullopt;
  std::vector<PythonValue> arguments = std::move(call->items[0].items);
  for (std::size_t i = 1; i < call->items.size(); ++i) {
    for (PythonValue& item : call->items[i].items) arguments.push_back(std::move(item));
  }
  return arguments;
}

// The columns of a table of products.
struct TableColumns {
  std::size_t m, n, k;
  std::optional<std::size_t> bias;
};

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  do {
    cells.push_back(trim(cut_field(line, ',')));
  } while (!line.empty());
  return cells;
}

std::optional<TableColumns> find_columns(std::string_view header) {
  const std::vector<std::string_view> cells = split_cells(header);
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto cell = std::ranges::find(cells, name);
    if (cell == cells.end()) return std::nullopt;
    return static_cast<std::size_t>(cell - cells.begin());
  };
  const auto m = find("M");
  const auto n = find("N");
  const auto k = find("K");
  if (!m || !n || !k) return std::nullopt;
  return TableColumns{*m, *n, *k, find("Bias")};
}

class TritonbenchReader {
 public:
  Result<Imported> read(std::span<const ImportFile> files) {
    for (const ImportFile& file : files) {
      const std::size_t index = imported_.files.size();
      imported_.files.push_back(file.path);
      std::string_view rest = file.text;
      const auto columns = find_columns(rest.substr(0, rest.find('\n')));
      function_ = {};
      for (int line = 1; !rest.empty(); ++line) {
        const std::string_view text = trim(cut_field(rest, '\n'));
        const ImportPlace place{index, line};
        if (columns && line == 1) continue;
        BENCH_RETURN_IF_ERROR(columns ? read_row(place, text, *columns) : read_line(place, text));
      }
    }
    return std::move(imported_);
  }

 private:
  Status read_line(ImportPlace place, std::string_view line) {
    if (line.starts_with(kOperatorLine)) {
      function_ = line.substr(kOperatorLine.size());
    } else if (line.starts_with(kCountLine) && !function_.empty()) {
      return read_function(place, line.substr(kCountLine.size()));
    } else if (!line.empty()) {
      return refuse(place, line, "the line is neither `Operator: aten.NAME` nor `cnt: N, (...)`");
    }
    return Done{};
  }

  Status read_function(ImportPlace place, std::string_view call) {
    const std::string_view name = function_name(function_);
    const std::string text = fmt::format("{} {}", function_, call);
    if (is_aten_view(name)) return refuse(place, text, "it only gives a tensor another shape");
    const auto arguments = read_call(call);
    if (!arguments) return refuse(place, text, "the arguments are not understood");
    auto requests = request_aten_call(name, *arguments);
    if (!requests.ok()) return refuse(place, text, requests.error().what);
    std::vector<ImportedCase> cases;
    for (ops::ProblemRequest& request : *requests) {
      const auto problem = ops::make_problem(std::move(request));
      if (!problem.ok()) return refuse(place, text, problem.error().message());
      cases.push_back({problem->op, suite_fields(*problem), place, text});
    }
    std::ranges::move(cases, std::back_inserter(imported_.cases));
    return check_count(place);
  }

  Status read_row(ImportPlace place, std::string_view line, const TableColumns& columns) {
    if (line.empty()) return Done{};
    const std::vector<std::string_view> cells = split_cells(line);
    const auto cell = [&](std::size_t index) {
      return index < cells.size() ? cells[index] : std::string_view();
    };
    const auto m = parse_number<std::int64_t>(cell(columns.m));
    const auto n = parse_number<std::int64_t>(cell(columns.n));
    const auto k = parse_number<std::int64_t>(cell(columns.k));
    if (!m || !n || !k) return refuse(place, line, "M, N or K is not a number");
    const ops::Operator* op = ops::find_operator("gemm");
    ops::ParameterSet set(op->parameters);
    set.set("m", *m);
    set.set("n", *n);
    set.set("k", *k);
    set.set("bias", columns.bias && !cell(*columns.bias).empty());
    const auto problem =
        ops::make_problem({.op = op, .dtype = kTableType, .parameters = std::move(set)});
    if (!problem.ok()) return refuse(place, line, problem.error().message());
    imported_.cases.push_back({op, suite_fields(*problem), place, std::string(line)});
    return check_count(place);
  }

  Status refuse(ImportPlace place, std::string_view text, std::string reason) {
    imported_.refused.push_back({place, std::string(text), std::move(reason)});
    return check_count(place);
  }

  Status check_count(ImportPlace place) {
    if (imported_.cases.size() + imported_.refused.size() <= kMaxImportedProblems) return Done{};
    return Error{fmt::format("there are more than {} calls up to here", kMaxImportedProblems),
                 imported_.place_text(place), "import fewer files"};
  }

  Imported imported_;
  std::string_view function_;  // function of the lines that follow: "mm.default"
};

}  // namespace

bool is_tritonbench_file(std::string_view, std::string_view text) {
  return text.starts_with(kOperatorLine) ||
         find_columns(text.substr(0, text.find('\n'))).has_value();
}

Result<Imported> read_tritonbench(const ImportRequest& request) {
  if (!request.driver.empty())
    return Error{"only benchdnn has drivers", "--driver", "leave the option out"};
  return TritonbenchReader().read(request.files);
}

}  // namespace bench
