// SPDX-License-Identifier: Apache-2.0
#include "harness/report/notes.hpp"

#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace bench {
namespace {

// Counts the sentences of a note: a full stop, a blank, and then a capital letter or a backtick
// begin the next one.
std::size_t count_sentences(std::string_view text) {
  std::size_t count = 1;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '.' || text[i + 1] != ' ') continue;
    const char next = text[i + 2];
    if (next == '`' || std::isupper(static_cast<unsigned char>(next)) != 0) ++count;
  }
  return count;
}

std::string announce_left_out(std::size_t left_out, const std::string& command, std::size_t width,
                              std::size_t indent) {
  const std::string text(indent, ' ');
  const std::string announcement = pluralise(left_out, "more note") + ":";
  if (command.empty()) return text + announcement + " --explain shows all\n";
  // Users copy the command, so it is never wrapped.
  const std::string option = command + " --explain";
  const bool fits = indent + announcement.size() + 1 + display_width(option) <= width;
  return text + announcement + (fits ? " " : "\n  " + text) + option + '\n';
}

}  // namespace

ShownNotes select_notes(const std::vector<Note>& notes, NoteExtent extent) {
  std::vector<std::size_t> order(notes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return notes[i].topic; });
  std::vector<bool> is_shown(notes.size(), extent == NoteExtent::all);
  std::size_t sentences = 0;
  for (const std::size_t i : order) {
    const std::size_t count = count_sentences(notes[i].text);
    if (sentences > 0 && sentences + count > kMaxNoteSentences) continue;
    is_shown[i] = true;
    sentences += count;
  }
  ShownNotes shown;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (is_shown[i]) {
      shown.texts.push_back(notes[i].text);
    } else {
      ++shown.left_out;
    }
  }
  return shown;
}

std::string format_notes(const std::vector<Note>& notes, const NoteView& view, std::size_t width,
                         std::string_view bullet) {
  const ShownNotes shown = select_notes(notes, view.extent);
  std::string text;
  for (const std::string& note : shown.texts) {
    const std::string lines = wrap(note, width, bullet.size());
    text += std::string(bullet) + lines.substr(std::min(bullet.size(), lines.size()));
  }
  if (shown.left_out == 0) return text;
  const bool is_blank = bullet.find_first_not_of(' ') == std::string_view::npos;
  return text +
         announce_left_out(shown.left_out, view.command, width, is_blank ? bullet.size() : 0);
}

}  // namespace bench
