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

// Runs act() in the page once the trace is shown. note() appends a value of the status line, or a
// text, to data-notes.
constexpr const char* kWhenReady =
    "const status = document.getElementById('status'), canvas = document.getElementById('canvas');"
    "const pointer = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type,"
    "  {pointerId: id, clientX: canvas.getBoundingClientRect().x + x,"
    "   clientY: canvas.getBoundingClientRect().y + y, bubbles: true}));"
    "const note = (text) => { window.dispatchEvent(new Event('resize'));"  // draws at once
    "  status.dataset.notes = (status.dataset.notes || '') + (status.dataset[text] ?? text) + ' '; "
    "};"
    "const key = (name) => document.body.dispatchEvent("
    "  new KeyboardEvent('keydown', {key: name, bubbles: true}));"
    "const timer = setInterval(() => {"
    "  if (status.dataset.ready !== 'yes') return;"
    "  clearInterval(timer); act(); }, 10);";

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

  // Returns the document after its scripts ran, and then `actions`.
  std::string document_after(const std::string& path, const std::string& actions) {
    std::string page = test::read_text(path);
    page += "<script>function act() {" + actions + "}" + kWhenReady + "</script>";
    return document(folder_.write("acted.html", page));
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
    const std::regex pattern("id=\"status\"[^>]* data-" + name + "=\"(-?[0-9]+)");
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
  EXPECT_EQ(status(dom, "matches"), 3);  // the call is a part of its layer
  EXPECT_EQ(status(dom, "matched-ns"), 20'000'000);
  EXPECT_THAT(dom, HasSubstr(">1 of 3 (20 ms)<"));
  EXPECT_EQ(status(document(path, "#search=primitive"), "matched-ns"), 16'998'000);
}

// A layer that ran 5 times had 20 matches, since its operator, call, primitive and wait counted.
TEST_F(TimelinePage, SearchCountsAndVisitsEachExecutionOnce) {
  std::vector<Activity> all;
  for (std::int64_t i = 0; i < 5; ++i) {
    // The times in microseconds have three decimals, so sums of them differ in the last bits.
    const std::int64_t start = 4'094'844'127'550 + i * 1'125'809;
    all.push_back(slice("conv2", start, 1'125'804, 100));
    all.push_back(slice("dnnl_primitive_execute", start, 1'125'713, 100));
    all.push_back(slice("convolution", start + 2'523, 1'106'200, 100));
    all.push_back(slice("dnnl_stream_wait", start + 1'125'713, 91, 100));
    for (std::size_t j = all.size() - 4; j < all.size(); ++j) all[j].scope = "net:layer2.0.conv2";
  }
  const std::string path = write(all);
  const std::string dom = document(path, "#search=layer2.0.conv2");
  EXPECT_EQ(status(dom, "matches"), 5);
  EXPECT_THAT(dom, HasSubstr("15 more nest in these"));
  const std::string visited = document_after(
      path,
      "const search = document.getElementById('search'); search.value = 'layer2.0.conv2';"
      "search.dispatchEvent(new Event('input'));"
      "for (let i = 0; i < 5; ++i) { document.getElementById('next').click();"
      "  note(document.getElementById('details-name').textContent); }");
  EXPECT_THAT(visited, HasSubstr("data-notes=\"conv2 conv2 conv2 conv2 conv2 \""));
  EXPECT_THAT(visited, HasSubstr(">5 of 5 ("));
}

Activity iteration(const std::string& case_id, std::int64_t number, std::int64_t start) {
  Activity range = slice("iteration", start, 10'000, 100);
  range.kind = ActivityKind::range;
  range.case_id = case_id;
  range.attributes.set(Attribute::iteration, number);
  return range;
}

// The page opened at all 2.56 s, of which the iterations took 0.5 s.
TEST_F(TimelinePage, OpensAtTheIterationsAndShowsEverythingOnRequest) {
  Activity preparation = slice("preparation", 0, 800'000, 100);
  preparation.kind = ActivityKind::range;
  const std::string path = write({preparation, iteration("a", 5, 900'000),
                                  iteration("a", 6, 990'000), slice("end", 1'999'000, 1'000, 100)});
  const std::string dom = document(path);
  EXPECT_EQ(status(dom, "from"), 899);  // 1 % of 100 us before the first
  EXPECT_EQ(status(dom, "to"), 1001);
  EXPECT_THAT(dom, HasSubstr("opened at 2 iterations<"));
  const std::string everything = document_after(
      path,
      "key('f'); note('from'); note('to'); document.getElementById('iterations').click();"
      "note('from'); document.getElementById('fit').click(); note('to');"
      "note(status.textContent.includes('opened'));");
  EXPECT_THAT(everything, HasSubstr("data-notes=\"-20 2020 899 2020 false \""));
}

TEST_F(TimelinePage, ShowsTheIterationsOfOneCaseAfterTheOther) {
  const std::string path =
      write({iteration("a", 5, 100'000), iteration("b", 5, 900'000), iteration("b", 6, 990'000)});
  EXPECT_THAT(document(path), HasSubstr("opened at 1 iteration of a (I: the next of 2 cases)<"));
  const std::string next = document_after(
      path,
      "key('i'); note('from'); note(status.textContent.includes('2 iterations of b'));"
      "key('i'); note(status.textContent.includes('1 iteration of a'));");
  EXPECT_THAT(next, HasSubstr("data-notes=\"799 true true \""));  // 0 is the first event
}

// Allocations had 30 rows, which only folding the whole process removed.
TEST_F(TimelinePage, AllocationsAreOneRowUntilTheyAreUnfolded) {
  std::vector<Activity> all = {slice("conv", 0, 100'000, 100)};
  for (int i = 0; i < 10; ++i) {
    all.push_back(slice("buffer", i, 90'000, 100));
    all.back().kind = ActivityKind::allocation;
  }
  // Their row is the second, below that of the process: after 26 pixels of axis and 22 of heading.
  const std::string dom = document_after(
      write(all),
      "const click = () => { pointer('pointerdown', 1, 20, 60); pointer('pointerup', 1, 20, 60); };"
      "const box = document.getElementById('allocations');"
      "note('asyncRows'); key('m'); note('asyncRows'); note(box.checked); key('m');"
      "note('asyncRows'); box.click(); note('asyncRows'); box.click(); note('asyncRows');"
      "click(); note('asyncRows'); click(); note('asyncRows');");
  EXPECT_THAT(dom, HasSubstr("data-notes=\"1 10 true 1 10 1 10 1 \""));
}

TEST_F(TimelinePage, OneFingerMovesTheViewAndTwoZoom) {
  const std::string dom =
      document_after(write({slice("conv", 0, 1'000'000, 100)}),
                     "pointer('pointerdown', 1, 600, 300); pointer('pointermove', 1, 500, 300);"
                     "pointer('pointerup', 1, 500, 300); note('from');"
                     "note(document.getElementById('details').hidden); key('f');"
                     "pointer('pointerdown', 1, 600, 300); pointer('pointerdown', 2, 700, 300);"
                     "pointer('pointermove', 1, 550, 300); pointer('pointermove', 2, 750, 300);"
                     "pointer('pointerup', 1, 550, 300); pointer('pointerup', 2, 750, 300);"
                     "note('from'); note(Math.round(status.dataset.to - status.dataset.from));");
  EXPECT_THAT(dom,
              testing::ContainsRegex("data-notes=\"95[0-9.]+ true [0-9.]+ 510 \""));  // of 1020 us
}

TEST_F(TimelinePage, ANarrowWindowHasNarrowLabelsAndTheHelpNamesTouch) {
  const std::string dom = document_after(
      write({slice("conv", 0, 1'000'000, 100)}),
      "note('gutter'); document.getElementById('view').style.width = '360px'; note('gutter');");
  EXPECT_THAT(dom, HasSubstr("data-notes=\"230 97 \""));
  EXPECT_THAT(dom, HasSubstr("Touch: one finger moves"));
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
