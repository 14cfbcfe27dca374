// SPDX-License-Identifier: Apache-2.0
#include "harness/report/document.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace bench {
namespace {

struct Sale {
  std::string name;
  std::optional<double> price;
};

constexpr auto kSaleFields = std::to_array<TableField<Sale>>({
    {in_all, "what", ColumnKind::text, [](const Sale& s) { return make_text_cell(s.name); }},
    {in_csv,
     "price",
     ColumnKind::number,
     [](const Sale& s) {
       return TableCell{"", to_cell(s.price)};
     },
     {},
     0,
     "price_eur"},
    {in_text | in_markdown, "price", ColumnKind::number,
     [](const Sale& s) { return TableCell{s.price ? "known" : "n/a"}; }},
});

const std::vector<Sale> kSales = {{"a|b", 2.5}, {"c", std::nullopt}};

TEST(DocumentTable, AFormatHasItsColumnsOnly) {
  const Table csv = make_table(kSaleFields, in_csv, kSales);
  ASSERT_EQ(csv.columns.size(), 2U);
  EXPECT_EQ(csv.columns[0].heading, "what");
  EXPECT_EQ(csv.columns[1].heading, "price_eur");
  EXPECT_EQ(csv.rows.at(0).cells.at(1).value, analysis::Cell(2.5));
  EXPECT_FALSE(analysis::is_known(csv.rows.at(1).cells.at(1).value));
  EXPECT_EQ(make_table(kSaleFields, in_page, kSales).columns.size(), 1U);
}

TEST(DocumentTable, IsTheSameTableInEveryFormat) {
  EXPECT_EQ(text_table(make_table(kSaleFields, in_text, kSales), 80, Colour::off),
            "what  price\na|b   known\nc       n/a\n");
  EXPECT_EQ(markdown_table(make_table(kSaleFields, in_markdown, kSales)),
            "| what | price |\n|---|--:|\n| a\\|b | known |\n| c | n/a |\n");
}

TEST(DocumentTable, MarkupIsNotEscaped) {
  const Table table{{{"x|y", ColumnKind::markup}}, {{{{"<code>a</code>"}}}}};
  EXPECT_EQ(markdown_table(table, "---:"), "| x\\|y |\n|---|\n| <code>a</code> |\n");
}

TEST(DocumentTable, IdsThatMayBeCutAreShortenedFirst) {
  const std::string id = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
  const Table table{{{"case", ColumnKind::id, 16}, {"n", ColumnKind::number}}, {{{{id}, {"1"}}}}};
  EXPECT_EQ(text_table(table, 100, Colour::off).find("..."), std::string::npos);
  EXPECT_NE(text_table(table, 30, Colour::off).find("m8n8k8/.../hot"), std::string::npos);
}

}  // namespace
}  // namespace bench
