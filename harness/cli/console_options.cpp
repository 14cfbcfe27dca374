// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/console_options.hpp"

#include "base/characters.hpp"
#include "base/output_width.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/terminal_text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bench {

ConsoleOptions console_options(const Env& env) {
  ConsoleOptions console;
  std::optional<int> width = requested_width(env);
  if (env.out_is_terminal && env.terminal_width) width = env.terminal_width;
  if (width) {
    console.width = static_cast<std::size_t>(std::max(*width, kMinOutputWidth));
  } else if (!env.out_is_terminal) {
    console.width = kUnlimitedWidth;
  }
  console.colour = env.use_colour() ? Colour::on : Colour::off;
  return console;
}

NoteView note_view(const Arguments& arguments) {
  return {arguments.notes, shell_command(arguments.program, arguments.command_line)};
}

std::optional<std::size_t> limited_width(const Env& env) {
  const std::size_t width = console_options(env).width;
  return width < kUnlimitedWidth ? std::optional(width) : std::nullopt;
}

Glyphs console_glyphs(const Env& env) {
  if (!env.out_is_terminal || env.variable("TERM").value_or("") == "dumb") return Glyphs::ascii;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = lower_case(env.variable(name).value_or(""));
    if (locale.empty()) continue;
    const bool is_utf8 = locale.ends_with("utf-8") || locale.ends_with("utf8");
    return is_utf8 ? Glyphs::blocks : Glyphs::ascii;
  }
  return Glyphs::ascii;
}

std::string format_console_lines(std::string_view text, const Env& env) {
  std::string lines = printable_lines(text);
  if (const auto width = limited_width(env)) lines = fold_lines(lines, *width);
  return lines;
}

}  // namespace bench
