// SPDX-License-Identifier: Apache-2.0
// Notes: sentences about the numbers of a table. A reader can use few of them at once, so texts
// show at most kMaxNoteSentences, the most important ones, and say how to see the others
// (--explain).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The questions that notes answer, most important first.
enum class NoteTopic {
  answer,     // a part of the answer
  validity,   // what the table lacks, or why its numbers are not what they seem
  quality,    // how good the numbers are
  certainty,  // how certain they are
  gain,       // where most can be gained
  other,
};

struct Note {
  NoteTopic topic = NoteTopic::other;
  std::string text;  // one sentence or more
};

// Maximum number of sentences, unless the user asks for all. The most important note is shown even
// if it has more.
inline constexpr std::size_t kMaxNoteSentences = 3;
enum class NoteExtent { leading, all };

// How many notes a text shows.
struct NoteView {
  NoteExtent extent = NoteExtent::leading;
  // A command that shows all notes without measuring again; empty if there is none.
  std::string command = {};
};

struct ShownNotes {
  std::vector<std::string> texts;  // in the order of the notes
  std::size_t left_out = 0;        // number of other notes
};
// Selects the notes of the most important topics, within a topic the first ones.
ShownNotes select_notes(const std::vector<Note>& notes, NoteExtent extent);

// Returns the selected notes, each on its own lines below `bullet`, and a last line if some are
// left out: "2 more notes: bench report r.jsonl --explain". Empty if there are no notes.
std::string format_notes(const std::vector<Note>& notes, const NoteView& view, std::size_t width,
                         std::string_view bullet);

}  // namespace bench
