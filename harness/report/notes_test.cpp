// SPDX-License-Identifier: Apache-2.0
#include "harness/report/notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Note> kFive = {{NoteTopic::gain, "Gain."},
                                 {NoteTopic::other, "Other."},
                                 {NoteTopic::certainty, "Certain."},
                                 {NoteTopic::quality, "Good at 3.5 %."},
                                 {NoteTopic::other, "Last."}};

TEST(Notes, TheMostImportantThreeSentencesAreShownInReadingOrder) {
  const ShownNotes shown = select_notes(kFive, NoteExtent::leading);
  EXPECT_THAT(shown.texts, ElementsAre("Gain.", "Certain.", "Good at 3.5 %."));
  EXPECT_EQ(shown.left_out, 2u);
  const ShownNotes all = select_notes(kFive, NoteExtent::all);
  EXPECT_EQ(all.texts.size(), 5u);
  EXPECT_EQ(all.left_out, 0u);
}

TEST(Notes, ANoteOfSeveralSentencesCountsAsThese) {
  const std::vector<Note> notes = {{NoteTopic::validity, "One is missing. `--budget` adds it."},
                                   {NoteTopic::quality, "Good. Very good."},
                                   {NoteTopic::other, "Short."}};
  EXPECT_THAT(select_notes(notes, NoteExtent::leading).texts,
              ElementsAre("One is missing. `--budget` adds it.", "Short."));
}

TEST(Notes, TheFirstNoteIsShownHoweverLongItIs) {
  const std::vector<Note> notes = {{NoteTopic::validity, "A b. C d. E f. G h. I j."},
                                   {NoteTopic::other, "Short."}};
  const ShownNotes shown = select_notes(notes, NoteExtent::leading);
  EXPECT_THAT(shown.texts, ElementsAre("A b. C d. E f. G h. I j."));
  EXPECT_EQ(shown.left_out, 1u);
}

TEST(Notes, TheLastLineSaysHowToSeeTheOthers) {
  EXPECT_EQ(
      format_notes(kFive, {NoteExtent::leading, "bench report r.jsonl"}, 80, "- "),
      "- Gain.\n- Certain.\n- Good at 3.5 %.\n2 more notes: bench report r.jsonl --explain\n");
  EXPECT_EQ(format_notes(kFive, {}, 80, "  "),
            "  Gain.\n  Certain.\n  Good at 3.5 %.\n  2 more notes: --explain shows all\n");
  EXPECT_THAT(format_notes(kFive, {NoteExtent::leading, "bench report r.jsonl"}, 40, "- "),
              HasSubstr("\n2 more notes:\n  bench report r.jsonl --explain\n"));
  EXPECT_EQ(format_notes({}, {}, 80, "- "), "");
  EXPECT_EQ(format_notes({kFive.front()}, {NoteExtent::all, "x"}, 80, "- "), "- Gain.\n");
}

TEST(Notes, AWrappedNoteIsIndentedBelowItsBullet) {
  EXPECT_EQ(format_notes({{NoteTopic::quality, "one two three"}}, {}, 9, "- "),
            "- one two\n  three\n");
}

}  // namespace
}  // namespace bench
