// SPDX-License-Identifier: Apache-2.0
// Text for a terminal of a given width: colours and line breaks. All texts are UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Colour { off, on };
enum class Tone { plain, good, warning, bad, heading };

// Encloses the text in the escape sequences of `tone`; returns it unchanged with Colour::off.
std::string paint(std::string_view text, Tone tone, Colour colour);

// Wraps the words of `text` to lines of at most `width` columns, including `indent` blanks before
// each line. Splits a word that is longer than a line. A percent sign is part of the word before
// it.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// Folds lines that contain a table, such as "ok      oneDNN         3.2.0 at ...", to at most
// `width` columns. A long line continues below its last table column that starts in the left half,
// after two blanks. Other lines stay unchanged.
std::string fold_lines(std::string_view text, std::size_t width);

// Splits `utf8` into pieces of at most `width` columns.
std::vector<std::string> split_columns(std::string_view utf8, std::size_t width);

}  // namespace bench
