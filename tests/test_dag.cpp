// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/dag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Edges = std::vector<std::pair<int, int>>;

Dag any_dag(int nodes) {
  const double degree = 0.5 * (nodes - 1) * *rc::gen::inRange(0, 11) / 10;
  return random_dag(GraphModel::er, nodes, degree, Key{*rc::gen::arbitrary<std::uint64_t>()});
}

// 0 → 2 ← 1, 2 → 3, 4 alone, 5 → 3
Dag small_dag() { return Dag(6, {{0, 2}, {1, 2}, {2, 3}, {5, 3}}); }

TEST(Dag, ParentsChildrenAndCounts) {
  const Dag dag = small_dag();
  EXPECT_EQ(dag.nodes(), 6);
  EXPECT_EQ(dag.edges(), 4);
  EXPECT_TRUE(dag.has_edge(0, 2));
  EXPECT_FALSE(dag.has_edge(2, 0));
  EXPECT_THAT(dag.parents(3), ElementsAre(2, 5));
  EXPECT_THAT(dag.children(2), ElementsAre(3));
  EXPECT_THAT(dag.topological_order(), ElementsAre(0, 1, 2, 4, 5, 3));
}

TEST(Dag, EmptyAndRepeatedEdges) {
  EXPECT_EQ(Dag(0, {}).edges(), 0);
  EXPECT_EQ(Dag(3, {}).edges(), 0);
  EXPECT_EQ(Dag(3, {{0, 1}, {0, 1}}).edges(), 1);
  ByteMatrix weighty = ByteMatrix::Zero(2, 2);
  weighty(0, 1) = 7;
  EXPECT_EQ(Dag(weighty).adjacency()(0, 1), 1);
}

TEST(Dag, NamesACycle) {
  const auto build = [] { Dag(5, {{4, 3}, {1, 3}, {3, 2}, {2, 1}}); };
  EXPECT_THAT(message_of<DataError>(build), HasSubstr("1 → 3 → 2 → 1"));
  EXPECT_THAT(message_of<DataError>([] { Dag(2, {{1, 1}}); }), HasSubstr("1 → 1"));
  Edges ring;
  for (int i = 0; i < 100; ++i) ring.emplace_back(i, (i + 1) % 100);
  EXPECT_THAT(message_of<DataError>([&] { Dag(100, ring); }), HasSubstr("11 → … (88 more) → 0"));
}

TEST(Dag, RefusesMalformedInput) {
  EXPECT_THROW(Dag(ByteMatrix::Zero(2, 3)), UsageError);
  EXPECT_THROW(Dag(2, {{0, 2}}), UsageError);
  EXPECT_THROW(Dag(-1, {}), UsageError);
  EXPECT_THROW(small_dag().markov_boundary(6), UsageError);
}

TEST(FindCycle, ListsItsNodesOnce) {
  ByteMatrix adjacency = small_dag().adjacency();
  EXPECT_THAT(find_cycle(adjacency), IsEmpty());
  adjacency(3, 0) = 1;
  EXPECT_THAT(find_cycle(adjacency), ElementsAre(0, 2, 3));
}

TEST(FindCycle, Properties) {
  EXPECT_TRUE(rc::check("what is found is a cycle, and graphs without one have an order", [] {
    const int nodes = *rc::gen::inRange(1, 12);
    ByteMatrix adjacency = ByteMatrix::Zero(nodes, nodes);
    const int edges = *rc::gen::inRange(0, 2 * nodes);
    for (int e = 0; e < edges; ++e) adjacency(*rc::gen::inRange(0, nodes), *rc::gen::inRange(0, nodes)) = 1;
    const std::vector<int> cycle = find_cycle(adjacency);
    if (cycle.empty()) {
      RC_ASSERT(Dag(adjacency).topological_order().size() == static_cast<std::size_t>(nodes));
      return;
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) RC_ASSERT(adjacency(cycle[i], cycle[(i + 1) % cycle.size()]) == 1);
    RC_ASSERT_THROWS_AS(Dag{adjacency}, DataError);
  }));
}

TEST(Dag, OrderPutsParentsFirstAndSmallIndicesEarly) {
  EXPECT_TRUE(rc::check("each place holds the smallest node whose parents are all placed", [] {
    const int nodes = *rc::gen::inRange(1, 20);
    const Dag dag = any_dag(nodes);
    std::vector<bool> placed(static_cast<std::size_t>(nodes), false);
    for (const int node : dag.topological_order()) {
      int smallest = 0;
      const auto ready = [&](int candidate) {
        if (placed[static_cast<std::size_t>(candidate)]) return false;
        return std::all_of(dag.parents(candidate).begin(), dag.parents(candidate).end(),
                           [&](int parent) { return placed[static_cast<std::size_t>(parent)]; });
      };
      while (!ready(smallest)) ++smallest;
      RC_ASSERT(node == smallest);
      placed[static_cast<std::size_t>(node)] = true;
    }
  }));
}

TEST(Dag, MarkovBoundary) {
  const Dag dag = small_dag();
  EXPECT_THAT(dag.markov_boundary(0), ElementsAre(1, 2));
  EXPECT_THAT(dag.markov_boundary(2), ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(dag.markov_boundary(4), IsEmpty());
  EXPECT_THAT(dag.markov_boundary(5), ElementsAre(2, 3));
}

TEST(Dag, MoralGraphHoldsTheBoundaries) {
  EXPECT_TRUE(rc::check("row i of the moral graph is the boundary of i, and it is symmetric", [] {
    const int nodes = *rc::gen::inRange(1, 15);
    const Dag dag = any_dag(nodes);
    const ByteMatrix moral = dag.moral_graph();
    RC_ASSERT(moral == ByteMatrix(moral.transpose()));
    for (int i = 0; i < nodes; ++i) {
      std::vector<int> row;
      for (int j = 0; j < nodes; ++j) {
        if (moral(i, j) != 0) row.push_back(j);
      }
      RC_ASSERT(row == dag.markov_boundary(i));
    }
  }));
}

// ---- d-separation ---------------------------------------------------------------------------------------------------

TEST(DSeparation, TextbookCases) {
  const Dag chain(3, {{0, 1}, {1, 2}}), fork(3, {{1, 0}, {1, 2}}), collider(4, {{0, 1}, {2, 1}, {1, 3}});
  EXPECT_FALSE(chain.d_separated(0, 2, {}));
  EXPECT_TRUE(chain.d_separated(0, 2, {1}));
  EXPECT_FALSE(fork.d_separated(0, 2, {}));
  EXPECT_TRUE(fork.d_separated(0, 2, {1}));
  EXPECT_TRUE(collider.d_separated(0, 2, {}));
  EXPECT_FALSE(collider.d_separated(0, 2, {1}));
  EXPECT_FALSE(collider.d_separated(0, 2, {3}));  // a descendant opens the collider too
  EXPECT_TRUE(small_dag().d_separated(0, 4, {2, 3}));
}

TEST(DSeparation, RefusesOverlaps) {
  EXPECT_THROW(small_dag().d_separated(1, 1, {}), UsageError);
  EXPECT_THROW(small_dag().d_separated(0, 1, {1}), UsageError);
  EXPECT_THROW(small_dag().d_separated(0, 6, {}), UsageError);
  EXPECT_THROW(small_dag().d_separated(0, 1, {-1}), UsageError);
}

// The other definition (Lauritzen et al. 1990): separation in the moral graph of the ancestors of all nodes involved.
bool separated_by_moralisation(const Dag& dag, int x, int y, const std::vector<int>& given) {
  const auto index = [](int node) { return static_cast<std::size_t>(node); };
  std::vector<bool> ancestral(index(dag.nodes()), false), seen = ancestral;
  std::vector<int> stack = given;
  stack.insert(stack.end(), {x, y});
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (ancestral[index(node)]) continue;
    ancestral[index(node)] = true;
    stack.insert(stack.end(), dag.parents(node).begin(), dag.parents(node).end());
  }
  Edges edges;
  for (int from = 0; from < dag.nodes(); ++from) {
    for (const int to : dag.children(from)) {
      if (ancestral[index(from)] && ancestral[index(to)]) edges.emplace_back(from, to);
    }
  }
  const ByteMatrix moral = Dag(dag.nodes(), edges).moral_graph();
  for (const int node : given) seen[index(node)] = true;
  stack = {x};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (node == y) return false;
    if (seen[index(node)]) continue;
    seen[index(node)] = true;
    for (int next = 0; next < dag.nodes(); ++next) {
      if (moral(node, next) != 0 && !seen[index(next)]) stack.push_back(next);
    }
  }
  return true;
}

TEST(DSeparation, EqualsSeparationInTheAncestralMoralGraph) {
  EXPECT_TRUE(rc::check("both definitions agree, in both directions", [] {
    const int nodes = *rc::gen::inRange(2, 10);
    const Dag dag = any_dag(nodes);
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    std::vector<int> order = random.permutation(nodes);
    const int x = order[0], y = order[1];
    const auto size = random.below(static_cast<std::uint32_t>(nodes) - 1);
    const std::vector<int> given(order.begin() + 2, order.begin() + 2 + size);
    const bool separated = dag.d_separated(x, y, given);
    RC_ASSERT(separated == separated_by_moralisation(dag, x, y, given));
    RC_ASSERT(separated == dag.d_separated(y, x, given));
  }));
}

TEST(DSeparation, TheBoundarySeparatesFromAllElse) {
  EXPECT_TRUE(rc::check("given its boundary a node is separated from the rest, given less it is not", [] {
    const int nodes = *rc::gen::inRange(2, 12);
    const Dag dag = any_dag(nodes);
    const int node = *rc::gen::inRange(0, nodes);
    const std::vector<int> boundary = dag.markov_boundary(node);
    for (int other = 0; other < nodes; ++other) {
      std::vector<int> given = boundary;
      const auto member = std::find(given.begin(), given.end(), other);
      if (member != given.end()) given.erase(member);
      if (other != node) RC_ASSERT(dag.d_separated(node, other, given) == (given.size() == boundary.size()));
    }
  }));
}

TEST(Dag, LargeGraphsAreNearLinear) {
  const Dag dag = random_dag(GraphModel::er, 5000, 1.5, Key{1});
  EXPECT_NEAR(dag.edges(), 7500, 400);
  std::size_t members = 0;
  for (int node = 0; node < dag.nodes(); ++node) members += dag.markov_boundary(node).size();
  const ByteMatrix moral = dag.moral_graph();
  EXPECT_EQ(members, static_cast<std::size_t>((moral.array() != 0).count()));
  int separated = 0;
  for (int other = 1; other < 200; ++other) separated += dag.d_separated(0, other, dag.markov_boundary(0));
  EXPECT_GT(separated, 150);
}

// ---- Text -----------------------------------------------------------------------------------------------------------

TEST(ToCsv, WritesAHeaderAndZeroesAndOnes) {
  EXPECT_EQ(to_csv(Dag(3, {{0, 1}, {2, 1}}).adjacency(), {"a", "b", "c"}), "a,b,c\n0,1,0\n0,0,0\n0,1,0\n");
  EXPECT_THROW(to_csv(ByteMatrix::Zero(2, 2), {"a"}), UsageError);
}

TEST(ToCsv, QuotesNamesThatNeedIt) {
  const std::vector<std::string> names = {"a,b", "say \"hi\"", "two\nlines", " padded", "", "plain"};
  const std::string text = to_csv(ByteMatrix::Zero(6, 6), names);
  EXPECT_EQ(text.substr(0, text.find("\n0,")), "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" padded\",\"\",plain");
}

TEST(ToDot, DirectedAndUndirected) {
  const ByteMatrix adjacency = Dag(3, {{0, 1}, {2, 1}}).adjacency();
  EXPECT_EQ(to_dot(adjacency, {"a", "b", "c"}),
            "digraph fansite {\n  \"a\";\n  \"b\";\n  \"c\";\n  \"a\" -> \"b\";\n  \"c\" -> \"b\";\n}\n");
  EXPECT_EQ(
      to_dot(Dag(3, {{0, 1}, {2, 1}}).moral_graph(), {"a", "b", "c"}, false),
      "graph fansite {\n  \"a\";\n  \"b\";\n  \"c\";\n  \"a\" -- \"b\";\n  \"a\" -- \"c\";\n  \"b\" -- \"c\";\n}\n");
}

TEST(ToDot, EscapesHostileNames) {
  const std::string text =
      to_dot(ByteMatrix::Zero(5, 5), {"end\"; x -> y", "back\\", "two\nlines", "a&lt;b", "R&D <script>"});
  EXPECT_THAT(text, HasSubstr("  \"end\\\"; x -> y\";\n"));
  EXPECT_THAT(text, HasSubstr("  \"back\\\\\";\n"));
  EXPECT_THAT(text, HasSubstr("  \"two\\nlines\";\n"));
  EXPECT_THAT(text, HasSubstr("  \"a&amp;lt;b\";\n"));
  EXPECT_THAT(text, HasSubstr("  \"R&D <script>\";\n"));
}

TEST(ToGraphml, WritesNodesAndEdges) {
  const std::string text = to_graphml(Dag(2, {{1, 0}}).adjacency(), {"a", "b"});
  EXPECT_THAT(text, HasSubstr("edgedefault=\"directed\""));
  EXPECT_THAT(text, HasSubstr("<node id=\"a\"><data key=\"name\">a</data></node>"));
  EXPECT_THAT(text, HasSubstr("<edge source=\"b\" target=\"a\"/>"));
  EXPECT_THAT(to_graphml(ByteMatrix::Zero(1, 1), {"a"}, false), HasSubstr("edgedefault=\"undirected\""));
}

TEST(PartlyDirected, OpenDirectionsAndHiddenCausesAreMarked) {
  ByteMatrix directed = ByteMatrix::Zero(3, 3), undirected = directed;
  directed(0, 1) = 1;
  undirected(1, 2) = undirected(2, 1) = 1;
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::string dot = to_dot(directed, undirected, names, {{0, 2}});
  EXPECT_THAT(dot, HasSubstr("  \"a\" -> \"b\";\n  \"b\" -> \"c\" [dir=none];\n  \"a\" -> \"c\" [dir=both, "));
  const std::string graphml = to_graphml(directed, undirected, names, {{0, 2}});
  EXPECT_THAT(graphml, HasSubstr("<edge source=\"b\" target=\"c\"><data key=\"directed\">false</data></edge>"));
  EXPECT_THAT(graphml, HasSubstr("<edge source=\"a\" target=\"c\"><data key=\"directed\">false</data>"
                                 "<data key=\"hidden_cause\">true</data></edge>"));
  EXPECT_THAT(to_dot(directed, undirected, names), testing::Not(HasSubstr("both")));
}

TEST(ToGraphml, EscapesHostileNames) {
  const std::string text = to_graphml(ByteMatrix::Zero(5, 5), {"\"><script>alert(1)</script>", "R&D", "two\nlines",
                                                               "bell\a", "Latin-1 \xe9, Ünï 🧬"});
  EXPECT_THAT(text, HasSubstr("<node id=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\">"));
  EXPECT_THAT(text, HasSubstr("<node id=\"R&amp;D\">"));
  EXPECT_THAT(text, HasSubstr("<node id=\"two&#10;lines\">"));
  EXPECT_THAT(text, HasSubstr("<node id=\"bell\xEF\xBF\xBD\">"));
  EXPECT_THAT(text, HasSubstr("<node id=\"Latin-1 \xEF\xBF\xBD, Ünï 🧬\">"));
}

TEST(ToGraphml, NamesCannotMakeMarkup) {
  EXPECT_TRUE(rc::check("whatever the name, the text has the tags of a plain name", [] {
    const auto name = *rc::gen::arbitrary<std::string>();
    const auto tags = [](const std::string& text) { return std::count(text.begin(), text.end(), '<'); };
    RC_ASSERT(tags(to_graphml(ByteMatrix::Zero(1, 1), {name})) == tags(to_graphml(ByteMatrix::Zero(1, 1), {"x"})));
  }));
}

// ---- Files ----------------------------------------------------------------------------------------------------------

class LoadDag : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string write(const std::string& text) {
    path_ = testing::TempDir() + "fansite_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::string path_;
};

TEST_F(LoadDag, ReadsWhatToCsvWrites) {
  const std::vector<std::string> names = {"TP53", "a,b", "say \"hi\"", "ünï", "e", "f"};
  const NamedDag loaded = load_dag(write(to_csv(small_dag().adjacency(), names)));
  EXPECT_EQ(loaded.names, names);
  EXPECT_EQ(loaded.dag.adjacency(), small_dag().adjacency());
}

TEST_F(LoadDag, TakesAWeightedMatrix) {
  const NamedDag loaded = load_dag(write("a,b,c\n0,-0.7,0\n0,0,1e-3\n0,0,0\n"));
  EXPECT_EQ(loaded.dag.edges(), 2);
  EXPECT_TRUE(loaded.dag.has_edge(0, 1));
}

TEST_F(LoadDag, SaysWhatIsWrong) {
  EXPECT_THAT(message_of<DataError>([&] { load_dag(write("a,b\n0,1\n")); }), HasSubstr("1 rows and 2 columns"));
  EXPECT_THAT(message_of<DataError>([&] { load_dag(write("a,b,c\n0,1,0\n0,0,0\n")); }), HasSubstr("row names"));
  EXPECT_THAT(message_of<DataError>([&] { load_dag(write("a,b\n0,NaN\n0,0\n")); }), HasSubstr("missing"));
  EXPECT_THAT(message_of<DataError>([&] { load_dag(write("a,b\n0,1\n1,0\n")); }), HasSubstr("a → b → a"));
}

struct SharedSet {
  const char* path;
  int nodes, edges;  // as data/README.md says; for the .npz sets it gives the expected number, this is the true one
};

void PrintTo(const SharedSet& set, std::ostream* out) { *out << set.path; }

class SharedGraph : public testing::TestWithParam<SharedSet> {};

TEST_P(SharedGraph, HasItsNodesAndEdges) {
  const std::string path = std::string(FANSITE_SHARED_DIR) + "/data/" + GetParam().path;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here; it is not part of the package";
  const NamedDag loaded = load_dag(path);
  EXPECT_EQ(loaded.dag.nodes(), GetParam().nodes);
  EXPECT_EQ(loaded.dag.edges(), GetParam().edges);
  EXPECT_EQ(static_cast<int>(loaded.names.size()), GetParam().nodes);
}

INSTANTIATE_TEST_SUITE_P(Sets, SharedGraph,
                         testing::Values(SharedSet{"sachs/dag.csv", 11, 17}, SharedSet{"syntren/dag.csv", 20, 24},
                                         SharedSet{"arth150/dag.csv", 107, 150}, SharedSet{"sergio/dag.csv", 100, 137},
                                         SharedSet{"gp_d30_seed42.npz", 30, 24},
                                         SharedSet{"gp_d30_seed123.npz", 30, 35},
                                         SharedSet{"gp_d30_seed1234.npz", 30, 23},
                                         SharedSet{"linear_d100_seed42.npz", 100, 90},
                                         SharedSet{"linear_d100_seed123.npz", 100, 102}));

}  // namespace
}  // namespace fansite
