// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/detail/csv_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/detail/csv_numbers.h"
#include "fansite/table/labels.h"

namespace fansite::csv {
namespace {

// ---- Lines ----------------------------------------------------------------------------------------------------------

/// Calls visit(row, line number within the chunk, line) for each row of a chunk.
template <class Visit>
void each_row(const Table& table, const Chunk& chunk, const Visit& visit) {
  Index row = chunk.first_row, number = 0;
  for (const char* p = chunk.text.begin; p != chunk.text.end; ++number) {
    const Span line = next_line(p, chunk.text.end);
    if (table.counts(line)) visit(row++, number, line);
  }
}

/// What is wrong with the cells of a line as such; "": nothing.
std::string broken(const Table& table, Span line) {
  Index quote = -1, unnamed = -1;
  const Index cells = each_cell(line, table.separator, [&](Index column, const Cell& cell) {
    if (!cell.well_formed && quote < 0) quote = column;
    if (column >= table.columns() && (cell.quoted || cell.text.begin != cell.text.end) && unnamed < 0) unnamed = column;
  });
  if (quote >= 0) {
    return fmt::format("a quote is not closed, or text follows it, in cell {}. A cell cannot go over several lines.",
                       quote + 1);
  }
  if (cells < table.columns() || cells > table.columns() + table.padding) {
    return fmt::format("{} cell{}, expected {}. {}", cells, cells == 1 ? "" : "s", table.columns(),
                       cells < table.columns()
                           ? "Is a cell or a separator missing?"
                           : "Does the row begin with a row name, end in a separator or use decimal commas?");
  }
  if (unnamed >= 0) return fmt::format("column {} has cells but no name; name it.", unnamed + 1);
  if (line.begin != line.end && *line.begin == '#' && table.columns() > 1) {
    const std::string_view first = cell_at(line.begin, line.end, table.separator).text.view();
    if (!is_missing(first)) {
      return fmt::format(
          "the line can be a comment or a row that begins with '{}'. Write a blank after the # of a "
          "comment, or quotes around the cell.",
          excerpt(first));
    }
  }
  return "";
}

Index line_of_row(const Table& table, const std::vector<Chunk>& chunks, Index wanted) {
  const auto after = std::upper_bound(chunks.begin(), chunks.end(), wanted,
                                      [](Index row, const Chunk& chunk) { return row < chunk.first_row; });
  Index line = 0;
  const Chunk& chunk = *(after - 1);
  each_row(table, chunk, [&](Index row, Index number, Span) {
    if (row == wanted) line = number;
  });
  return table.header_lines + chunk.first_line + line + 1;
}

// ---- Columns --------------------------------------------------------------------------------------------------------

/// The cells of a column that is not all plain numbers.
struct TextColumn {
  Index column;
  bool labels;  // declared to hold labels
  std::vector<std::string_view> cells;
  std::vector<char> quoted;
};

/// What is wrong with a column, and where it is seen.
struct Complaint {
  Index row = 0, column = 0;
  bool of_line = true;  // of that line, else of the whole column
  std::string sentence;
};

constexpr std::array<NumberStyle, 6> kStyles = {{{Notation::plain, false},
                                                 {Notation::commas, false},
                                                 {Notation::decimal_comma, false},
                                                 {Notation::plain, true},
                                                 {Notation::commas, true},
                                                 {Notation::decimal_comma, true}}};

/// Whether `text` is two or more numbers with `mark` between them.
bool numbers_between(std::string_view text, char mark) {
  double value;
  for (bool several = false;; several = true) {
    const std::size_t at = text.find(mark);
    if (!parse_number(text.substr(0, at), value)) return false;
    if (at == std::string_view::npos) return several;
    text.remove_prefix(at + 1);
  }
}

bool is_unseparated_row(std::string_view text) {
  for (const char mark : {',', ';', '\t', ' ', '|'}) {
    if (numbers_between(text, mark)) return true;
  }
  return false;
}

bool is_absent(std::string_view text) {
  double value;
  return is_missing(text) || (parse_number(text, value) && std::isnan(value));  // "-nan(ind)", as C prints it
}

/// Reads one column into the table's values, or says what is wrong with it.
class Reader {
 public:
  Reader(const Table& table, const TextColumn& text, const CsvOptions& options)
      : table_(table), text_(text), options_(options) {
    for (std::size_t row = 0; row < text.cells.size(); ++row) {
      if (!is_absent(text.cells[row])) present_.push_back(row);
    }
    // Beside nothing but +, a - is the other sign: the strand of a gene, the outcome of a test.
    if (present_.empty() || std::any_of(present_.begin(), present_.end(), [&](auto row) { return cell(row) != "+"; })) {
      return;
    }
    present_.clear();
    for (std::size_t row = 0; row < text.cells.size(); ++row) {
      if (cell(row) == "-" || !is_absent(cell(row))) present_.push_back(row);
    }
  }

  std::optional<Complaint> read(Eigen::Ref<Vector> values, Column& column) {
    std::array<std::size_t, kStyles.size()> counts{};
    for (const std::size_t row : present_) {
      for (std::size_t s = 0; s < kStyles.size(); ++s) counts[s] += is_number(row, kStyles[s]);
    }
    if (text_.labels && (counts[0] < present_.size() || has_leading_zeros())) return read_levels(values, column);
    const auto best = static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    if (!options_.text && counts[0] < present_.size()) return mistake(kStyles[0]);
    if (counts[best] == present_.size()) return read_numbers(counts, values);
    if (2 * counts[best] >= present_.size()) return mistake(kStyles[best]);
    if (table_.columns() == 1 && is_unseparated_row(cell(present_[0]))) return unseparated(present_[0]);
    if (auto complaint = unusable()) return complaint;
    return read_levels(values, column);
  }

 private:
  std::string_view cell(std::size_t row) const { return text_.cells[row]; }
  bool is_number(std::size_t row, NumberStyle style) const {
    double value;
    return parse_styled(cell(row), style, value);
  }
  std::string label(std::size_t row) const {
    return text_.quoted[row] != 0 ? unescaped(cell(row)) : std::string(cell(row));
  }
  std::string name() const { return excerpt(table_.names[static_cast<std::size_t>(text_.column)]); }
  Complaint complaint(std::size_t row, bool of_line, std::string sentence) const {
    return {static_cast<Index>(row), text_.column, of_line, std::move(sentence)};
  }

  /// Numbers such as 007 are names: their zeros would be lost. Other declared labels that are all numbers stay numbers,
  /// so that 1 and 1.0 are one level and 10 comes after 9.
  bool has_leading_zeros() const {
    return std::any_of(present_.begin(), present_.end(), [&](std::size_t row) {
      const std::string_view text = cell(row);
      return text.size() > 1 && text[0] == '0' && text.find_first_not_of("0123456789") == std::string_view::npos;
    });
  }

  /// All cells are numbers in some style. The separator tells which of two is meant by 1,234.
  std::optional<Complaint> read_numbers(const std::array<std::size_t, kStyles.size()>& counts,
                                        Eigen::Ref<Vector> values) {
    std::vector<NumberStyle> possible;
    for (std::size_t s = 0; s < kStyles.size(); ++s) {
      if (counts[s] == present_.size()) possible.push_back(kStyles[s]);
    }
    const bool two = possible.size() > 1 && possible[0].notation == Notation::commas;
    if (two && (table_.separator == '\t' || table_.separator == ' ')) {
      for (const std::size_t row : present_) {
        if (cell(row).find(',') == std::string_view::npos) continue;
        return complaint(
            row, true,
            fmt::format("column '{}' holds '{}', which can be a thousand or a decimal comma. Write numbers "
                        "with decimal points, without marks between thousands.",
                        name(), excerpt(cell(row))));
      }
    }
    const NumberStyle style = two && table_.separator != ',' ? possible[1] : possible[0];
    for (const std::size_t row : present_) parse_styled(cell(row), style, values[static_cast<Index>(row)]);
    return std::nullopt;
  }

  Complaint unseparated(std::size_t row) const {
    return complaint(row, true,
                     fmt::format("column '{}' holds the text '{}'. Separate cells with commas, semicolons, tabs or "
                                 "blanks, as in the header.",
                                 name(), excerpt(cell(row))));
  }

  /// The first cell that is no number in the style of the others.
  Complaint mistake(NumberStyle style) const {
    const std::size_t row =
        *std::find_if(present_.begin(), present_.end(), [&](std::size_t r) { return !is_number(r, style); });
    if (table_.columns() == 1 && is_unseparated_row(cell(row))) return unseparated(row);
    const bool otherwise =
        std::any_of(kStyles.begin(), kStyles.end(), [&](const NumberStyle& other) { return is_number(row, other); });
    const auto like =
        std::find_if(present_.begin(), present_.end(), [&](std::size_t r) { return is_number(r, style); });
    if (otherwise && like != present_.end()) {
      return complaint(row, true,
                       fmt::format("column '{}' holds '{}', but other numbers of it are written like '{}'. Write all "
                                   "numbers of a column alike.",
                                   name(), excerpt(cell(row)), excerpt(cell(*like))));
    }
    return complaint(
        row, true,
        options_.text
            ? fmt::format("column '{}' holds the text '{}' among numbers. Correct it, leave it empty if it is missing, "
                          "or use the column as labels with --kind {}=nominal.",
                          name(), excerpt(cell(row)), name())
            : fmt::format("column '{}' holds the text '{}'. Cells must be numbers.", name(), excerpt(cell(row))));
  }

  /// Text that can be no level.
  std::optional<Complaint> unusable() const {
    std::vector<std::string_view> cells;
    for (const std::size_t row : present_) cells.push_back(cell(row));
    std::string sentence =
        why_no_levels(table_.names[static_cast<std::size_t>(text_.column)], text_.column == 0, cells);
    if (sentence.empty()) return std::nullopt;
    return complaint(present_[0], false, std::move(sentence));
  }

  std::optional<Complaint> read_levels(Eigen::Ref<Vector> values, Column& column) const {
    std::unordered_map<std::string, double> level_of;
    for (const std::size_t row : present_) {
      const auto [entry, fresh] = level_of.try_emplace(label(row), 0);
      if (!fresh) continue;
      if (!is_utf8(entry->first) || entry->first.find('\0') != std::string::npos) {
        return complaint(row, true,
                         fmt::format("column '{}' holds '{}', which is not UTF-8 text. Save the file as UTF-8.", name(),
                                     excerpt(entry->first)));
      }
      column.levels.push_back(entry->first);
    }
    std::sort(column.levels.begin(), column.levels.end());
    for (std::size_t level = 0; level < column.levels.size(); ++level) {
      level_of[column.levels[level]] = static_cast<double>(level);
    }
    values.setConstant(kMissing);
    for (const std::size_t row : present_) values[static_cast<Index>(row)] = level_of.at(label(row));
    column.kind = ColumnKind::nominal;
    return std::nullopt;
  }

  const Table& table_;
  const TextColumn& text_;
  const CsvOptions& options_;
  std::vector<std::size_t> present_;  // rows
};

/// Fills the values of columns that are plain numbers; returns which are not, or are to be labels.
std::vector<TextColumn> read_plain(const Table& table, const std::vector<Chunk>& chunks, const CsvOptions& options,
                                   Matrix& values) {
  const auto columns = static_cast<std::size_t>(table.columns());
  std::vector<std::vector<char>> odd(chunks.size(), std::vector<char>(columns, 0));
  parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), [&](std::ptrdiff_t i) {
    std::vector<char>& mine = odd[static_cast<std::size_t>(i)];
    each_row(table, chunks[static_cast<std::size_t>(i)], [&](Index row, Index, Span line) {
      each_cell(line, table.separator, [&](Index column, const Cell& cell) {
        if (column >= table.columns()) return;
        double value = kMissing;
        if (!parse_value(cell, table.separator, value)) mine[static_cast<std::size_t>(column)] = 1;
        values(row, column) = value;
      });
    });
  });
  std::vector<TextColumn> found;
  for (std::size_t column = 0; column < columns; ++column) {
    const bool labels =
        std::find(options.labels.begin(), options.labels.end(), table.names[column]) != options.labels.end();
    const bool text = std::any_of(odd.begin(), odd.end(), [&](const auto& marks) { return marks[column] != 0; });
    if ((!labels && !text) || table.is_left_out(column)) continue;
    const auto rows = static_cast<std::size_t>(values.rows());
    found.push_back({static_cast<Index>(column), labels, std::vector<std::string_view>(rows), std::vector<char>(rows)});
  }
  return found;
}

/// The cells of these columns, each without blanks and tabs around it, so that 'male ' is 'male'.
void read_cells(const Table& table, const std::vector<Chunk>& chunks, std::vector<TextColumn>& columns) {
  std::vector<TextColumn*> place(static_cast<std::size_t>(table.columns()), nullptr);
  for (TextColumn& text : columns) place[static_cast<std::size_t>(text.column)] = &text;
  parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), [&](std::ptrdiff_t i) {
    each_row(table, chunks[static_cast<std::size_t>(i)], [&](Index row, Index, Span line) {
      each_cell(line, table.separator, [&](Index column, const Cell& cell) {
        TextColumn* text = column < table.columns() ? place[static_cast<std::size_t>(column)] : nullptr;
        if (text == nullptr) return;
        text->cells[static_cast<std::size_t>(row)] = trimmed(cell.text, ',').view();
        text->quoted[static_cast<std::size_t>(row)] = cell.quoted ? 1 : 0;
      });
    });
  });
}

}  // namespace

bool Table::is_comment(Span line) const {
  if (is_missing(cell_at(line.begin, line.end, separator).text.view())) return false;
  if (columns() == 1 || line.end - line.begin == 1 || is_blank(line.begin[1], separator)) return true;
  double value;
  const std::string_view first = cell_at(line.begin + 1, line.end, separator).text.view();
  return parse_number(first, value) || each_cell(line, separator, [](Index, const Cell&) {}) != columns();
}

void check_lines(const Table& table, const std::vector<Chunk>& chunks) {
  std::vector<std::pair<Index, std::string>> found(chunks.size(), {-1, ""});
  parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), [&](std::ptrdiff_t i) {
    auto& [bad, sentence] = found[static_cast<std::size_t>(i)];
    const Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    Index number = 0;
    for (const char* p = chunk.text.begin; p != chunk.text.end && bad < 0; ++number) {
      const Span line = next_line(p, chunk.text.end);
      if (!table.counts(line)) continue;
      sentence = broken(table, line);
      if (!sentence.empty()) bad = number;
    }
  });
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    check_data(found[i].first < 0, "[load_csv] {} line {}: {}", table.where,
               table.header_lines + chunks[i].first_line + found[i].first + 1, found[i].second);
  }
}

Dataset parse_text(Table table, const std::vector<Chunk>& chunks, const CsvOptions& options) {
  check_lines(table, chunks);
  Matrix values(chunks.back().first_row + chunks.back().rows, table.columns());
  std::vector<TextColumn> columns = read_plain(table, chunks, options, values);
  read_cells(table, chunks, columns);
  std::vector<Column> about(table.names.size());
  std::vector<std::optional<Complaint>> complaints(columns.size());
  parallel_for(static_cast<std::ptrdiff_t>(columns.size()), [&](std::ptrdiff_t i) {
    const auto at = static_cast<std::size_t>(i);
    const Index column = columns[at].column;
    complaints[at] =
        Reader(table, columns[at], options).read(values.col(column), about[static_cast<std::size_t>(column)]);
  });
  const Complaint* first = nullptr;
  for (const auto& complaint : complaints) {
    if (complaint && (first == nullptr || complaint->row < first->row)) first = &*complaint;
  }
  if (first != nullptr) {
    const std::string line =
        first->of_line ? fmt::format(" line {}", line_of_row(table, chunks, first->row)) : std::string();
    throw DataError(fmt::format("[load_csv] {}{}: {}", table.where, line, first->sentence));
  }
  Dataset data{std::move(table.names), std::move(values)};
  if (std::any_of(about.begin(), about.end(), [](const Column& column) { return column != Column{}; })) {
    data.columns = std::move(about);
  }
  return data;
}

}  // namespace fansite::csv
