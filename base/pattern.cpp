// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.hpp"

#include "base/characters.hpp"

#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <fnmatch.h>
#include <optional>
#include <string>
#include <utility>

namespace bench {

// With this many states, a search over 10,000 ids of 100 characters takes about a minute; with a
// hundred, which no sensible filter exceeds, less than a second.
constexpr std::size_t kMaxStates = 10'000;
constexpr std::size_t kMaxGroups = 100;  // nested in each other; limits the parser's recursion
constexpr std::size_t kMaxRepeat = 1000;

// Translates a pattern into states by recursive descent. Each parse function appends a fragment of
// states, which continues with the state appended next.
class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern) : pattern_(pattern) {}

  Result<Regex> parse() {
    parse_alternatives();
    if (!error_ && position_ < pattern_.size()) fail("`)` without `(`");
    emit(Regex::Kind::accept);
    if (error_) return *error_;
    return std::move(regex_);
  }

 private:
  using Kind = Regex::Kind;
  using State = Regex::State;

  void fail(std::string what, std::string next = {}) {
    if (error_) return;
    what += fmt::format(" at character {} of the regular expression", position_ + 1);
    error_ = Error{std::move(what), "", std::move(next)};
    position_ = pattern_.size();  // ends all loops
  }
  bool has_more() const { return position_ < pattern_.size(); }
  char peek() const { return pattern_[position_]; }
  bool accept(std::string_view text) {
    if (pattern_.substr(position_, text.size()) != text) return false;
    position_ += text.size();
    return true;
  }

  // Appends a state and returns its index.
  std::size_t emit(Kind kind) {
    std::vector<State>& states = regex_.states_;
    if (states.size() >= kMaxStates) fail("the expression is too large");
    states.push_back({kind, states.size() + 1});
    return states.size() - 1;
  }
  std::size_t end() const { return regex_.states_.size(); }

  // Inserts a state before the last fragment, which begins at `begin` and moves up by one.
  void insert(std::size_t begin, State state) {
    std::vector<State>& states = regex_.states_;
    for (std::size_t i = begin; i < states.size(); ++i) {
      states[i].next += 1;
      states[i].other += 1;
    }
    states.insert(states.begin() + static_cast<std::ptrdiff_t>(begin), state);
  }

  void parse_alternatives() {
    if (++depth_ > kMaxGroups) fail("too many nested groups");
    const std::size_t begin = end();
    parse_sequence();
    while (!error_ && accept("|")) {
      insert(begin, {Kind::split, begin + 1, 0, 0});
      const std::size_t jump = emit(Kind::jump);
      regex_.states_[begin].other = end();
      parse_sequence();
      regex_.states_[jump].next = end();
    }
    --depth_;
  }
  void parse_sequence() {
    while (!error_ && has_more() && peek() != '|' && peek() != ')') parse_repetition();
  }

  void parse_repetition() {
    const std::size_t begin = end();
    parse_atom();
    while (!error_ && has_more()) {
      if (accept("*")) {
        repeat(begin, 0, std::nullopt);
      } else if (accept("+")) {
        repeat(begin, 1, std::nullopt);
      } else if (accept("?")) {
        repeat(begin, 0, 1);
      } else if (peek() == '{') {
        parse_braces(begin);
      } else {
        return;
      }
      accept("?");  // lazy: matches the same set of texts
    }
  }

  std::optional<std::size_t> parse_count() {
    std::optional<std::size_t> value;
    while (has_more() && is_digit(peek())) {
      value = value.value_or(0) * 10 + static_cast<std::size_t>(peek() - '0');
      ++position_;
      if (*value > kMaxRepeat) {
        fail(fmt::format("more than {} repetitions", kMaxRepeat));
        return std::nullopt;
      }
    }
    return value;
  }

  void parse_braces(std::size_t begin) {
    accept("{");
    const auto minimum = parse_count();
    auto maximum = minimum;
    if (accept(",")) maximum = parse_count();
    if (error_) return;
    if (!minimum || !accept("}")) return fail("expected {m}, {m,} or {m,n}");
    if (maximum && *maximum < *minimum) return fail("a maximum below the minimum");
    repeat(begin, *minimum, maximum);
  }

  // Appends a copy of a fragment whose first state had the index `begin`.
  void append_copy(const std::vector<State>& fragment, std::size_t begin) {
    const std::size_t shift = end() - begin;
    if (end() + fragment.size() > kMaxStates) return fail("the expression is too large");
    for (State state : fragment) {
      state.next += shift;
      state.other += shift;
      regex_.states_.push_back(state);
    }
  }

  // Replaces the fragment from `begin` to the end by copies of it. nullopt means no maximum.
  void repeat(std::size_t begin, std::size_t minimum, std::optional<std::size_t> maximum) {
    const std::vector<State> fragment(regex_.states_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      regex_.states_.end());
    regex_.states_.resize(begin);
    for (std::size_t i = 0; i < minimum && !error_; ++i) append_copy(fragment, begin);
    if (!maximum) {
      const std::size_t split = emit(Kind::split);
      append_copy(fragment, begin);
      const std::size_t jump = emit(Kind::jump);
      regex_.states_[jump].next = split;
      regex_.states_[split].other = end();
      return;
    }
    std::vector<std::size_t> splits;
    for (std::size_t i = minimum; i < *maximum && !error_; ++i) {
      splits.push_back(emit(Kind::split));
      append_copy(fragment, begin);
    }
    for (const std::size_t split : splits) regex_.states_[split].other = end();
  }

  void emit_bytes(const Regex::ByteSet& set) {
    const std::size_t state = emit(Kind::bytes);
    regex_.states_[state].set = regex_.sets_.size();
    regex_.sets_.push_back(set);
  }

  void parse_atom() {
    if (accept("^")) {
      emit(Kind::text_begin);
    } else if (accept("$")) {
      emit(Kind::text_end);
    } else if (accept(".")) {
      emit_bytes(~Regex::ByteSet());
    } else if (accept("(")) {
      parse_group();
    } else if (accept("[")) {
      emit_bytes(parse_bracket());
    } else if (accept("\\")) {
      emit_bytes(parse_escape());
    } else if (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{') {
      fail(fmt::format("nothing to repeat before `{}`", peek()));
    } else {
      Regex::ByteSet set;
      set.set(static_cast<unsigned char>(pattern_[position_++]));
      emit_bytes(set);
    }
  }

  void parse_group() {
    if (accept("?=") || accept("?!") || accept("?<")) {
      return fail("look-around and named groups are not supported", "use (...) or (?:...)");
    }
    accept("?:");
    parse_alternatives();
    if (!error_ && !accept(")")) fail("`(` without `)`");
  }

  static Regex::ByteSet range(unsigned char first, unsigned char last) {
    Regex::ByteSet set;
    for (std::size_t byte = first; byte <= last; ++byte) set.set(byte);
    return set;
  }

  Regex::ByteSet parse_escape() {
    if (!has_more()) {
      fail("nothing follows `\\`");
      return {};
    }
    const char letter = pattern_[position_++];
    const Regex::ByteSet digits = range('0', '9');
    const Regex::ByteSet word = digits | range('a', 'z') | range('A', 'Z') | range('_', '_');
    const Regex::ByteSet space = range('\t', '\r') | range(' ', ' ');
    const std::pair<char, Regex::ByteSet> classes[] = {
        {'d', digits},
        {'D', ~digits},
        {'w', word},
        {'W', ~word},
        {'s', space},
        {'S', ~space},
        {'t', range('\t', '\t')},
        {'n', range('\n', '\n')},
        {'r', range('\r', '\r')},
    };
    for (const auto& [name, set] : classes) {
      if (name == letter) return set;
    }
    if (word.test(static_cast<unsigned char>(letter))) {
      fail(fmt::format("unknown escape `\\{}`", letter),
           "\\d \\w \\s and their capitals are known; back-references are not supported");
    }
    return range(static_cast<unsigned char>(letter), static_cast<unsigned char>(letter));
  }

  // Parses one character of a bracket expression, or a class such as \d.
  Regex::ByteSet parse_bracket_item() {
    if (accept("\\")) return parse_escape();
    const auto first = static_cast<unsigned char>(pattern_[position_++]);
    const bool is_range = position_ + 1 < pattern_.size() && peek() == '-' &&
                          pattern_[position_ + 1] != ']' && pattern_[position_ + 1] != '\\';
    if (!is_range) return range(first, first);
    const auto last = static_cast<unsigned char>(pattern_[position_ + 1]);
    position_ += 2;
    if (last < first) fail("a range that runs backwards");
    return range(first, last);
  }

  Regex::ByteSet parse_bracket() {
    const bool is_negated = accept("^");
    Regex::ByteSet set;
    while (!error_ && has_more() && peek() != ']') set |= parse_bracket_item();
    if (!error_ && !accept("]")) fail("`[` without `]`");
    return is_negated ? ~set : set;
  }

  std::string_view pattern_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  Regex regex_;
  std::optional<Error> error_;
};

Result<Regex> Regex::compile(std::string_view pattern) { return RegexParser(pattern).parse(); }

// The states in which the simulation is at one position of the text.
struct Regex::Threads {
  std::vector<std::size_t> alive;
  std::vector<bool> is_alive;        // by state
  std::vector<std::size_t> pending;  // stack of add_thread()
  bool accepted = false;

  explicit Threads(std::size_t states) : is_alive(states) {}
  void clear() {
    for (const std::size_t state : alive) is_alive[state] = false;
    alive.clear();
  }
};

// Adds a state and all states that it reaches without consuming a character. Uses an explicit
// stack, because patterns may be long. `position` and `size` are those of the text.
void Regex::add_thread(std::size_t state, std::size_t position, std::size_t size,
                       Threads& threads) const {
  threads.pending.push_back(state);
  while (!threads.pending.empty()) {
    const std::size_t index = threads.pending.back();
    threads.pending.pop_back();
    if (threads.is_alive[index]) continue;
    threads.is_alive[index] = true;
    threads.alive.push_back(index);
    const State& current = states_[index];
    const bool passes = current.kind == Kind::jump || current.kind == Kind::split ||
                        (current.kind == Kind::text_begin && position == 0) ||
                        (current.kind == Kind::text_end && position == size);
    if (passes) threads.pending.push_back(current.next);
    if (current.kind == Kind::split) threads.pending.push_back(current.other);
    if (current.kind == Kind::accept) threads.accepted = true;
  }
}

bool Regex::search(std::string_view text) const {
  Threads now(states_.size());
  Threads next(states_.size());
  for (std::size_t position = 0;; ++position) {
    add_thread(0, position, text.size(), now);  // a match may begin anywhere
    if (now.accepted) return true;
    if (position == text.size()) return false;
    const auto byte = static_cast<unsigned char>(text[position]);
    next.clear();
    for (const std::size_t index : now.alive) {
      const State& state = states_[index];
      if (state.kind != Kind::bytes || !sets_[state.set].test(byte)) continue;
      add_thread(state.next, position + 1, text.size(), next);
    }
    std::swap(now, next);
    if (now.accepted) return true;
  }
}

// fnmatch() reads characters and ranges as the thread's locale has them. In that of C, each byte is
// a character.
bool glob_matches(std::string_view pattern, std::string_view text) {
  static const locale_t kCLocale = ::newlocale(LC_ALL_MASK, "C", locale_t{});
  const std::string glob(pattern);
  const std::string subject(text);
  const locale_t previous = ::uselocale(kCLocale);
  const bool is_match = ::fnmatch(glob.c_str(), subject.c_str(), FNM_NOESCAPE) == 0;
  ::uselocale(previous);
  return is_match;
}

Status check_glob(std::string_view pattern) {
  for (std::size_t at = pattern.find('['); at != pattern.npos; at = pattern.find('[', at)) {
    const std::string_view set = pattern.substr(at + 1);
    const bool is_negated = set.starts_with('!') || set.starts_with('^');
    const std::size_t begin = at;
    at = pattern.find(']', at + (is_negated ? 3 : 2));  // a `]` in the first position is a member
    if (at == pattern.npos)
      return Error{"`[` without `]`", "", "write [[] for the character itself"};
    // fnmatch() reads on beyond this `]` in a class as `[:alpha:]`, and matches nothing if it does
    // not end.
    const std::string_view members = pattern.substr(begin + 1, at - begin - 1);
    for (const std::string_view opening : {"[:", "[.", "[="}) {
      if (members.find(opening) != members.npos)
        return Error{fmt::format("`{}` within a set", opening), "",
                     "write the set's `[` last, as in [a:[]"};
    }
  }
  return Done{};
}

}  // namespace bench
