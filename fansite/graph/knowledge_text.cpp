// SPDX-License-Identifier: Apache-2.0
//
// The readers and the writer of knowledge.h: our own lines, CSV, and Tetrad's knowledge text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/text.h"
#include "fansite/graph/knowledge.h"
#include "fansite/table/dataset.h"
#include "fansite/table/detail/csv_cells.h"

namespace fansite {
namespace {

using Kind = Statement::Kind;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kTetradSections[] = {"addtemporal",    "forbiddirect",  "requiredirect",
                                                "forbiddengroup", "requiredgroup", "/knowledge"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct Word {
  std::string text;
  bool quoted = false;
  bool is(std::string_view wanted) const { return !quoted && text == wanted; }
  bool is_any_case(std::string_view lower) const { return !quoted && csv::equal_ignoring_case(text, lower); }
};

struct Line {
  int number = 0;
  std::vector<Word> words;
};

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& file, const std::vector<std::string>& names)
      : rest_(bytes), file_(file), names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool fresh = index_.emplace(names[i], static_cast<int>(i)).second;
      check(fresh, "[knowledge] two variables are called '{}'; names must differ", excerpt(names[i]));
    }
  }

  std::vector<Statement> parse() {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
    const Start start = first_line();
    const std::string_view word = start.line.substr(0, start.line.find_first_of(" \t\r"));
    if (std::any_of(std::begin(kTetradSections), std::end(kTetradSections),
                    [&](std::string_view section) { return csv::equal_ignoring_case(word, section); })) {
      parse_tetrad();
    } else if (const char separator = header_separator(start.line)) {
      rest_.remove_prefix(start.offset);
      line_ = start.number;
      parse_csv(separator);
    } else {
      parse_lines();
    }
    return std::move(statements_);
  }

 private:
  template <class... Args>
  void require(bool ok, int line, fmt::format_string<Args...> message, Args&&... args) const {
    if (!ok) fail(line, fmt::format(message, std::forward<Args>(args)...));
  }

  [[noreturn]] void fail(int line, const std::string& sentence) const {
    throw DataError(fmt::format("[knowledge] {} line {}: {}", file_, line, sentence));
  }

  // ---- Words and names ----

  struct Start {
    std::string_view line;  // without blanks before it; empty if there is none
    std::size_t offset = 0;
    int number = 1;
  };

  /// The first line that is neither blank nor a comment, which tells the format.
  Start first_line() const {
    Start start;
    while (start.offset < rest_.size()) {
      std::string_view line = rest_.substr(start.offset);
      line = line.substr(0, line.find('\n'));
      const std::size_t taken = line.size() + 1;
      while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
      if (!line.empty() && !line.starts_with('#') && !line.starts_with("//")) {
        start.line = line;
        return start;
      }
      start.offset += taken;
      ++start.number;
    }
    return start;
  }

  /// The words of the next line that has any. Quoted words may hold anything, line breaks too; `comment` begins a
  /// comment where a word could begin.
  std::optional<Line> next_line(std::string_view comment) {
    Line line;
    while (!rest_.empty()) {
      if (rest_.front() == '\n') {
        rest_.remove_prefix(1);
        ++line_;
        if (!line.words.empty()) return line;
      } else if (is_blank(rest_.front())) {
        rest_.remove_prefix(1);
      } else if (rest_.front() == '#' || rest_.starts_with(comment)) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else {
        if (line.words.empty()) line.number = line_;
        line.words.push_back(rest_.front() == '"' ? quoted_word() : plain_word());
      }
    }
    return line.words.empty() ? std::nullopt : std::optional(std::move(line));
  }

  Word quoted_word() {
    const int opened = line_;
    Word word{"", true};
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\n') ++line_;
      if (rest_[i] != '"') {
        word.text += rest_[i];
      } else if (i + 1 < rest_.size() && rest_[i + 1] == '"') {
        word.text += rest_[i++];
      } else {
        rest_.remove_prefix(i + 1);
        require(rest_.empty() || is_blank(rest_.front()) || rest_.front() == '\n', line_,
                "text follows the closing quote of '{}'. Put a blank between them, or double a quote that belongs to "
                "the name.",
                excerpt(word.text));
        return word;
      }
    }
    fail(opened, fmt::format("the quote before '{}' is not closed.", excerpt(word.text)));
  }

  Word plain_word() {
    const std::size_t length = std::min(rest_.find_first_of(" \t\r\n"), rest_.size());
    Word word{std::string(rest_.substr(0, length)), false};
    require(word.text.find('"') == std::string::npos, line_,
            "'{}' has a quote inside. Put a blank before a quoted name; inside one, double the quotes.",
            excerpt(word.text));
    rest_.remove_prefix(length);
    return word;
  }

  int variable(const Word& word, int line) const {
    if (word.is("*")) fail(line, "'*' for every variable is for forbidden edges only. Write the names here.");
    const auto found = index_.find(word.text);
    if (found != index_.end()) return found->second;
    const std::string unknown = fmt::format("no column is called '{}'.", excerpt(word.text));
    const std::string near = nearest_name(word.text, names_);
    if (!near.empty()) fail(line, fmt::format("{} Did you mean '{}'?", unknown, excerpt(near)));
    constexpr std::size_t kShown = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(names_.size(), kShown); ++i) {
      list += fmt::format("{}'{}'", i == 0 ? "" : ", ", excerpt(names_[i]));
    }
    if (names_.size() > kShown) list += fmt::format(" and {} more", names_.size() - kShown);
    fail(line, fmt::format("{} The columns are {}.", unknown, list));
  }

  /// A name, or an unquoted '*' for every variable.
  int variable_or_any(const Word& word, int line) const {
    return word.is("*") ? Statement::kAny : variable(word, line);
  }

  // ---- Statements ----

  void add(Kind kind, int a, int b, int line) {
    const bool pair = kind != Kind::tier && kind != Kind::tier_within && kind != Kind::root && kind != Kind::sink;
    if (pair && a == b && a != Statement::kAny) {
      fail(line, fmt::format("'{}' is paired with itself.", excerpt(names_[static_cast<std::size_t>(a)])));
    }
    statements_.push_back({kind, a, b, line});
  }

  int tier_number(std::string_view text, int line) const {
    int number = -1;
    const auto [after, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    require(code == std::errc{} && after == text.data() + text.size() && number >= 0, line,
            "'{}' is no tier. Tiers are whole numbers, the earliest the smallest.", excerpt(text));
    return number;
  }

  // ---- Our own lines ----

  void parse_lines() {
    while (const auto line = next_line("#")) {
      const Word& rule = line->words[0];
      if (rule.is("forbid") || rule.is("require")) {
        parse_edge(*line);
      } else if (rule.is("tier")) {
        parse_tier(*line);
      } else if (rule.is("root") || rule.is("sink")) {
        require(line->words.size() > 1, line->number, "'{}' names no variable. Write {} a b.", rule.text, rule.text);
        for (std::size_t i = 1; i < line->words.size(); ++i) {
          add(rule.is("root") ? Kind::root : Kind::sink, variable(line->words[i], line->number), Statement::kAny,
              line->number);
        }
      } else if (rule.is("in-boundary") || rule.is("not-in-boundary")) {
        require(line->words.size() == 3, line->number, "'{}' is about two variables, here are {}. Write {} a b.",
                rule.text, line->words.size() - 1, rule.text);
        add(rule.is("in-boundary") ? Kind::in_boundary : Kind::not_in_boundary, variable(line->words[1], line->number),
            variable(line->words[2], line->number), line->number);
      } else {
        const std::vector<std::string> rules = {"forbid", "require",     "tier",           "root",
                                                "sink",   "in-boundary", "not-in-boundary"};
        const std::string near = nearest_name(rule.text, rules);
        fail(line->number,
             fmt::format("'{}' is no rule.{} Rules are {}.", excerpt(rule.text),
                         near.empty() ? "" : fmt::format(" Did you mean '{}'?", near), fmt::join(rules, ", ")));
      }
    }
  }

  void parse_edge(const Line& line) {
    const bool forbid = line.words[0].is("forbid");
    const bool arrow = line.words.size() == 4 && line.words[2].is("->");
    const bool dashes = line.words.size() == 4 && line.words[2].is("--");
    require(arrow || dashes, line.number,
            "write {} a -> b, or {} a -- b for both directions, with blanks around the arrow and names that hold "
            "blanks in double quotes.",
            line.words[0].text, line.words[0].text);
    const auto end = [&](const Word& word) {
      return forbid ? variable_or_any(word, line.number) : variable(word, line.number);
    };
    const int a = end(line.words[1]), b = end(line.words[3]);
    if (!forbid) {
      add(arrow ? Kind::require : Kind::require_link, a, b, line.number);
      return;
    }
    add(Kind::forbid, a, b, line.number);
    if (dashes) add(Kind::forbid, b, a, line.number);
  }

  // tier 1: a b    tier 1 : a b    tier 1 within forbidden
  void parse_tier(const Line& line) {
    std::vector<Word> words(line.words.begin() + 1, line.words.end());
    if (words.size() == 3 && words[1].is("within") && words[2].is("forbidden") && !words[0].quoted) {
      add(Kind::tier_within, Statement::kAny, tier_number(words[0].text, line.number), line.number);
      return;
    }
    const bool apart = words.size() > 1 && words[1].is(":");
    if (apart) {
      words[0].text += ':';
      words.erase(words.begin() + 1);
    }
    const bool colon = words.size() > 1 && !words[0].quoted && words[0].text.ends_with(':');
    require(colon, line.number, "write tier 1: a b c, or tier 1 within forbidden, with a blank after the colon.");
    words[0].text.pop_back();
    const int tier = tier_number(words[0].text, line.number);
    for (std::size_t i = 1; i < words.size(); ++i) {
      add(Kind::tier, variable(words[i], line.number), tier, line.number);
    }
  }

  // ---- CSV ----

  /// The separator of the header from,to,kind, or 0 if the line is not that.
  static char header_separator(std::string_view line) {
    const char* end = line.data() + line.size();
    for (const char separator : {',', ';', '\t'}) {
      const char* p = line.data();
      bool matches = true;
      for (const std::string_view wanted : {"from", "to", "kind"}) {
        const csv::Cell cell = csv::cell_at(p, end, separator, true);
        const bool last = wanted == "kind";
        matches = matches && cell.well_formed && csv::equal_ignoring_case(cell.text.view(), wanted) &&
                  (cell.after == end) == last;
        if (!matches) break;
        p = cell.after + (last ? 0 : 1);
      }
      if (matches) return separator;
    }
    return 0;
  }

  static Word word_of(const csv::Cell& cell) {
    Word word{"", cell.quoted};
    const std::string_view text = cell.text.view();
    for (std::size_t i = 0; i < text.size(); ++i) {
      word.text += text[i];
      if (cell.quoted && text[i] == '"') ++i;  // a doubled quote
    }
    return word;
  }

  void parse_csv(char separator) {
    const char *p = rest_.data(), *const end = p + rest_.size();
    csv::next_line(p, end);
    for (int line = line_ + 1; p != end; ++line) {
      const char* peek = p;
      if (csv::is_blank_line(csv::next_line(peek, end), separator)) {
        p = peek;
        continue;
      }
      const int begun = line;
      std::vector<Word> cells;
      for (bool more = true; more;) {
        const csv::Cell cell = csv::cell_at(p, end, separator, true);
        require(cell.well_formed, begun, "the quotes of cell {} are not closed, or text follows them.",
                cells.size() + 1);
        line += static_cast<int>(std::count(p, cell.after, '\n'));
        cells.push_back(word_of(cell));
        p = cell.after;
        more = p != end && *p == separator;
        if (p != end) ++p;
      }
      require(cells.size() == 3, begun, "{} cell{}, expected from, to and kind.", cells.size(),
              cells.size() == 1 ? "" : "s");
      const bool forbidden = csv::equal_ignoring_case(cells[2].text, "forbidden");
      require(forbidden || csv::equal_ignoring_case(cells[2].text, "required"), begun,
              "the kind is '{}'. Write forbidden or required.", excerpt(cells[2].text));
      const auto variable_of = [&](const Word& word) {
        return forbidden ? variable_or_any(word, begun) : variable(word, begun);
      };
      const int from = variable_of(cells[0]), to = variable_of(cells[1]);
      add(forbidden ? Kind::forbid : Kind::require, from, to, begun);
    }
  }

  // ---- Tetrad ----

  void parse_tetrad() {
    std::string_view section;
    while (const auto line = next_line("//")) {
      const auto heading = std::find_if(std::begin(kTetradSections), std::end(kTetradSections),
                                        [&](std::string_view name) { return line->words[0].is_any_case(name); });
      if (heading != std::end(kTetradSections) && line->words.size() == 1) {
        section = *heading;
      } else if (section == "addtemporal") {
        parse_tetrad_tier(*line);
      } else if (section == "forbiddirect" || section == "requiredirect") {
        parse_tetrad_edge(*line, section == "forbiddirect");
      } else if (section.ends_with("group")) {
        fail(line->number, fmt::format("groups ({}) are not read. Write their pairs under {}.", section,
                                       section == "forbiddengroup" ? "forbiddirect" : "requiredirect"));
      } else {
        fail(line->number, fmt::format("'{}' comes before addtemporal, forbiddirect or requiredirect.",
                                       excerpt(line->words[0].text)));
      }
    }
  }

  // 1 a b, or 1* a b without edges among them
  void parse_tetrad_tier(const Line& line) {
    std::string_view number = line.words[0].text;
    const bool within = number.ends_with('*');
    if (within) number.remove_suffix(1);
    require(!number.ends_with('-'), line.number,
            "'{}', a tier with edges into the next one only, is not read. Forbid the other edges under forbiddirect.",
            excerpt(line.words[0].text));
    const int tier = tier_number(number, line.number);
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      add(Kind::tier, variable(line.words[i], line.number), tier, line.number);
    }
    // Tetrad writes its empty tiers too.
    if (within && line.words.size() > 1) add(Kind::tier_within, Statement::kAny, tier, line.number);
  }

  // a b, or a ==> b as Tetrad itself writes it
  void parse_tetrad_edge(const Line& line, bool forbid) {
    std::vector<Word> words = line.words;
    if (words.size() == 3 && words[1].is("==>")) words.erase(words.begin() + 1);
    require(words.size() == 2, line.number, "{} word{}, expected two names.", words.size(),
            words.size() == 1 ? "" : "s");
    const auto end = [&](const Word& word) {
      return forbid ? variable_or_any(word, line.number) : variable(word, line.number);
    };
    const int from = end(words[0]), to = end(words[1]);
    add(forbid ? Kind::forbid : Kind::require, from, to, line.number);
  }

  std::string_view rest_;  // what is not yet read
  int line_ = 1;           // its first line
  const std::string& file_;
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, int> index_;
  std::vector<Statement> statements_;
};

/// As our own lines need it: in quotes if it holds blanks, quotes or controls, or could be taken for a sign.
std::string written(const std::string& name) {
  const bool plain = !name.empty() && !name.starts_with('#') && name != "*" && name != ":" &&
                     std::none_of(name.begin(), name.end(), [](char c) {
                       return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\x7F';
                     });
  if (plain) return name;
  return in_quotes(name);
}

}  // namespace

Knowledge Knowledge::parse(std::string_view bytes, const std::string& file, const std::vector<std::string>& names) {
  return Knowledge(names, Parser(bytes, file, names).parse(), file);
}

Knowledge load_knowledge(const std::string& path, const std::vector<std::string>& names) {
  const FileView file(path);
  return Knowledge::parse(file.bytes(), path == "-" ? "standard input" : path, names);
}

std::string Knowledge::to_text() const {
  constexpr int kAny = Statement::kAny;
  const auto end = [&](int variable) { return variable == kAny ? std::string("*") : written(name(variable)); };
  std::map<int, std::string> tiers;
  std::string roots, sinks, pairs;
  for (const Statement& s : statements_) {
    switch (s.kind) {
      case Kind::forbid: {
        const bool twice = s.a != s.b && line_of(Kind::forbid, s.b, s.a) != 0;
        if (!twice || s.a < s.b) pairs += fmt::format("forbid {} {} {}\n", end(s.a), twice ? "--" : "->", end(s.b));
        break;
      }
      case Kind::require:
        pairs += fmt::format("require {} -> {}\n", end(s.a), end(s.b));
        break;
      case Kind::require_link:
        pairs += fmt::format("require {} -- {}\n", end(s.a), end(s.b));
        break;
      case Kind::tier:
        tiers[s.b] += fmt::format(" {}", end(s.a));
        break;
      case Kind::root:
        roots += fmt::format(" {}", end(s.a));
        break;
      case Kind::sink:
        sinks += fmt::format(" {}", end(s.a));
        break;
      case Kind::in_boundary:
        pairs += fmt::format("in-boundary {} {}\n", end(s.a), end(s.b));
        break;
      case Kind::not_in_boundary:
        pairs += fmt::format("not-in-boundary {} {}\n", end(s.a), end(s.b));
        break;
      case Kind::tier_within:
        break;
    }
  }
  std::string text;
  for (const auto& [tier, members] : tiers) {
    text += fmt::format("tier {}:{}\n", tier, members);
    if (line_of(Kind::tier_within, kAny, tier) != 0) text += fmt::format("tier {} within forbidden\n", tier);
  }
  if (!roots.empty()) text += fmt::format("root{}\n", roots);
  if (!sinks.empty()) text += fmt::format("sink{}\n", sinks);
  return text + pairs;
}

}  // namespace fansite
