// SPDX-License-Identifier: Apache-2.0
//
// The study as a picture: realised against asked-for shares, and what deciding the sizes costs.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bench/study_rows.h"

namespace study {

struct Style {
  std::string sem, colour;  // Okabe and Ito's colours
  char marker;
};
const std::vector<Style> kStyles = {
    {"gp", "#0072B2", 'o'}, {"mlp", "#D55E00", 's'}, {"linear", "#009E73", '^'}, {"pnl", "#CC79A7", 'd'}};

inline std::string marker(char shape, double x, double y, double r, const std::string& colour, double opacity) {
  const std::string paint =
      fmt::format("fill=\"{}\" fill-opacity=\"{}\" stroke=\"#fff\" stroke-width=\"0.8\"", colour, opacity);
  switch (shape) {
    case 's':
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", x - 0.9 * r,
                         y - 0.9 * r, 1.8 * r, 1.8 * r, paint);
    case '^':
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z\" {}/>\n", x, y - 1.2 * r, 1.15 * r, 2.0 * r,
                         -2.3 * r, paint);
    case 'd':
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}z\" {}/>\n", x, y - 1.3 * r,
                         1.3 * r, 1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r, paint);
    default:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>\n", x, y, r, paint);
  }
}

inline std::string text(double x, double y, const std::string& anchor, const std::string& words,
                        const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, words);
}

inline std::string line(double x1, double y1, double x2, double y2, const std::string& paint) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1, x2, y2, paint);
}

// A square of the page with linear axes, both in percent.
struct Panel {
  double left, top, size;
  double x_low, x_high, y_low, y_high;

  double x(double value) const { return left + size * (value - x_low) / (x_high - x_low); }
  double y(double value) const { return top + size * (y_high - value) / (y_high - y_low); }

  // About five steps of 1, 2 or 5 times a power of ten.
  static double step(double range) {
    const double power = std::pow(10.0, std::floor(std::log10(range / 5)));
    const double rest = range / 5 / power;
    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
  }

  std::string axes(const std::string& title, const std::string& x_label, const std::string& y_label) const {
    const std::string grid = "stroke=\"#e3e3e3\" stroke-width=\"1\"";
    std::string out;
    const double by_x = step(x_high - x_low), by_y = step(y_high - y_low);
    for (int i = 0; x_low + i * by_x <= x_high + 1e-9; ++i) {
      const double value = x_low + i * by_x;
      out += line(x(value), top, x(value), top + size, grid);
      out += text(x(value), top + size + 17, "middle", fmt::format("{:g}", value));
    }
    for (int i = 0; y_low + i * by_y <= y_high + 1e-9; ++i) {
      const double value = y_low + i * by_y;
      out += line(left, y(value), left + size, y(value), grid);
      out += text(left - 7, y(value) + 4, "end", fmt::format("{:g}", value));
    }
    out += line(left, top + size, left + size, top + size, "stroke=\"#333\"");
    out += line(left, top, left, top + size, "stroke=\"#333\"");
    out += text(left + size / 2, top - 14, "middle", title, " font-size=\"14\" font-weight=\"bold\"");
    out += text(left + size / 2, top + size + 38, "middle", x_label);
    out += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       left - 42, top + size / 2, y_label);
    return out;
  }
};

inline std::string calibration_panel(const std::vector<Row>& rows, const std::vector<double>& fdr_levels, int enough) {
  std::map<std::string, std::map<double, std::vector<double>>> rates;
  for (const Row& row : rows) {
    if (row.rows >= enough) rates[row.sem][row.fdr_level].push_back(100 * row.fdr);
  }
  const double x_high = 125 * *std::max_element(fdr_levels.begin(), fdr_levels.end());
  double y_high = kSlack * x_high;
  for (const auto& [sem, by_level] : rates) {
    for (const auto& [fdr_level, sample] : by_level) {
      y_high = std::max(y_high, 1.1 * (mean_and_spread(sample).mean + standard_error(sample)));
    }
  }
  const Panel panel{70, 70, 320, 0, x_high, 0, y_high};
  std::string out =
      panel.axes("Does the FDR level mean what it says?", "asked for: --fdr, %", "realised share of false members, %");
  out += line(panel.x(0), panel.y(0), panel.x(x_high), panel.y(x_high), "stroke=\"#333\" stroke-width=\"1.2\"");
  out += line(panel.x(0), panel.y(0), panel.x(x_high), panel.y(kSlack * x_high),
              "stroke=\"#333\" stroke-width=\"1.2\" stroke-dasharray=\"5 4\"");
  const std::string halo = " paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"4\"";
  out += text(panel.x(x_high) - 4, panel.y(x_high) + 58, "end", "as asked", halo);
  out += text(panel.x(0.9 * x_high) - 16, panel.y(kSlack * 0.9 * x_high), "end",
              fmt::format("target: below {:g} × asked", kSlack), halo);
  double shift = -12;
  for (const Style& style : kStyles) {
    if (!rates.contains(style.sem)) continue;
    for (const auto& [fdr_level, sample] : rates[style.sem]) {
      const double mean = mean_and_spread(sample).mean, error = standard_error(sample);
      const double x = panel.x(100 * fdr_level) + shift;
      const double high = panel.y(mean + error), low = panel.y(std::max(0.0, mean - error));
      const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"1.6\"", style.colour);
      out +=
          line(x, high, x, low, stroke) + line(x - 4, high, x + 4, high, stroke) + line(x - 4, low, x + 4, low, stroke);
      out += marker(style.marker, x, panel.y(mean), 5.5, style.colour, 1);
    }
    shift += 8;
  }
  return out;
}

inline std::string size_panel(const std::vector<Row>& rows, double first_level) {
  double low = 100;
  for (const Row& row : rows) low = std::min(low, 100 * std::min(row.f1, row.oracle_f1));
  low = std::max(0.0, 10 * std::floor(low / 10));
  const Panel panel{510, 70, 320, low, 100, low, 100};
  std::string out = panel.axes("What does deciding the size cost?", "F1 if told the true sizes, %",
                               fmt::format("F1 with sizes decided at --fdr {}, %", first_level));
  out += line(panel.x(low), panel.y(low), panel.x(100), panel.y(100), "stroke=\"#333\" stroke-width=\"1.2\"");
  for (const Style& style : kStyles) {
    for (const Row& row : rows) {
      if (row.sem != style.sem || row.fdr_level != first_level) continue;
      out += marker(style.marker, panel.x(100 * row.oracle_f1), panel.y(100 * row.f1), 4.5, style.colour, 0.75);
    }
  }
  return out;
}

inline void write_svg(const std::vector<Row>& rows, const std::vector<double>& fdr_levels, const std::string& path) {
  std::map<std::string, std::set<std::pair<int, int>>> tables;
  bool large = false;
  for (const Row& row : rows) {
    tables[row.sem].insert({row.setting, row.seed});
    large = large || row.rows >= kEnoughRows;
  }
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 480\" width=\"860\" height=\"480\" role=\"img\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      "<title>Realised share of false members against the FDR level; F1 with sizes decided against F1 with sizes "
      "told</title>\n<rect width=\"860\" height=\"480\" fill=\"#ffffff\"/>\n";
  out += calibration_panel(rows, fdr_levels, large ? kEnoughRows : 0) + size_panel(rows, fdr_levels.front());
  double x = 70;
  for (const Style& style : kStyles) {
    if (!tables.contains(style.sem)) continue;
    out += marker(style.marker, x + 6, 22, 5.5, style.colour, 1);
    const std::string label = fmt::format("{} ({} tables)", style.sem, tables[style.sem].size());
    out += text(x + 17, 26, "start", label);
    x += 40 + 6.6 * static_cast<double>(label.size());
  }
  out += text(70, 464, "start",
              fmt::format("Left: mean and standard error over tables{}. Right: a point per table.",
                          large ? fmt::format(" of {} rows or more", kEnoughRows) : ""),
              " font-size=\"11\" fill=\"#666\"");
  out += "</svg>\n";
  std::ofstream file(path);
  file << out;
  check(static_cast<bool>(file.flush()), "[study] {} cannot be written", path);
}

}  // namespace study
