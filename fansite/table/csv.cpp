// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/csv.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/detail/csv_text.h"
#include "fansite/table/detail/gzip.h"

namespace fansite {
namespace {

using namespace csv;  // the grammar

// ---- The first row --------------------------------------------------------------------------------------------------

bool is_number(std::string_view name) {
  double value;
  return parse_number(name, value);
}

/// The cells of a line that `text` begins with; none if its quotes are not in order.
std::vector<std::string_view> cells_of(Span line, char separator) {
  std::vector<std::string_view> cells;
  bool well_formed = true;
  each_cell(line, separator, [&](Index, const Cell& cell) {
    cells.push_back(cell.text.view());
    well_formed = well_formed && cell.well_formed;
  });
  return well_formed ? cells : std::vector<std::string_view>();
}

bool any_number(const std::vector<std::string_view>& cells) {
  return std::any_of(cells.begin(), cells.end(), is_number);
}

/// Whether the rows have as many words, two or more, or all one more, a row name. Two words without any number may as
/// well be one cell.
bool blanks_separate(std::string_view text, bool header) {
  constexpr int kLines = 100;
  std::size_t words = 0, more = 0;
  bool number = false;
  int lines = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end && lines < kLines;) {
    const Span line = next_line(p, end);
    if (is_blank_line(line, ' ') || (lines > 0 && *line.begin == '#')) continue;
    const std::vector<std::string_view> cells = cells_of(line, ' ');
    if (lines == 0) words = cells.size();
    if (lines == 1 && header && cells.size() == words + 1) more = 1;
    if (cells.size() < 2 || cells.size() != words + (lines > 0 ? more : 0)) return false;
    number = number || ((lines > 0 || !header) && any_number(cells));
    ++lines;
  }
  return lines > (header ? 1 : 0) && (number || words > 2);
}

/// The separator of the first row, counted outside quotes. Without a header a comma may be a decimal sign, so any
/// semicolon or tab outweighs it.
char detect_separator(std::string_view text, bool header) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false, cell_start = true;
  for (std::size_t i = 0; i < text.size() && (quoted || text[i] != '\n'); ++i) {
    const char c = text[i];
    if (quoted) {
      const bool escape = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
      if (escape) ++i;
      if (c == '"' && !escape) quoted = false;
      continue;
    }
    quoted = c == '"' && cell_start;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
    cell_start = c == ',' || c == ';' || c == '\t' || (cell_start && c == ' ');
  }
  if (commas + semicolons + tabs == 0 && blanks_separate(text, header)) return ' ';
  if (!header && semicolons + tabs > 0) commas = 0;
  if (tabs > std::max(commas, semicolons)) return '\t';
  return semicolons > commas ? ';' : ',';
}

void check_names(const std::vector<std::string>& names, const std::string& place) {
  // Repeated or empty names are what a headerless file looks like.
  const bool like_data = std::all_of(names.begin(), names.end(),
                                     [](const std::string& name) { return is_missing(name) || is_number(name); });
  const auto fix = [&](const char* otherwise) {
    return like_data ? "the first row looks like data; if the file has no names, use --no-header" : otherwise;
  };
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    check_data(is_utf8(names[i]) && names[i].find('\0') == std::string::npos,
               "[load_csv] {}: the name of column {}, '{}', is not UTF-8 text. Save the file as UTF-8.", place, i + 1,
               excerpt(names[i]));
    check_data(!names[i].empty(), "[load_csv] {}: column {} of {} has no name; {}.", place, i + 1, names.size(),
               fix(i == 0 ? "if it holds row names, drop it (pandas: index=False; R: row.names=FALSE), else name it"
                          : "name it, or drop it if each line just ends in a separator"));
    const auto [other, fresh] = seen.emplace(names[i], i);
    check_data(fresh, "[load_csv] {}: columns {} and {} are both called '{}'; {}.", place, other->second + 1, i + 1,
               excerpt(names[i]), fix("rename one of them"));
  }
}

// ---- The body -------------------------------------------------------------------------------------------------------

std::vector<Chunk> split_lines(Span body, std::size_t chunk_bytes) {
  std::vector<Chunk> chunks;
  for (const char* begin = body.begin; begin != body.end;) {
    const char* end = body.end;
    if (static_cast<std::size_t>(body.end - begin) > chunk_bytes) {
      const char* from = begin + std::max<std::size_t>(chunk_bytes, 1) - 1;
      const auto* newline =
          static_cast<const char*>(std::memchr(from, '\n', static_cast<std::size_t>(body.end - from)));
      if (newline != nullptr) end = newline + 1;
    }
    chunks.push_back({.text = {begin, end}});
    begin = end;
  }
  return chunks;
}

void count_rows(const Table& table, std::vector<Chunk>& chunks) {
  parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), [&](std::ptrdiff_t i) {
    Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    for (const char* p = chunk.text.begin; p != chunk.text.end;) {
      chunk.rows += table.counts(next_line(p, chunk.text.end));
      ++chunk.lines;
    }
  });
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    chunks[i].first_line = chunks[i - 1].first_line + chunks[i - 1].lines;
    chunks[i].first_row = chunks[i - 1].first_row + chunks[i - 1].rows;
  }
}

/// Copies `rows` parsed rows to their place in the column-major table, eight columns at a time: a tile's cache lines
/// are read once and each column is written in one run.
void scatter(const std::vector<double>& block, Index rows, Index first_row, Matrix& values) {
  const Index columns = values.cols();
  for (Index tile = 0; tile < columns; tile += 8) {
    const Index tile_end = std::min(tile + 8, columns);
    for (Index column = tile; column < tile_end; ++column) {
      double* out = values.data() + column * values.rows() + first_row;
      const double* in = block.data() + column;
      for (Index row = 0; row < rows; ++row) out[row] = in[row * columns];
    }
  }
}

/// Parses a chunk of plain numbers into `values`.
void parse_chunk(const Table& table, Chunk& chunk, Matrix& values) {
  const Index columns = table.columns();
  // Rows parsed before they are scattered: enough for runs of cache lines, few enough to stay in a core's own cache.
  const Index block_rows = std::min(chunk.rows, std::clamp<Index>((Index{1} << 16) / columns, 16, 256));
  std::vector<double> block(static_cast<std::size_t>(block_rows * columns));
  Index row = chunk.first_row, held = 0;
  for (const char* p = chunk.text.begin; p != chunk.text.end;) {
    const Span line = next_line(p, chunk.text.end);
    if (!table.counts(line)) continue;
    if (!parse_line(line, table.separator, columns, block.data() + held * columns)) {
      chunk.parsed = false;
      return;
    }
    if (++held < block_rows) continue;
    scatter(block, held, row, values);
    row += held;
    held = 0;
  }
  if (held > 0) scatter(block, held, row, values);
}

constexpr std::size_t kNoZeroBytes = std::size_t{1} << 16;       // bytes in which a zero byte tells that it is no text
constexpr std::size_t kLongestFirstLine = std::size_t{1} << 26;  // names of a million columns are a tenth of it

void check_zero_bytes(std::string_view beginning, const std::string& where) {
  beginning = beginning.substr(0, kNoZeroBytes);
  if (beginning.find('\0') == std::string_view::npos) return;
  check_data(beginning.find_first_not_of('\0') != std::string_view::npos,
             "[load_csv] {} begins with nothing but zero bytes: it was made but never filled. Write it again.", where);
  throw DataError(fmt::format(
      "[load_csv] {} has zero bytes, as binary files and UTF-16 text have. Save the table as UTF-8 CSV.", where));
}

/// Of a whole file, or of one that is too long for a single line.
void check_line_ends(std::string_view text, const std::string& where) {
  const std::string_view first = text.substr(0, kLongestFirstLine);
  if (first.find('\n') != std::string_view::npos) return;
  check_data(first.find('\r') == std::string_view::npos,
             "[load_csv] {} ends its lines with CR alone. Save it with LF or CRLF line ends.", where);
  check_data(
      text.size() < kLongestFirstLine,
      "[load_csv] {} has no line end in its first {} MB, so it is no CSV. Give a file with one row in each line.",
      where, kLongestFirstLine >> 20);
}

/// Settles the separator, past blank lines and comments; returns where the first row begins, which may be the names in
/// the last comment.
const char* begin_of_rows(const char* p, const char* end, const CsvOptions& options, Table& table) {
  const auto separator_of = [&](const char* rows) {
    const std::string_view text{rows, static_cast<std::size_t>(end - rows)};
    return options.separator != '\0' ? options.separator : detect_separator(text, options.header);
  };
  const char* comment = nullptr;  // after its #
  Index lines_before = 0;
  for (const char* after = p; p != end; p = after) {
    const Span line = next_line(after, end);
    const bool blank = is_blank_line(line, '\t');
    if (!blank && *line.begin != '#') break;
    if (!blank && !options.header && is_missing(cell_at(line.begin, line.end, separator_of(p)).text.view())) break;
    if (!blank) {
      comment = line.begin + 1;
      lines_before = table.header_lines;
    }
    ++table.header_lines;
  }
  if (p != end && options.header && comment != nullptr) {
    table.separator = separator_of(comment);
    const char *names_end = comment, *row_end = p;
    const Span names = next_line(names_end, end);
    const std::vector<std::string_view> cells = cells_of(next_line(row_end, end), table.separator);
    const bool as_many = cells.size() > 1 && cells_of(names, table.separator).size() == cells.size();
    if (as_many && (!is_blank(*comment, '\0') || any_number(cells))) {
      table.header_lines = lines_before;
      return comment;
    }
  }
  table.separator = separator_of(p);
  return p;
}

/// Settles separator, names and where the body is.
Table read_first_row(std::string_view text, const std::string& where, const CsvOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_beginning(text, where);
  check_line_ends(text, where);
  Table table;
  table.where = where;
  const char* p = text.data();
  const char* end = p + text.size();
  while (end != p && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' ')) --end;
  check_data(end != p, "[load_csv] {} is empty. It needs a header of names and rows of numbers.", where);
  p = begin_of_rows(p, end, options, table);
  check_data(p != end, "[load_csv] {} holds nothing but comments. It needs a header of names and rows of numbers.",
             where);
  while (end != p && (end[-1] == '\n' || end[-1] == '\r' || is_blank(end[-1], table.separator))) --end;
  const char* first_row = p;
  for (;; ++p) {
    const Cell cell = cell_at(p, end, table.separator, true);
    check_data(cell.well_formed,
               "[load_csv] {} line {}: a quote is not closed, or text follows it, in cell {}. Write \"\" for a quote "
               "inside quotes.",
               where, table.header_lines + 1, table.names.size() + 1);
    table.names.push_back(cell.quoted ? unescaped(cell.text.view()) : std::string(cell.text.view()));
    p = cell.after;
    if (p == end || *p == '\n') break;
  }
  if (options.header) {
    // A spreadsheet may write columns that it has once used. Their cells must be empty too.
    while (table.names.size() > 1 && table.names.back().empty()) {
      table.names.pop_back();
      ++table.padding;
    }
    check_names(table.names, fmt::format("{} line {}", where, table.header_lines + 1));
    if (p != end) ++p;
    table.header_lines += std::count(first_row, p, '\n');
    table.body = {p, end};
    check_data(p != end, "[load_csv] {} has a header but no rows. It needs rows of numbers below the names.", where);
  } else {
    table.names = default_names(static_cast<int>(table.names.size()));
    table.body = {first_row, end};
  }
  return table;
}

/// Rows of nothing but separators at the end, as spreadsheets write them, do not count.
void drop_empty_rows(Table& table) {
  const auto is_nothing = [&](char c) { return c == table.separator || c == '\r' || is_blank(c, table.separator); };
  while (table.columns() + table.padding > 1 && table.body.end != table.body.begin) {
    const char* line = table.body.end;
    while (line != table.body.begin && is_nothing(line[-1])) --line;
    const bool whole = line == table.body.begin || line[-1] == '\n';
    if (!whole) break;
    table.body.end = line == table.body.begin ? line : line - 1;
  }
  check_data(table.body.begin != table.body.end,
             "[load_csv] {} has a header but no rows. It needs rows of numbers below the names.", table.where);
}

}  // namespace

void check_beginning(std::string_view beginning, const std::string& where) {
  check_data(!beginning.starts_with("\xFF\xFE") && !beginning.starts_with("\xFE\xFF"),
             "[load_csv] {} is UTF-16 text. Save it as UTF-8.", where);
  check_data(!is_gzip(beginning) && !beginning.starts_with("PK\x03\x04"),
             "[load_csv] {} is compressed. Unpack it first.", where);
  check_zero_bytes(beginning, where);
  if (beginning.size() >= kLongestFirstLine) check_line_ends(beginning, where);
}

Dataset parse_csv(std::string_view text, const std::string& where, const CsvOptions& options) {
  Table table = read_first_row(text, where, options);
  if (options.left_out) table.left_out = options.left_out(table.names);
  drop_empty_rows(table);
  std::vector<Chunk> chunks = split_lines(table.body, options.chunk_bytes);
  count_rows(table, chunks);
  const Index rows = chunks.back().first_row + chunks.back().rows;
  check_data(rows > 0, "[load_csv] {} has no rows but comments. It needs rows of numbers.", where);

  // A full row has at least one byte per cell. If the text is too short for that, a row is ragged, and finding it comes
  // before asking for the memory of a table that is not there.
  if (rows > (table.body.end - table.body.begin + 1) / table.columns()) check_lines(table, chunks);
  if (!options.labels.empty()) return parse_text(std::move(table), chunks, options);

  Matrix values(rows, table.columns());
  prefer_large_pages(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
  std::atomic<bool> parsed = true;
  parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), [&](std::ptrdiff_t i) {
    if (!parsed.load(std::memory_order_relaxed)) return;  // the rest is parsed again
    Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    parse_chunk(table, chunk, values);
    if (!chunk.parsed) parsed.store(false, std::memory_order_relaxed);
  });
  if (!parsed) {
    values.resize(0, 0);
    return parse_text(std::move(table), chunks, options);
  }
  return {std::move(table.names), std::move(values)};
}

// ---- Writing --------------------------------------------------------------------------------------------------------

namespace {

/// Quoted unless it reads back as it is; any separator counts, so that detection cannot be misled. `alone`: there is no
/// other column, so that blanks may seem to separate.
std::string quoted_name(const std::string& name, bool alone) {
  const bool plain = !name.empty() && name.find_first_of(",;\t\"\r\n") == std::string::npos && name.front() != ' ' &&
                     name.back() != ' ' && name.front() != '#' && !name.starts_with("\xEF\xBB\xBF") &&
                     !(alone && name.find(' ') != std::string::npos);
  if (plain) return name;
  return in_quotes(name);
}

std::string header_line(const Dataset& data, char separator) {
  std::string line;
  for (const std::string& name : data.names) {
    if (!line.empty()) line += separator;
    line += quoted_name(name, data.names.size() == 1);
  }
  return line + '\n';
}

/// The labels of each column as they are written; none where its numbers are.
std::vector<std::vector<std::string>> quoted_labels(const Dataset& data) {
  std::vector<std::vector<std::string>> labels(data.names.size());
  for (std::size_t j = 0; j < data.columns.size(); ++j) {
    for (const std::string& level : data.columns[j].levels)
      labels[j].push_back(quoted_name(level, data.columns.size() == 1));
  }
  return labels;
}

std::string format_rows(const Matrix& values, const std::vector<std::vector<std::string>>& labels, Index first,
                        Index rows, char separator) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> block = values.middleRows(first, rows);
  std::string text;
  text.reserve(static_cast<std::size_t>(block.size()) * 20);
  char digits[32];
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < block.cols(); ++column) {
      if (column > 0) text += separator;
      const double value = block(row, column);
      if (std::isnan(value)) {
        if (column == 0 && block.row(row).array().isNaN().all()) text += "\"\"";
        continue;
      }
      const auto& levels = labels[static_cast<std::size_t>(column)];
      if (!levels.empty()) {
        text += levels.at(static_cast<std::size_t>(value));
        continue;
      }
      const auto [end, code] = std::to_chars(digits, digits + sizeof digits, value);
      text.append(digits, end);
    }
    text += '\n';
  }
  return text;
}

/// Hands the text to `sink` in order, in pieces formatted side by side.
template <class Sink>
void format(const Dataset& data, char separator, Sink&& sink) {
  check(data.names.size() == static_cast<std::size_t>(data.variables()),
        "[save_csv] {} names for {} columns. Give one per column.", data.names.size(), data.variables());
  sink(header_line(data, separator));
  const auto labels = quoted_labels(data);
  const Index piece_rows = std::clamp<Index>((Index{1} << 16) / std::max(data.variables(), 1), 16, 4096);
  const Index pieces = (data.rows() + piece_rows - 1) / piece_rows;
  constexpr Index kTogether = 32;  // pieces in memory at once
  std::vector<std::string> texts(kTogether);
  for (Index first = 0; first < pieces; first += kTogether) {
    const Index count = std::min(kTogether, pieces - first);
    parallel_for(count, [&](std::ptrdiff_t i) {
      const Index row = (first + i) * piece_rows;
      texts[static_cast<std::size_t>(i)] =
          format_rows(data.values, labels, row, std::min(piece_rows, data.rows() - row), separator);
    });
    for (Index i = 0; i < count; ++i) sink(texts[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

std::string to_csv(const Dataset& data, char separator) {
  std::string text;
  format(data, separator, [&](const std::string& piece) { text += piece; });
  return text;
}

void write_csv(const Dataset& data, OutputFile& file, char separator) {
  format(data, separator, [&](const std::string& piece) { file.write(piece); });
}

}  // namespace fansite
