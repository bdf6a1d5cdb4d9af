// SPDX-License-Identifier: Apache-2.0
//
// How fast tables load: CSV of 6 and of 17 digits, and .npy, on one thread and on all.
//   bench_csv [ROWS [COLUMNS]]     default 5000 5000, about 230 and 480 MB of text in the temporary directory
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "bench/machine.h"
#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/table/dataset.h"
#include "fansite/table/npy.h"

namespace {

using namespace fansite;

constexpr double kTarget = 150;  // MB/s of text on one core

double seconds_of(const std::function<void()>& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
  }
  return best;
}

Dataset normal_table(Index rows, int columns) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  parallel_for(columns, [&](std::ptrdiff_t column) {
    Random random(Key{1}.split(static_cast<std::uint64_t>(column)));
    for (Index row = 0; row < rows; ++row) data.values(row, column) = random.normal();
  });
  return data;
}

/// As most tables are printed: six significant digits.
void save_short(const Dataset& data, const std::string& path) {
  OutputFile file(path);
  std::string line;
  for (const auto& name : data.names) line += (line.empty() ? "" : ",") + name;
  file.write(line + "\n");
  for (Index row = 0; row < data.rows(); ++row) {
    line.clear();
    for (int column = 0; column < data.variables(); ++column) {
      char digits[32];
      const auto end =
          std::to_chars(digits, digits + sizeof digits, data.values(row, column), std::chars_format::general, 6);
      line.append(digits, end.ptr);
      line += column + 1 < data.variables() ? ',' : '\n';
    }
    file.write(line);
  }
  file.commit();
}

void measure(const char* what, const std::string& path, bool has_target) {
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  const auto load_all = [&] { load(path); };
  double one = 0;
  {
    const ThreadLimit limit(1);
    one = seconds_of(load_all);
  }
  const double all = seconds_of(load_all);
  fmt::print(
      "{:<14} {:6.0f} MB   1 thread {:6.3f} s = {:5.0f} MB/s{}   {} threads {:6.3f} s = {:5.0f} MB/s   speed-up "
      "{:.2f}\n",
      what, megabytes, one, megabytes / one,
      has_target ? fmt::format(" (target {:.0f}, {})", kTarget, megabytes / one >= kTarget ? "met" : "MISSED") : "",
      thread_count(), all, megabytes / all, one / all);
}

int run(Index rows, int columns, const std::filesystem::path& directory) {
  fmt::print("load a table of {} × {} on {}\n", rows, columns, machine());
  const Dataset data = normal_table(rows, columns);
  const std::string short_csv = directory / "short.csv", long_csv = directory / "long.csv",
                    npy = directory / "table.npy";
  save_short(data, short_csv);
  const Stopwatch watch;
  save(data, long_csv);
  const double saving = watch.seconds();
  save(data, npy);
  measure("csv, 6 digits", short_csv, true);
  measure("csv, 17 digits", long_csv, true);
  measure("npy", npy, false);
  fmt::print("csv, 17 digits, saved in {:.3f} s = {:.0f} MB/s\n", saving,
             static_cast<double>(std::filesystem::file_size(long_csv)) / 1e6 / saving);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Index rows = argc > 1 ? std::atoi(argv[1]) : 5000;
  const int columns = argc > 2 ? std::atoi(argv[2]) : 5000;
  if (rows < 1 || columns < 1 || argc > 3) {
    fmt::print(stderr, "usage: {} [ROWS [COLUMNS]]\n", argv[0]);
    return 2;
  }
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("fansite_bench_csv.{}", ::getpid());
  int status = 1;
  try {
    std::filesystem::create_directory(directory);
    status = run(rows, columns, directory);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::filesystem::remove_all(directory);
  return status;
}
