// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/parallel.h"
#include "fansite/base/progress.h"
#include "fansite/base/special.h"
#include "fansite/base/text.h"
#include "fansite/table/dataset.h"
#include "fansite/table/findings.h"
#include "fansite/table/npy.h"
#include "gzip_writer.h"
#include "properties.h"
#include "support.h"
#include "zip_writer.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A directory of its own for each test, gone afterwards.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fansite_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  static std::string content(const std::string& path) { return std::string(FileView(path).bytes()); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

 private:
  fs::path directory_;
};

/// Columns that are far from everything inspect() looks for.
Dataset healthy(Index rows = 20, int columns = 3) {
  Dataset data{default_names(columns), Matrix(rows, columns)};
  Random random(Key{5});
  for (Index i = 0; i < data.values.size(); ++i) data.values.data()[i] = random.normal();
  return data;
}

// ---- Files ----------------------------------------------------------------------------------------------------------

using FileTest = Files;

TEST_F(FileTest, ViewsFilesPipesAndEmptyFiles) {
  EXPECT_EQ(content(put("a", "hello")), "hello");
  EXPECT_EQ(content(put("b", "")), "");
  EXPECT_THAT(content("/proc/self/status"), HasSubstr("Pid:"));
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << std::string(300000, 'x'); });
  EXPECT_EQ(content(pipe).size(), 300000u);
  writer.join();
}

TEST_F(FileTest, PackedTablesAreKnownByWhatTheyHold) {
  const std::string text = "a,b\n1,2\n3,4\n";
  for (const char* name : {"t.csv.gz", "t.CSV.GZ", "t.txt.gz", "packed_all_the_same.csv"}) {
    EXPECT_EQ(load(put(name, gzipped(text))).values, (Matrix(2, 2) << 1, 2, 3, 4).finished()) << name;
  }
  EXPECT_THAT(load(put("t.tsv.gz", gzipped("a b\tc,d\n1\t2\n"))).names, ElementsAre("a b", "c,d"));
  EXPECT_EQ(load(put("not_packed.csv.gz", text)).rows(), 2);
  EXPECT_THROW(load(put("t.npy.gz", gzipped(text))), UsageError);
  EXPECT_THROW(load(put("zeros.csv.gz", gzipped(std::string(1 << 24, '\0')))), DataError);
}

TEST_F(FileTest, ColumnsCanBeLeftOutWhateverTheyHold) {
  std::string text = "id,day,x,y,w\n";
  for (int row = 0; row < 30; ++row) {
    text += fmt::format("patient {},2020-01-{:02},{},{},{}\n", row, row + 1, row, row * row % 7, row % 3 + 1);
  }
  text += ",,,,1\n";
  put("t.csv", text);
  const auto loaded = [&](const TableRoles& roles, Missing missing = Missing::use) {
    return load(path("t.csv"), {.missing = missing, .roles = roles});
  };
  EXPECT_THROW(loaded({}), DataError);
  const Dataset dropped = loaded({.drop = {"id", "day"}});
  EXPECT_THAT(dropped.names, ElementsAre("x", "y", "w"));
  EXPECT_EQ(dropped.roles, (TableRoles{.drop = {"id", "day"}}));
  const Dataset kept = loaded({.weight = "w", .only = {"y", "x"}});  // in the table's order
  EXPECT_THAT(kept.names, ElementsAre("x", "y"));
  EXPECT_EQ(kept.weights.size(), 31);
  // Cells that are left out are not missing.
  EXPECT_EQ(loaded({.only = {"w"}}, Missing::error).rows(), 31);
  EXPECT_EQ(loaded({.only = {"x"}}, Missing::drop).dropped_rows, 1);
  // What is said of a column that is left out does not matter, so that one file of kinds serves for all choices.
  const Dataset kinds = loaded({.kinds = {{"x", ColumnKind::ordered}, {"y", ColumnKind::atoms}}, .only = {"x"}});
  EXPECT_EQ(kinds.roles, (TableRoles{.kinds = {{"x", ColumnKind::ordered}}, .only = {"x"}}));
  // The same of a table that is in memory.
  const Dataset table{{"x", "y"}, Matrix::Ones(3, 2)};
  EXPECT_THAT(with_roles(table, {.drop = {"x"}}).names, ElementsAre("y"));
  EXPECT_NE(hash_of(with_roles(table, {.drop = {"x"}})), hash_of(table));

  const auto error = [&](const TableRoles& roles) { return message_of<UsageError>([&] { loaded(roles); }); };
  EXPECT_THAT(error({.drop = {"dya"}}), HasSubstr("Did you mean 'day'?"));
  EXPECT_THAT(error({.only = {"z"}}), HasSubstr("The columns are 'id', 'day', 'x', 'y', 'w'"));
  EXPECT_THAT(error({.kinds = {{"xx", ColumnKind::ordered}}, .only = {"x"}}), HasSubstr("no column is called 'xx'"));
  EXPECT_THAT(error({.drop = {"x"}, .only = {"x"}}), HasSubstr("[drop] 'x' cannot be left out and kept at once"));
  EXPECT_THAT(error({.weight = "w", .drop = {"w", "id", "day"}}), HasSubstr("[drop] 'w' is the weight of rows"));
  EXPECT_THAT(error({.context = {"x"}, .drop = {"x", "id", "day"}}), HasSubstr("[drop] 'x' is context"));
  EXPECT_THAT(error({.drop = {"id", "day", "x", "y", "w"}}), HasSubstr("every column is left out"));
}

/// Does something to a file when it is asked for the second time, which is while the file is read.
class Meanwhile final : public Progress {
 public:
  explicit Meanwhile(std::function<void()> act) : act_(std::move(act)) {}
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override {
    if (++asked_ == 2) act_();
    return false;
  }

 private:
  std::function<void()> act_;
  mutable int asked_ = 0;
};

TEST_F(FileTest, WhatWasReadStaysWhenTheFileIsCutShort) {
  const std::string file = put("a", std::string(300000, 'x'));
  const FileView view(file);
  fs::resize_file(file, 0);
  EXPECT_EQ(view.bytes(), std::string(300000, 'x'));
}

TEST_F(FileTest, SaysThatAFileChangedWhileItWasRead) {
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{70000}, std::uintmax_t{900000}}) {
    const std::string file = put("a", std::string(300000, 'x'));
    const Meanwhile change([&] { fs::resize_file(file, size); });
    EXPECT_THAT(message_of<IoError>([&] { FileView view(file, &change); }), HasSubstr("a' changed while it was read"));
  }
}

TEST_F(FileTest, LooksAtTheBeginningBeforeTheRestIsRead) {
  const std::string file = put("a", std::string(300000, 'x'));
  std::vector<std::size_t> seen;
  const FileView view(file, nullptr, [&](std::string_view beginning) { seen.push_back(beginning.size()); });
  EXPECT_THAT(seen, ElementsAre(65536, 131072, 262144));
  EXPECT_EQ(view.bytes().size(), 300000u);
}

TEST_F(FileTest, SaysWhatCannotBeRead) {
  EXPECT_THAT(message_of<UsageError>([&] { FileView view(path("none.csv")); }), HasSubstr("none.csv': No such file"));
  EXPECT_THAT(message_of<UsageError>([&] { FileView view(path(".")); }), HasSubstr("is a directory"));
}

TEST_F(FileTest, OutputAppearsWholeOrNotAtAll) {
  const std::string target = put("out.json", "old");
  {
    OutputFile file(target);
    file.write("half");
    EXPECT_EQ(content(target), "old");
  }
  EXPECT_EQ(content(target), "old");
  EXPECT_EQ(entries(), 1u);
  {
    OutputFile file(target), other(target);
    file.write("new");
    other.write("newer");
    file.commit();
    EXPECT_EQ(content(target), "new");
    other.commit();
  }
  EXPECT_EQ(content(target), "newer");
  EXPECT_EQ(entries(), 1u);
}

/// The number of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

TEST_F(FileTest, OutputRemovesWhatKilledProcessesLeft) {
  const std::string dead = std::to_string(ended_process());
  put("out.json.tmp." + dead, "");
  put("out.json.tmp." + dead + ".3", "half");
  OutputFile file(path("out.json"));
  EXPECT_EQ(entries(), 1u);
  file.write("new");
  file.commit();
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(content(path("out.json")), "new");
}

TEST_F(FileTest, OutputFollowsALinkToWhatWasLeft) {
  const std::string target = put("real.json", "old"), link = path("link.json");
  fs::create_symlink("real.json", link);
  put("real.json.tmp." + std::to_string(ended_process()), "half");
  OutputFile{link};
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, OutputLeavesWhatIsNotItsOwn) {
  const std::string dead = std::to_string(ended_process());
  put("out.json.tmp." + std::to_string(::getppid()), "of a process that runs");
  put("other.json.tmp." + dead, "of another file");
  put("out.json.tmp.", "no number");
  put("out.json.tmp." + dead + "x", "no number");
  put("out.json.tmp." + dead + ".", "no number");
  put("out.json.tmp.0", "no process");
  put("out.json.tmp.-1", "no process");
  put("out.json.tmp.99999999999999999999", "no process");
  fs::create_directory(path("out.json.tmp." + dead));
  OutputFile{path("out.json")};
  EXPECT_EQ(entries(), 9u);
}

// A process of another container has a number that is not among ours; the lock shows that it lives.
TEST_F(FileTest, OutputLeavesWhatIsLocked) {
  const std::string left = put("out.json.tmp." + std::to_string(ended_process()), "half");
  const int fd = ::open(left.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  OutputFile{path("out.json")};
  EXPECT_EQ(entries(), 1u);
  ::close(fd);
  OutputFile{path("out.json")};
  EXPECT_EQ(entries(), 0u);
}

// In a container the run after a killed one often has its number.
TEST_F(FileTest, OutputRemovesWhatAKilledProcessOfOurNumberLeft) {
  put("out.json.tmp." + std::to_string(::getpid()), "half");
  OutputFile first(path("out.json"));
  EXPECT_EQ(entries(), 1u);
  OutputFile second(path("out.json"));  // the first one is at work
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, OutputThatIsFinishedHasNoNameYet) {
  put("out.json", "old");
  OutputFile file(path("out.json"));
  file.write("new");
  file.finish();
  EXPECT_EQ(content(path("out.json")), "old");
  file.commit();
  EXPECT_EQ(content(path("out.json")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, OutputKeepsLinksAndPermissions) {
  const std::string target = put("real.csv", "old"), link = path("link.csv");
  fs::create_symlink("real.csv", link);
  ::chmod(target.c_str(), 0600);
  OutputFile file(link);
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, OutputRefusesAtOnce) {
  EXPECT_THAT(
      message_of<UsageError>([&] { OutputFile file(path("no/such/out.json")); }),
      testing::AllOf(HasSubstr("[write] cannot write '"), HasSubstr("no/such/out.json': No such file or directory.")));
  EXPECT_THAT(message_of<PathError>([&] { OutputFile file(path(".")); }), HasSubstr("is a directory"));
  EXPECT_THAT(message_of<UsageError>([&] { OutputFile file(""); }), HasSubstr("is empty"));
}

TEST_F(FileTest, OutputWritesToDevicesAndNoticesAFullDisk) {
  OutputFile null("/dev/null");
  null.write("x");
  null.commit();
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THAT(message_of<IoError>([] {
                OutputFile full("/dev/full");
                full.write("x");
                full.commit();
              }),
              HasSubstr("writing '/dev/full' failed: No space left on device"));
}

// ---- Loading and saving ---------------------------------------------------------------------------------------------

using LoadTest = Files;

TEST_F(LoadTest, DispatchesByEnding) {
  EXPECT_EQ(load(put("a.csv", "a;b\n1;2\n")).values(0, 1), 2);
  EXPECT_EQ(load(put("a.TXT", "a,b\n1,2\n")).values(0, 1), 2);
  EXPECT_THAT(load(put("a.tsv", "a,b\tc\n1\t2\n")).names, ElementsAre("a,b", "c"));
  EXPECT_EQ(load(put("n.csv", "1,2\n3,4\n"), {.header = false}).rows(), 2);
  EXPECT_EQ(load(put("a.npy", to_npy(Matrix::Ones(4, 2)))).rows(), 4);
  const Dataset data = load(put("a.npz", ZipWriter().add("data.npy", to_npy(Matrix::Ones(4, 2))).finish()));
  EXPECT_THAT(data.names, ElementsAre("x1", "x2"));
  EXPECT_THAT(message_of<UsageError>([] { load("table.xlsx"); }), HasSubstr(".csv, .tsv, .txt, .npy and .npz"));
  EXPECT_THAT(message_of<DataError>([&] { load(put("b.csv", "a,b\n1,2\n1,x\n")); }), HasSubstr("b.csv line 3"));
  EXPECT_THAT(
      message_of<DataError>([&] {
        load(put("v.npy", npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", std::string(8, 'x'))));
      }),
      HasSubstr("one dimension"));
}

TEST_F(LoadTest, SavesWhatItLoads) {
  Dataset data = healthy(50, 4);
  data.names[1] = "a \"quoted\", name";
  data.values(3, 2) = kMissing;
  for (const char* name : {"t.csv", "t.tsv", "t.npy"}) {
    save(data, path(name));
    const Dataset back = load(path(name));
    EXPECT_TRUE(std::isnan(back.values(3, 2)));
    EXPECT_EQ(back.values.array().isNaN().select(0, back.values), data.values.array().isNaN().select(0, data.values))
        << name;
    EXPECT_EQ(back.names, std::string(name) == "t.npy" ? default_names(4) : data.names);
  }
  EXPECT_THAT(message_of<UsageError>([&] { save(data, path("t.npz")); }), HasSubstr(".csv, .tsv and .npy"));
}

TEST_F(LoadTest, DropsRowsWithMissingCells) {
  const std::string file = put("a.csv", "a,b\n1,2\n,3\n4,NA\n5,6\n");
  EXPECT_EQ(load(file).rows(), 4);
  const Dataset data = load(file, {.missing = Missing::drop});
  EXPECT_EQ(data.dropped_rows, 2);
  EXPECT_EQ(data.values, (Matrix(2, 2) << 1, 2, 5, 6).finished());
  EXPECT_THAT(message_of<DataError>([&] { load(put("b.csv", "a,b\n,1\n"), {.missing = Missing::drop}); }),
              HasSubstr("every row"));
  EXPECT_EQ(message_of<DataError>([&] { load(file, {.missing = Missing::error}); }),
            "[load] 2 missing cells in columns 'a', 'b' (first at row 2): drop those rows with --missing drop, or fill "
            "them.");
}

TEST_F(LoadTest, KeepsLabels) {
  const std::string text = "sex,\"dose, mg\"\nmale,1\n\"fe,male\",2\n,3\n\"\",\n";
  const Dataset data = load(put("a.csv", text));
  EXPECT_THAT(data.columns[0].levels, ElementsAre("fe,male", "male"));
  for (const char* name : {"t.csv", "t.tsv"}) {
    save(data, path(name));
    const Dataset back = load(path(name));
    EXPECT_EQ(back.columns, data.columns);
    EXPECT_EQ(hash_of(back), hash_of(data));
  }
  EXPECT_EQ(content(path("t.csv")), text);
}

// ---- What belongs to rows and columns -------------------------------------------------------------------------------

Dataset with_everything() {
  Dataset data = healthy(40, 3);
  data.columns = {Column{.context = true}, Column{.kind = ColumnKind::ordered}, Column{}};
  data.weights = Vector::LinSpaced(40, 0.5, 1.5);
  for (int row = 0; row < 40; ++row) data.groups.push_back(row / 10);
  data.roles.weight = "w";
  return data;
}

TEST(Parts, CarryWhatBelongsToThem) {
  const Dataset data = with_everything();
  const Dataset rows = take_rows(data, {3, 39, 5});
  EXPECT_EQ(rows.columns, data.columns);
  EXPECT_EQ(rows.roles, data.roles);
  EXPECT_THAT(rows.groups, ElementsAre(0, 3, 0));
  EXPECT_NEAR(rows.weights.mean(), 1, 1e-12);
  EXPECT_NEAR(rows.weights[1] / rows.weights[0], data.weights[39] / data.weights[3], 1e-12);
  EXPECT_EQ(rows.values.row(1), data.values.row(39));

  const Dataset columns = take_columns(data, {2, 0});
  EXPECT_THAT(columns.names, ElementsAre("x3", "x1"));
  EXPECT_TRUE(columns.columns[1].context);
  EXPECT_EQ(columns.weights, data.weights);
  EXPECT_EQ(columns.groups, data.groups);

  const auto [first, second] = split(data, 0.25, Key{1});
  EXPECT_EQ(first.groups.size(), 10u);
  EXPECT_EQ(second.weights.size(), 30);
  for (const Dataset& same : {standardise(data), rank_gaussianise(data)}) {
    EXPECT_EQ(same.columns, data.columns);
    EXPECT_EQ(same.weights, data.weights);
  }
  Dataset gap = data;
  gap.values(0, 0) = kMissing;
  const Dataset dropped = drop_missing(gap);
  EXPECT_EQ(dropped.groups.size(), 39u);
  EXPECT_EQ(dropped.weights.size(), 39);
  EXPECT_EQ(dropped.dropped_rows, 1);
}

TEST(Hash, CoversWhatIsDeclaredAndNothingElse) {
  const Dataset data = with_everything();
  Dataset plain = healthy(40, 3);
  Hash of_names;
  for (const std::string& name : plain.names) of_names.add(name);
  of_names.add(hash_of(MatrixView(plain.values)));
  EXPECT_EQ(hash_of(plain), of_names.value()) << "results of plain tables could not be verified any more";
  plain.columns.resize(3);
  EXPECT_EQ(hash_of(plain), hash_of(healthy(40, 3)));
  const auto differs = [&](const auto& change) {
    Dataset other = data;
    change(other);
    EXPECT_NE(hash_of(other), hash_of(data));
  };
  differs([](Dataset& d) { d.columns.clear(); });
  differs([](Dataset& d) { d.columns[1].kind = ColumnKind::continuous; });
  differs([](Dataset& d) { d.columns[0].context = false; });
  differs([](Dataset& d) { d.columns[2].levels = {"a"}; });
  differs([](Dataset& d) { d.weights[3] += 1e-9; });
  differs([](Dataset& d) { d.weights = Vector(); });
  differs([](Dataset& d) { d.groups[3] = 7; });
  differs([](Dataset& d) { d.groups.clear(); });
}

TEST(SharedData, EverySetLoads) {
  const fs::path root = fs::path(FANSITE_SHARED_DIR) / "data";
  if (!fs::exists(root)) GTEST_SKIP() << "the shared data sets are not at " << root;
  const struct {
    const char* path;
    Index rows;
    int variables;
  } sets[] = {{"sachs/data.csv", 853, 11},
              {"syntren/data.csv", 500, 20},
              {"arth150/data.csv", 5000, 107},
              {"sergio/data.csv", 9000, 100},
              {"sergio/bin.csv", 9000, 1},
              {"gp_d30_seed42.npz", 1000, 30},
              {"gp_d30_seed123.npz", 1000, 30},
              {"gp_d30_seed1234.npz", 1000, 30},
              {"linear_d100_seed42.npz", 5000, 100},
              {"linear_d100_seed123.npz", 5000, 100},
              {"sachs/dag.csv", 11, 11},
              {"arth150/dag.csv", 107, 107}};
  for (const auto& set : sets) {
    const Dataset data = load((root / set.path).string());
    EXPECT_EQ(data.rows(), set.rows) << set.path;
    EXPECT_EQ(data.variables(), set.variables) << set.path;
    if (std::string(set.path).find("dag") == std::string::npos) {
      for (const Finding& finding : inspect(data)) EXPECT_FALSE(finding.fatal) << set.path << ": " << finding.message;
    }
  }
  EXPECT_EQ(load_npz_array((root / "gp_d30_seed42.npz").string(), "dag").sum(), 24);  // as numpy reads it
}

// ---- Names ----------------------------------------------------------------------------------------------------------

TEST(Names, SuggestsTheNearest) {
  const Dataset data{{"TP53", "BRCA1", "age", "x1"}, Matrix::Zero(1, 4)};
  EXPECT_EQ(data.index_of("age"), 2);
  EXPECT_EQ(message_of<UsageError>([&] { data.index_of("BRAC1"); }),
            "[table] no column is called 'BRAC1'. Did you mean 'BRCA1'?");
  EXPECT_THAT(message_of<UsageError>([&] { data.index_of("tp53"); }), HasSubstr("'TP53'?"));
  EXPECT_THAT(message_of<UsageError>([&] { data.index_of("income"); }),
              HasSubstr("The columns are 'TP53', 'BRCA1', 'age', 'x1'."));
  EXPECT_EQ(nearest_name("zz", {"a", "b"}), "");
  EXPECT_EQ(nearest_name("", {"a"}), "");
  EXPECT_EQ(nearest_name("hight", {"weight", "height", "night"}), "height");
  EXPECT_THAT(default_names(3), ElementsAre("x1", "x2", "x3"));
  EXPECT_THAT(default_names(0), IsEmpty());
}

// ---- Inspection -----------------------------------------------------------------------------------------------------

TEST(Inspect, FindsNothingInHealthyData) { EXPECT_THAT(inspect(healthy()), IsEmpty()); }

TEST(Inspect, MissingCellsAreCountedAndNotFatal) {
  Dataset data = healthy();
  const auto rows = static_cast<double>(data.rows());
  data.values(2, 0) = data.values(5, 1) = data.values(6, 1) = kMissing;
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::missing);
  EXPECT_FALSE(findings[0].fatal);
  EXPECT_THAT(findings[0].columns, ElementsAre(0, 1));
  EXPECT_EQ(findings[0].message,
            fmt::format("[load] 'x2' lacks {:.0f} % of its cells, 'x1' {:.1f} %: 3 of {} rows have a "
                        "missing cell.",
                        200 / rows, 100 / rows, data.rows()));
  EXPECT_NO_THROW(throw_if_fatal(findings));
}

TEST(Inspect, AColumnIsConstantOrACopyByTheCellsItHas) {
  Dataset data = healthy(20, 6);
  data.values.col(0).setConstant(kMissing);
  data.values.col(1).setConstant(0.1);
  data.values(3, 1) = kMissing;
  data.values(4, 2) = kMissing;
  data.values.col(3) = data.values.col(2);
  data.values.col(4) = data.values.col(2);
  data.values(4, 4) = 1;  // there where the others are not
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::missing);
  EXPECT_THAT(findings[0].columns, ElementsAre(1, 2, 3));
  EXPECT_EQ(findings[1].kind, Finding::Kind::constant);
  EXPECT_EQ(findings[1].message, "[load] column 'x1' has no cells: it is left out and belongs to no boundary.");
  EXPECT_EQ(findings[2].kind, Finding::Kind::constant);
  EXPECT_THAT(findings[2].columns, ElementsAre(1));
  EXPECT_EQ(findings[3].kind, Finding::Kind::duplicate);
  EXPECT_THAT(findings[3].columns, ElementsAre(2, 3));
}

TEST(Inspect, RowNumbersAreNamed) {
  Dataset data = healthy(20, 3);
  data.values.col(1) = Vector::LinSpaced(20, 101, 120);
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::identifier);
  EXPECT_FALSE(findings[0].fatal);
  EXPECT_EQ(findings[0].message,
            "[load] 'x2' counts the rows (101, 102, …): if it is only a row number, remove the column; if it is time, "
            "it may stay.");
  data.values(7, 1) = 7;
  EXPECT_THAT(inspect(data), IsEmpty());
}

TEST(Inspect, NumbersOfThingsAreNamedInAnyOrder) {
  Dataset data = healthy(40, 3);
  for (Index i = 0; i < 40; ++i) data.values(i, 1) = static_cast<double>(1001 + (i * 7) % 40);
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::identifier);
  EXPECT_EQ(findings[0].message,
            "[load] 'x2' holds 40 whole numbers from 1001 to 1040, all different: if they only number the rows, leave "
            "the column out (--drop); if they are ranks or time, it may stay.");
  const Vector numbers = data.values.col(1);
  data.values.col(1) = numbers * 50;  // so far apart that measurements need not repeat
  EXPECT_THAT(inspect(data), IsEmpty());
  data.values.col(1) = numbers;
  data.values(3, 1) = data.values(4, 1);
  EXPECT_THAT(inspect(data), IsEmpty());
  data.values(3, 1) = 1000.5;
  EXPECT_THAT(inspect(data), IsEmpty());
}

TEST(Inspect, AFirstRowOfNumbersAndLabelsLooksLikeData) {
  Dataset data = healthy(20, 2);
  data.names = {"5.1", "setosa"};
  data.columns = {Column{}, Column{.kind = ColumnKind::nominal, .levels = {"other", "setosa"}}};
  ASSERT_EQ(inspect(data).size(), 1u);
  EXPECT_EQ(inspect(data)[0].kind, Finding::Kind::numeric_header);
  data.names[1] = "species";
  EXPECT_THAT(inspect(data), IsEmpty());
}

TEST(Inspect, InfinitiesAreFatalAndListsAreShort) {
  Dataset data = healthy(20, 9);
  for (int column = 1; column < 9; ++column) data.values(4, column) = std::numeric_limits<double>::infinity();
  const auto findings = inspect(data);
  ASSERT_GE(findings.size(), 1u);
  EXPECT_TRUE(findings[0].fatal);
  EXPECT_EQ(
      findings[0].message,
      "[load] infinite values in columns 'x2', 'x3', 'x4', 'x5', 'x6' and 3 more (first in 'x2' at row 5): replace or "
      "remove them.");
}

TEST(Inspect, ConstantAndDuplicateColumns) {
  Dataset data = healthy(20, 6);
  data.values.col(1).setConstant(0.1);
  data.values.col(3) = data.values.col(0);
  data.values.col(5) = data.values.col(0);
  const auto findings = inspect(data);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, Finding::Kind::constant);
  EXPECT_EQ(findings[0].message, "[load] column 'x2' is constant: it is left out and belongs to no boundary.");
  EXPECT_EQ(findings[1].kind, Finding::Kind::duplicate);
  EXPECT_THAT(findings[1].columns, ElementsAre(0, 3, 5));
  EXPECT_EQ(
      findings[1].message,
      "[load] 'x4', 'x6' are copies of 'x1': the data cannot tell them apart, so they share one boundary; keep one.");
}

TEST(Inspect, ZeroAndMinusZeroAreEqual) {
  Dataset data = healthy(10, 2);
  data.values.col(0) << 0, 1, 2, 3, 0, 1, 2, 3, 0, 1;
  data.values.col(1) << -0.0, 1, 2, 3, -0.0, 1, 2, 3, -0.0, 1;
  ASSERT_EQ(inspect(data).size(), 1u);
  EXPECT_EQ(inspect(data)[0].kind, Finding::Kind::duplicate);
}

TEST(Inspect, NearDuplicatesDoNotRepeatExactOnes) {
  Dataset data = healthy(20, 4);
  data.values.col(1) = data.values.col(0);
  Matrix correlation = Matrix::Identity(4, 4);
  const auto correlate = [&](int i, int j, double r) { correlation(i, j) = correlation(j, i) = r; };
  correlate(0, 1, 1);
  correlate(0, 3, -0.999999);
  correlate(1, 3, -0.999999);
  const auto exact = inspect(data);
  ASSERT_EQ(exact.size(), 1u);
  EXPECT_EQ(exact[0].kind, Finding::Kind::duplicate);
  const auto near = near_duplicates(data, correlation, exact);
  ASSERT_EQ(near.size(), 1u);
  EXPECT_EQ(near[0].kind, Finding::Kind::near_duplicate);
  EXPECT_THAT(near[0].columns, ElementsAre(0, 3));
  EXPECT_THAT(near[0].message, HasSubstr("'x4' is almost a linear copy of 'x1'"));
  EXPECT_THAT(near_duplicates(data, correlation, exact, 0.9999999), IsEmpty());
}

TEST(Inspect, FewRows) {
  const auto few = inspect(healthy(7, 2));
  ASSERT_EQ(few.size(), 1u);
  EXPECT_TRUE(few[0].fatal);
  EXPECT_THAT(few[0].message, HasSubstr("7 rows: at least 8 are needed"));
  const auto wide = inspect(healthy(10, 11));
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_FALSE(wide[0].fatal);
  EXPECT_THAT(wide[0].message, HasSubstr("more columns (11) than rows (10)"));
}

TEST(Inspect, NumericHeaderIsSuspectUnlessWhole) {
  Dataset data = healthy();
  data.names = {"4", "8", "13"};
  EXPECT_THAT(inspect(data), IsEmpty());
  data.names = {"26.4", "13", "8.82"};
  ASSERT_EQ(inspect(data).size(), 1u);
  EXPECT_EQ(inspect(data)[0].kind, Finding::Kind::numeric_header);
  EXPECT_THAT(inspect(data)[0].message, HasSubstr("use --no-header"));
  data.names = {"26.4", "13", "x"};
  EXPECT_THAT(inspect(data), IsEmpty());
}

// ---- Transforms -----------------------------------------------------------------------------------------------------

TEST(Transforms, StandardiseGivesMeanZeroVarianceOne) {
  Dataset data = healthy(1000, 4);
  data.values.col(1) = data.values.col(1) * 1e300;
  data.values.col(2).setConstant(0.1);
  data.values.col(3) = data.values.col(3).array() * 1e-300 + 3e-300;
  const Dataset result = standardise(data);
  for (const int column : {0, 1, 3}) {
    EXPECT_NEAR(result.values.col(column).mean(), 0, 1e-12);
    EXPECT_NEAR(result.values.col(column).squaredNorm() / 1000, 1, 1e-12);
  }
  EXPECT_EQ(result.values.col(2), Vector::Zero(1000));
  data.values(3, 0) = kMissing;
  EXPECT_THAT(message_of<DataError>([&] { standardise(data); }),
              HasSubstr("[standardise] column 'x1' has a missing or infinite cell at row 4"));
}

TEST(Transforms, RankGaussianiseKeepsOrderAndSharesTies) {
  const Dataset data{{"a"}, (Matrix(5, 1) << 10, -1, 7, 7, 1e9).finished()};
  const Dataset result = rank_gaussianise(data);
  const double ranks[] = {4, 1, 2.5, 2.5, 5};
  for (Index row = 0; row < 5; ++row) EXPECT_EQ(result.values(row, 0), normal_quantile((ranks[row] - 0.5) / 5)) << row;
}

TEST(TransformsProperty, RankGaussianiseIgnoresMonotoneMaps) {
  EXPECT_TRUE(rc::check("scores of x³ are those of x", [] {
    const auto cells = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-20, 20));
    RC_PRE(!cells.empty());
    Matrix x(static_cast<Index>(cells.size()), 1);
    for (std::size_t i = 0; i < cells.size(); ++i) x(static_cast<Index>(i), 0) = cells[i];
    RC_ASSERT(rank_gaussianise({{"a"}, x}).values == rank_gaussianise({{"a"}, x.array().cube().matrix()}).values);
  }));
}

TEST(Transforms, SplitPartsTheRows) {
  Dataset data{{"a", "b"}, Matrix(10, 2)};
  for (Index row = 0; row < 10; ++row) data.values.row(row).setConstant(static_cast<double>(row));
  const auto [first, rest] = split(data, 0.7, Key{3});
  EXPECT_EQ(first.rows(), 7);
  EXPECT_EQ(rest.rows(), 3);
  std::vector<double> seen(first.values.col(0).begin(), first.values.col(0).end());
  seen.insert(seen.end(), rest.values.col(1).begin(), rest.values.col(1).end());
  EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  std::sort(seen.begin(), seen.end());
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(split(data, 0.7, Key{3}).first.values, first.values);
  EXPECT_EQ(split(data, 0.001, Key{3}).first.rows(), 1);
  EXPECT_THROW(split(data, 1.0, Key{3}), UsageError);
}

TEST(Transforms, DoNotDependOnThreads) {
  const Dataset data = healthy(500, 40);
  const Dataset all = standardise(data), ranks = rank_gaussianise(data);
  const ThreadLimit limit(1);
  EXPECT_EQ(standardise(data).values, all.values);
  EXPECT_EQ(rank_gaussianise(data).values, ranks.values);
}

}  // namespace
}  // namespace fansite
