// SPDX-License-Identifier: Apache-2.0
// Tests the page in a real browser. They fail without Chromium (ci/setup installs it).
#include "profiler/export/timeline_page.hpp"

#include "profiler/export/chrome_trace.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAttack =
    "</script><script>document.title='taken'</script><img src=x "
    "onerror=\"document.title='taken'\">";

Activity slice(std::string name, std::int64_t start, std::int64_t duration, std::int64_t tid) {
  Activity a;
  a.kind = ActivityKind::operation;
  a.name = std::move(name);
  a.start = Nanoseconds(start);
  a.duration = Nanoseconds(duration);
  a.track.pid = 100;
  a.track.tid = tid;
  return a;
}

class TimelinePage : public testing::Test {
 protected:
  std::string write(const std::vector<Activity>& activities, const std::string& title = "") {
    const std::string path = folder_.file("page.html");
    TraceOptions options;
    options.title = title;
    auto trace = ChromeTrace::create(path, Existing::replace, options);
    EXPECT_TRUE(trace.ok());
    for (const Activity& a : activities) EXPECT_TRUE((*trace)->consume(a).ok());
    EXPECT_TRUE((*trace)->finish().ok());
    return path;
  }

  // Returns the document after its scripts ran.
  std::string document(const std::string& path, const std::string& hash = "") {
    const test::ProgramResult result = test::run_program(
        {{"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--user-data-dir=" + folder_.file("profile"), "--window-size=1200,800",
          "--virtual-time-budget=30000", "--dump-dom", "file://" + path + hash},
         ".",
         {}});
    EXPECT_EQ(result.status, 0) << "chromium is needed, ci/setup installs it\n" << result.err;
    return result.out;
  }

  // Returns data-<name> of the status line, or -1 if it is missing.
  static std::int64_t status(const std::string& dom, const std::string& name) {
    std::smatch match;
    const std::regex pattern("id=\"status\"[^>]* data-" + name + "=\"([0-9]+)\"");
    return std::regex_search(dom, match, pattern) ? std::stoll(match[1]) : -1;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TimelinePage, DrawsEverySlice) {
  std::vector<Activity> all;
  for (int i = 0; i < 500; ++i) {
    all.push_back(slice("conv", i * 1000, 900, 100 + i % 3));
    all.push_back(slice("inner", i * 1000 + 100, 300, 100 + i % 3));
  }
  all[0].correlation = 1;
  Activity kernel = slice("kernel", 2000, 1000, 100);
  kernel.kind = ActivityKind::kernel;
  kernel.track.device = 0;
  kernel.correlation = 1;
  all.push_back(kernel);
  Activity counter = slice("c", 5, 0, 100);
  counter.kind = ActivityKind::counter;
  counter.attributes.set(Attribute::value, 3.0);
  all.push_back(counter);
  Activity marker = slice("m", 5, 0, 100);
  marker.kind = ActivityKind::marker;
  all.push_back(marker);
  Activity buffer = slice("b", 5, 100, 100);
  buffer.kind = ActivityKind::allocation;
  all.push_back(buffer);
  const std::string dom = document(write(all), "#search=inner");
  EXPECT_THAT(dom, HasSubstr("data-ready=\"yes\""));
  EXPECT_EQ(status(dom, "slices"), 1001);
  EXPECT_EQ(status(dom, "tracks"), 4);
  EXPECT_EQ(status(dom, "flows"), 1);
  EXPECT_EQ(status(dom, "counters"), 1);
  EXPECT_EQ(status(dom, "instants"), 1);
  EXPECT_EQ(status(dom, "asyncs"), 1);
  EXPECT_EQ(status(dom, "processes"), 2);
  EXPECT_EQ(status(dom, "matches"), 500);
  const std::string full_dom = document(folder_.file("page.html"));
  EXPECT_EQ(status(full_dom, "drawn"), 1001);
  EXPECT_GT(status(full_dom, "rectangles"), 0);
  EXPECT_EQ(status(full_dom, "arrows"), 1);
}

TEST_F(TimelinePage, DrawsOnlyWhatIsInView) {
  std::vector<Activity> all;
  for (int i = 0; i < 100; ++i) all.push_back(slice("conv", i * 10'000, 5'000, 100));
  const std::string dom = document(write(all), "#from=101&to=199");
  EXPECT_EQ(status(dom, "slices"), 100);
  EXPECT_EQ(status(dom, "drawn"), 10);  // those from 100 us to 190 us
}

// Earlier, a layer, its call and its primitive counted as 51 ms, although only 17 ms had passed.
TEST_F(TimelinePage, SearchCountsTimeOnceThatNestedAndParallelMatchesShare) {
  Activity layer = slice("conv1", 0, 17'000'000, 100);
  Activity call = slice("call of conv1", 500, 16'999'000, 100);
  Activity primitive = slice("primitive of conv1", 1'000, 16'998'000, 101);  // another thread
  Activity later = slice("conv1 again", 20'000'000, 3'000'000, 100);
  Activity pool = slice("pool", 17'000'000, 3'000'000, 100);
  const std::string path = write({layer, call, primitive, later, pool});
  const std::string dom = document(path, "#search=conv1");
  EXPECT_EQ(status(dom, "matches"), 4);
  EXPECT_EQ(status(dom, "matched-ns"), 20'000'000);
  EXPECT_THAT(dom, HasSubstr(">4 (20 ms)<"));
  EXPECT_EQ(status(document(path, "#search=primitive"), "matched-ns"), 16'998'000);
}

// A kit's timeline shows both sides from 0 on. The tooltip distinguishes them.
TEST_F(TimelinePage, SearchTellsTheTimeOfEachProcess) {
  Activity base = slice("conv1", 0, 2'000'000, 100);
  base.attributes.set(Attribute::process_name, "base");
  Activity candidate = slice("conv1", 0, 3'000'000, 100);
  candidate.track.pid = 200;
  candidate.attributes.set(Attribute::process_name, "candidate");
  const std::string dom = document(write({base, candidate}), "#search=conv1");
  EXPECT_EQ(status(dom, "matched-ns"), 3'000'000);
  EXPECT_THAT(dom, testing::ContainsRegex("base[^,\"]* 2 ms, candidate[^,\"]* 3 ms"));
}

TEST_F(TimelinePage, HostileNamesAreOnlyShown) {
  Activity hostile = slice(kAttack, 0, 1000, 100);
  hostile.attributes.set(Attribute::implementation, kAttack);
  hostile.attributes.set(Attribute::thread_name, kAttack);
  hostile.attributes.set(Attribute::process_name, kAttack);
  hostile.scope = "__proto__";
  const std::string path = write({hostile}, std::string("@TRACE@ @SCRIPT@ ") + kAttack);
  EXPECT_THAT(test::read_text(path), Not(HasSubstr("<img")));
  const std::string dom = document(path, "#search=onerror");
  EXPECT_THAT(dom, HasSubstr("data-ready=\"yes\""));
  EXPECT_EQ(status(dom, "matches"), 1);
  // The search selected it, so the document contains its name and args as text.
  EXPECT_THAT(dom, HasSubstr("<h2 id=\"details-name\">&lt;/script&gt;&lt;script&gt;"));
  EXPECT_THAT(dom, Not(HasSubstr("<img")));
  EXPECT_THAT(dom, HasSubstr("<title>@TRACE@ @SCRIPT@ &lt;/script&gt;"));
}

TEST_F(TimelinePage, SaysWhatItCannotShow) {
  auto file = file_bytes(folder_.file("page.html"), Existing::replace);
  ASSERT_TRUE(file.ok());
  const auto page = timeline_page_bytes("t", std::move(*file));
  ASSERT_TRUE(page->write("{\"traceEvents\":").ok());
  ASSERT_TRUE(page->close().ok());
  EXPECT_THAT(document(folder_.file("page.html")), HasSubstr("cannot show the trace"));
}

TEST_F(TimelinePage, ReadsAnUnterminatedArrayWithBeginsAndEnds) {
  auto file = file_bytes(folder_.file("page.html"), Existing::replace);
  ASSERT_TRUE(file.ok());
  const auto page = timeline_page_bytes("t", std::move(*file));
  ASSERT_TRUE(page->write(R"([{"ph":"B","name":"a","ts":1,"pid":1,"tid":1},
    {"ph":"B","name":"b","ts":2,"pid":1,"tid":1},{"ph":"E","ts":3,"pid":1,"tid":1},)")
                  .ok());
  ASSERT_TRUE(page->close().ok());
  EXPECT_EQ(status(document(folder_.file("page.html")), "drawn"), 2);
}

}  // namespace
}  // namespace bench
