// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/knowledge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fansite/base/error.h"
#include "fansite/graph/dag.h"
#include "fansite/table/dataset.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Kind = Statement::Kind;
using Names = std::vector<std::string>;

const Names kNames = {"a", "b", "c", "d", "e"};
enum { A, B, C, D, E };

Knowledge know(std::string_view text, const Names& names = kNames) {
  return Knowledge::parse(text, "rules.txt", names);
}

std::string error_in(std::string_view text, const Names& names = kNames) {
  return message_of<DataError>([&] { know(text, names); });
}

std::string sentence(int line, const std::string& text) {
  return "[knowledge] rules.txt line " + std::to_string(line) + ": " + text;
}

int excluded_edges(const Knowledge& k) {
  return k.variables() * (k.variables() - 1) - static_cast<int>(k.allowed().cast<int>().sum());
}

// ---- Our own lines --------------------------------------------------------------------------------------------------

TEST(Knowledge, NothingIsKnown) {
  for (const char* text : {"", "\n\n", "# nothing\r\n   # at all", "\xEF\xBB\xBF", " \t \r\n"}) {
    const Knowledge k = know(text);
    EXPECT_TRUE(k.empty());
    EXPECT_EQ(k.variables(), 5);
    EXPECT_TRUE(k.allows(A, B));
    EXPECT_FALSE(k.allows(A, A));
    EXPECT_FALSE(k.in_boundary(A, B));
    EXPECT_FALSE(k.out_of_boundary(A, B));
    EXPECT_EQ(k.allowed().cast<int>().sum(), 20);
    EXPECT_EQ(k.boundary_candidates().cast<int>().sum(), 20);
    EXPECT_THAT(k.known_boundary(A), IsEmpty());
    EXPECT_THAT(k.violations(ByteMatrix::Ones(5, 5)), IsEmpty());
    EXPECT_THAT(k.violations_of_boundaries({}), IsEmpty());
    EXPECT_EQ(k.to_text(), "");
  }
  EXPECT_TRUE(Knowledge().empty());
  EXPECT_TRUE(Knowledge().allows(0, 1));
  EXPECT_EQ(know("", {}).variables(), 0);
}

TEST(Knowledge, Forbid) {
  const Knowledge k = know("forbid a -> b  # why\nforbid\tc -- d\n");
  EXPECT_FALSE(k.empty());
  EXPECT_FALSE(k.allows(A, B));
  EXPECT_TRUE(k.allows(B, A));
  EXPECT_TRUE(k.may_neighbour(A, B));
  EXPECT_FALSE(k.may_neighbour(C, D));
  EXPECT_FALSE(k.out_of_boundary(C, D));  // they may still have a child in common
  EXPECT_EQ(excluded_edges(k), 3);
}

TEST(Knowledge, ForbidEvery) {
  EXPECT_EQ(excluded_edges(know("forbid * -> a")), 4);
  EXPECT_EQ(excluded_edges(know("forbid a -> *")), 4);
  EXPECT_EQ(excluded_edges(know("forbid * -- a")), 8);
  EXPECT_EQ(excluded_edges(know("forbid * -> *")), 20);
  EXPECT_EQ(know("forbid * -- *").boundary_candidates().cast<int>().sum(), 0);
  const Names names = {"*", "b"};
  EXPECT_EQ(excluded_edges(know("forbid \"*\" -> b", names)), 1);
  EXPECT_EQ(excluded_edges(know("forbid * -> b", names)), 1);
  EXPECT_EQ(excluded_edges(know("forbid * -> *", names)), 2);
}

TEST(Knowledge, Require) {
  const Knowledge k = know("require a -> c\nrequire b -> c\nrequire c -> d");
  EXPECT_TRUE(k.requires_edge(A, C));
  EXPECT_FALSE(k.requires_edge(C, A));
  EXPECT_TRUE(k.requires_link(C, A));
  EXPECT_THAT(k.required_edges(), ElementsAre(Pair(A, C), Pair(B, C), Pair(C, D)));
  EXPECT_TRUE(k.in_boundary(A, B));  // parents of one child
  EXPECT_TRUE(k.in_boundary(D, C));
  EXPECT_FALSE(k.in_boundary(A, D));
  EXPECT_THAT(k.known_boundary(A), ElementsAre(B, C));
  EXPECT_THAT(k.known_boundary(E), IsEmpty());
  EXPECT_FALSE(k.allows(C, A));
  EXPECT_FALSE(k.allows(D, A));  // a → c → d → a would be a cycle
  EXPECT_TRUE(k.allows(A, D));
}

TEST(Knowledge, RequiredLinkTakesTheDirectionThatIsLeft) {
  const Knowledge open = know("require b -- a");
  EXPECT_TRUE(open.requires_link(A, B));
  EXPECT_FALSE(open.requires_edge(A, B));
  EXPECT_THAT(open.open_links(), ElementsAre(Pair(A, B)));
  EXPECT_TRUE(open.in_boundary(A, B));
  EXPECT_THAT(open.known_boundary(A), ElementsAre(B));

  // Each direction follows from the one before: b → c is forbidden, so c → b; then d → c → b, so d → b.
  const Knowledge chain = know("require d -- b\nrequire d -> c\nrequire b -- c\nforbid b -> c");
  EXPECT_THAT(chain.required_edges(), ElementsAre(Pair(C, B), Pair(D, B), Pair(D, C)));
  EXPECT_THAT(chain.open_links(), IsEmpty());
}

TEST(Knowledge, Tiers) {
  const Knowledge k = know("tier 2: c d\ntier 10 : e\ntier 1: a\ntier 2 within forbidden\n");
  EXPECT_TRUE(k.allows(A, E));
  EXPECT_FALSE(k.allows(E, A));
  EXPECT_FALSE(k.allows(E, C));
  EXPECT_FALSE(k.allows(C, A));
  EXPECT_FALSE(k.may_neighbour(C, D));
  EXPECT_TRUE(k.allows(E, B) && k.allows(B, A));  // b is in no tier
  EXPECT_EQ(excluded_edges(k), 1 + 2 + 2 + 2);
  EXPECT_EQ(know("tier 1: a\ntier 1: b a\n"), know("tier 1: b a"));
}

TEST(Knowledge, RootsAndSinks) {
  const Knowledge k = know("root a b\nsink d e");
  EXPECT_FALSE(k.may_neighbour(A, B));
  EXPECT_FALSE(k.may_neighbour(D, E));
  EXPECT_FALSE(k.out_of_boundary(A, B));
  EXPECT_TRUE(k.out_of_boundary(D, E));  // no children, so none in common
  EXPECT_EQ(k.boundary_candidates()(D, E), 0);
  EXPECT_EQ(k.boundary_candidates()(A, B), 1);
}

TEST(Knowledge, Boundaries) {
  const Knowledge k = know("in-boundary b a\nnot-in-boundary c d\nrequire c -> e");
  EXPECT_TRUE(k.in_boundary(A, B));
  EXPECT_FALSE(k.requires_link(A, B));
  EXPECT_TRUE(k.out_of_boundary(C, D));
  EXPECT_TRUE(k.out_of_boundary(D, C));
  EXPECT_FALSE(k.may_neighbour(C, D));
  EXPECT_FALSE(k.allows(D, E));  // c is a parent of e
  EXPECT_TRUE(k.allows(E, D));
}

TEST(Knowledge, ABoundaryWithOneWayLeftRequiresIt) {
  EXPECT_THAT(know("in-boundary d e\nsink d").required_edges(), ElementsAre(Pair(E, D)));
  EXPECT_THAT(know("in-boundary a b\nforbid a -> c\nforbid b -> d\nforbid a -> e").open_links(),
              ElementsAre(Pair(A, B)));
  EXPECT_THAT(know("in-boundary a b\nroot a b\nsink d\nforbid a -> c\nforbid b -> d").required_edges(),
              ElementsAre(Pair(A, E), Pair(B, E)));
  // e → d follows, which a cannot share, and leaves c to a and b.
  EXPECT_THAT(know("in-boundary a b\nforbid a -- b\nin-boundary d e\nsink d\nnot-in-boundary a e").required_edges(),
              ElementsAre(Pair(A, C), Pair(B, C), Pair(E, D)));
}

TEST(Knowledge, NamesInQuotes) {
  const Names names = {"two words", "say \"hi\"", "line\nbreak", "#x", "", "->"};
  const Knowledge k =
      know("forbid \"two words\" -> \"say \"\"hi\"\"\"\nforbid \"line\nbreak\" -> \"#x\"\nroot \"\" ->", names);
  EXPECT_FALSE(k.allows(0, 1));
  EXPECT_FALSE(k.allows(2, 3));
  EXPECT_FALSE(k.allows(0, 4));
  EXPECT_FALSE(k.allows(0, 5));
  EXPECT_EQ(know(k.to_text(), names), k);
  EXPECT_THAT(error_in("forbid \"line\nbreak\" -> \"#x\"\nroot z", names), HasSubstr("line 3"));
}

TEST(Knowledge, WindowsFiles) {
  EXPECT_EQ(know("\xEF\xBB\xBF# made on Windows\r\nforbid a -> b\r\ntier 1: c\r\n\r\nroot d"),
            know("forbid a -> b\ntier 1: c\nroot d\n"));
  EXPECT_EQ(know("\xEF\xBB\xBF"
                 "From,To,Kind\r\na,b,Forbidden\r\n\r\n"),
            know("forbid a -> b"));
  EXPECT_EQ(know("\xEF\xBB\xBF/knowledge\r\nforbiddirect\r\na b\r\n"), know("forbid a -> b"));
}

TEST(Knowledge, TheExampleOfTheDocumentation) {
  const Knowledge k = know(
      "# what we know about the study\ntier 1: age sex\ntier 2: diet exercise \"body mass\"\ntier 3: pressure\n"
      "tier 1 within forbidden\nforbid diet -> exercise\nrequire diet -> \"body mass\"\n"
      "require exercise -- \"body mass\"\nforbid * -> age\nroot sex\nsink pressure\nin-boundary age pressure\n"
      "not-in-boundary sex diet\n",
      {"age", "sex", "diet", "exercise", "body mass", "pressure"});
  EXPECT_THAT(k.required_edges(), ElementsAre(Pair(0, 5), Pair(2, 4)));  // a sink's boundary is its parents
  EXPECT_THAT(k.open_links(), ElementsAre(Pair(3, 4)));
  EXPECT_FALSE(k.allows(1, 4));  // sex and diet would be parents of body mass
}

TEST(Knowledge, EqualWhateverTheOrder) {
  EXPECT_EQ(know("forbid a -> b\nforbid b -> a\nrequire d -- c"), know("require c -- d\nforbid b -- a\nforbid a -> b"));
  EXPECT_FALSE(know("forbid a -> b") == know("forbid b -> a"));
  EXPECT_FALSE(know("forbid a -> b") == know("forbid a -> b", {"a", "b"}));
}

// ---- Other formats --------------------------------------------------------------------------------------------------

TEST(KnowledgeCsv, Reads) {
  const Names names = {"a", "b, c", "d \"e\""};
  EXPECT_EQ(know("from,to,kind\na,\"b, c\",forbidden\n\n\"d \"\"e\"\"\", a ,REQUIRED\n", names),
            know("forbid a -> \"b, c\"\nrequire \"d \"\"e\"\"\" -> a", names));
  EXPECT_EQ(know("# exported\nfrom;to;kind\na;*;forbidden"), know("forbid a -> *"));
  EXPECT_EQ(know("from\tto\tkind\na\tb\trequired"), know("require a -> b"));
  EXPECT_TRUE(know("from,to,kind\n").empty());
}

TEST(KnowledgeCsv, Errors) {
  EXPECT_EQ(error_in("from,to,kind\na,b\n"), sentence(2, "2 cells, expected from, to and kind."));
  EXPECT_EQ(error_in("from,to,kind\na,b,c,d\n"), sentence(2, "4 cells, expected from, to and kind."));
  EXPECT_EQ(error_in("from,to,kind\n\na,b,perhaps\n"),
            sentence(3, "the kind is 'perhaps'. Write forbidden or required."));
  EXPECT_EQ(error_in("from,to,kind\n\"x\ny\",b,required", {"b", "x\ny"}), "nothing was thrown");
  EXPECT_THAT(error_in("from,to,kind\n\"x\ny\",b,required\nz,b,required", {"b", "x\ny"}), HasSubstr("line 4"));
  EXPECT_THAT(error_in("from,to,kind\n\"a,b,required\n"), HasSubstr("line 2: the quotes of cell 1"));
  EXPECT_THAT(error_in("# x\nfrom,to,kind\n*,b,required\n"), HasSubstr("line 3: '*' for every variable"));
}

TEST(KnowledgeTetrad, Reads) {
  EXPECT_EQ(know("/knowledge\naddtemporal\n\n1 a b\n2* c d\n3\n4*\n\nforbiddirect\n\na ==> e\n* b\n\nrequiredirect\n"
                 "// why\na c\n"),
            know("tier 1: a b\ntier 2: c d\ntier 2 within forbidden\nforbid a -> e\nforbid * -> b\nrequire a -> c"));
  EXPECT_EQ(know("// from Tetrad\nADDTEMPORAL\n0 a\n1 b"), know("tier 0: a\ntier 1: b"));
  EXPECT_TRUE(know("/knowledge\naddtemporal\nforbiddirect\nrequiredirect\nforbiddengroup\n").empty());
}

TEST(KnowledgeTetrad, Errors) {
  EXPECT_EQ(error_in("/knowledge\na b"), sentence(2, "'a' comes before addtemporal, forbiddirect or requiredirect."));
  EXPECT_EQ(error_in("/knowledge\naddtemporal\nx a"),
            sentence(3, "'x' is no tier. Tiers are whole numbers, the earliest the smallest."));
  EXPECT_THAT(error_in("/knowledge\naddtemporal\n1- a"), HasSubstr("line 3: '1-', a tier with edges into the next"));
  EXPECT_EQ(error_in("/knowledge\nforbiddirect\na b c"), sentence(3, "3 words, expected two names."));
  EXPECT_THAT(error_in("/knowledge\nforbiddengroup\na b\nc"), HasSubstr("Write their pairs under forbiddirect."));
  EXPECT_THAT(error_in("/knowledge\nforbiddirect\na b\nrequiredirect\na b"),
              HasSubstr("line 5: 'a' → 'b' is required, but line 3 forbids it."));
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

TEST(KnowledgeErrors, UnknownNamesSuggestTheNearest) {
  const Names names = {"age", "weight", "blood pressure"};
  EXPECT_EQ(error_in("\nforbid wieght -> age", names),
            sentence(2, "no column is called 'wieght'. Did you mean 'weight'?"));
  EXPECT_EQ(error_in("root blood pressure", names),
            sentence(1, "no column is called 'blood'. The columns are 'age', 'weight', 'blood pressure'."));
  EXPECT_EQ(error_in("sink zzz", {"a", "b", "c", "d", "e", "f", "g"}),
            sentence(1, "no column is called 'zzz'. The columns are 'a', 'b', 'c', 'd', 'e' and 2 more."));
}

TEST(KnowledgeErrors, EveryLineThatIsWrongIsNamed) {
  EXPECT_EQ(error_in("root a\n\nforbidd a -> b"),
            sentence(3,
                     "'forbidd' is no rule. Did you mean 'forbid'? Rules are forbid, require, tier, root, sink, "
                     "in-boundary, not-in-boundary."));
  EXPECT_THAT(error_in("x,y"), HasSubstr("line 1: 'x,y' is no rule. Rules are"));
  for (const char* edge : {"forbid a->b", "forbid a b", "forbid a -> b c", "forbid", "forbid a <- b"}) {
    EXPECT_THAT(error_in(edge), HasSubstr("line 1: write forbid a -> b")) << edge;
  }
  EXPECT_THAT(error_in("require a b"), HasSubstr("line 1: write require a -> b"));
  EXPECT_EQ(error_in("require * -> b"),
            sentence(1, "'*' for every variable is for forbidden edges only. Write the names here."));
  EXPECT_EQ(error_in("forbid a -> a"), sentence(1, "'a' is paired with itself."));
  EXPECT_EQ(error_in("in-boundary a a"), sentence(1, "'a' is paired with itself."));
  EXPECT_EQ(error_in("in-boundary a b c"),
            sentence(1, "'in-boundary' is about two variables, here are 3. Write in-boundary a b."));
  EXPECT_EQ(error_in("root"), sentence(1, "'root' names no variable. Write root a b."));
  for (const char* tier : {"tier", "tier 1", "tier 1:", "tier 1 a", "tier 1 within", "tier \"1:\" a"}) {
    EXPECT_THAT(error_in(tier), HasSubstr("line 1: write tier 1: a b c")) << tier;
  }
  for (const char* tier : {"tier x: a", "tier -1: a", "tier 1.5: a", "tier 99999999999: a", "tier : a"}) {
    EXPECT_THAT(error_in(tier), HasSubstr("is no tier")) << tier;
  }
  EXPECT_THAT(error_in("root a\nroot \"a\nb"), HasSubstr("line 2: the quote before 'a?b' is not closed."));
  EXPECT_THAT(error_in("root \"a\"b"), HasSubstr("line 1: text follows the closing quote of 'a'"));
  EXPECT_THAT(error_in("tier 1:\"a\""), HasSubstr("line 1: '1:\"a\"' has a quote inside"));
}

TEST(KnowledgeErrors, CallersMistakes) {
  EXPECT_THROW(know("", {"a", "a"}), UsageError);
  EXPECT_THROW(Knowledge(kNames, {{Kind::require, 0, 5}}), UsageError);
  EXPECT_THROW(Knowledge(kNames, {{Kind::require, 0, Statement::kAny}}), UsageError);
  EXPECT_THROW(Knowledge(kNames, {{Kind::forbid, 1, 1}}), UsageError);
  EXPECT_THROW(Knowledge(kNames, {{Kind::tier, 1, -1}}), UsageError);
  const Knowledge k = know("root a");
  EXPECT_THROW(k.violations(ByteMatrix::Zero(4, 4)), UsageError);
  EXPECT_THROW(k.violations(ByteMatrix::Zero(5, 5), ByteMatrix::Zero(4, 4)), UsageError);
  EXPECT_THROW(k.violations_of_boundaries({{}, {}}), UsageError);
  EXPECT_THROW(k.violations_of_boundaries({{}, {}, {9}, {}, {}}), UsageError);
  EXPECT_THROW(k.violations_of_boundaries({{}, {}, {}, {}, {}}, {5}), UsageError);
  EXPECT_THROW(load_knowledge("/nowhere/rules.txt", kNames), UsageError);
}

// ---- Contradictions -------------------------------------------------------------------------------------------------

TEST(KnowledgeContradictions, RequiredAndForbidden) {
  EXPECT_EQ(error_in("forbid a -> b\nroot c\nrequire a -> b"),
            sentence(3, "'a' → 'b' is required, but line 1 forbids it. Remove one of these lines."));
  EXPECT_THAT(error_in("require a -> b\nforbid * -> b"),
              HasSubstr("line 1: 'a' → 'b' is required, but line 2 forbids"));
}

TEST(KnowledgeContradictions, RequiredAgainstTiers) {
  EXPECT_EQ(error_in("tier 1: a\ntier 2: b\nrequire b -> a"),
            sentence(3,
                     "'b' → 'a' is required, but 'b' is in tier 2 (line 2) and 'a' in the earlier tier 1 (line 1). "
                     "Remove one of these lines."));
  EXPECT_EQ(error_in("tier 1: a\ntier 1: b\ntier 1 within forbidden\nrequire b -> a"),
            sentence(4,
                     "'b' → 'a' is required, but both are in tier 1 (lines 1 and 2), where line 3 forbids edges. "
                     "Remove one of these lines."));
}

TEST(KnowledgeContradictions, Tiers) {
  EXPECT_EQ(error_in("tier 2: a\nroot b\ntier 1: a"),
            sentence(3, "'a' is put in tier 1, but line 1 puts it in tier 2. A variable has one tier."));
  EXPECT_EQ(error_in("tier 1: a\ntier 3 within forbidden"),
            sentence(2, "edges are forbidden within tier 3, but no variable is in it."));
}

TEST(KnowledgeContradictions, RootsAndSinks) {
  EXPECT_EQ(error_in("root b c\nrequire a -> b"),
            sentence(2,
                     "'a' → 'b' is required, but 'b' is a root (line 1), which has no parents. Remove one of these "
                     "lines."));
  EXPECT_EQ(error_in("require a -> b\nsink a"),
            sentence(1,
                     "'a' → 'b' is required, but 'a' is a sink (line 2), which has no children. Remove one of these "
                     "lines."));
}

TEST(KnowledgeContradictions, Cycles) {
  EXPECT_EQ(error_in("require a -> b\nrequire b -> c\nrequire c -> a"),
            sentence(3,
                     "'c' → 'a' is required, but it closes a cycle of required edges: 'c' → 'a' → 'b' → 'c' (lines "
                     "1 and 2). Remove one of these lines."));
  EXPECT_THAT(error_in("require a -> b\nrequire b -> a"), HasSubstr("'b' → 'a' → 'b' (line 1)"));
  // Through a link that has only one direction left.
  EXPECT_EQ(error_in("require a -> b\nrequire b -- c\nforbid c -> b\nrequire c -> a"),
            "[knowledge] rules.txt line 2: it requires an edge between 'b' and 'c', but both directions are excluded: "
            "'b' → 'c', for it closes a cycle of required edges: 'b' → 'c' → 'a' → 'b' (lines 1 and 4); 'c' → 'b', "
            "for line 3 forbids it. Remove one of these lines.");
  const Names names = default_names(20);
  std::string ring;
  for (int i = 0; i < 20; ++i)
    ring += "require x" + std::to_string(i + 1) + " -> x" + std::to_string((i + 1) % 20 + 1) + "\n";
  EXPECT_THAT(error_in(ring, names), AllOf(HasSubstr("'x12' → … (7 more) → 'x20'"), HasSubstr("5, 6 and 13 more)")));
}

TEST(KnowledgeContradictions, Links) {
  EXPECT_EQ(error_in("forbid a -> b\nroot a\nrequire b -- a"),
            sentence(3,
                     "it requires an edge between 'a' and 'b', but both directions are excluded: 'a' → 'b', for line "
                     "1 forbids it; 'b' → 'a', for 'a' is a root (line 2), which has no parents. Remove one of these "
                     "lines."));
}

TEST(KnowledgeContradictions, Boundaries) {
  EXPECT_EQ(error_in("in-boundary a b\nnot-in-boundary b a"),
            sentence(2, "'a' and 'b' are said not to be in each other's boundary, but line 1 says the opposite."));
  EXPECT_EQ(error_in("not-in-boundary a b\nin-boundary b a"),
            sentence(2, "'a' and 'b' are said to be in each other's boundary, but line 1 says the opposite."));
  EXPECT_EQ(error_in("sink a\nin-boundary a b\nsink b"),
            sentence(2,
                     "'a' and 'b' are said to be in each other's boundary, but neither an edge between them nor a "
                     "common child is possible (lines 1 and 3)."));
  EXPECT_EQ(error_in("not-in-boundary a b\nrequire b -> a"),
            sentence(2,
                     "'b' → 'a' is required, but line 1 says that they are not in each other's boundary. Remove one "
                     "of these lines."));
  EXPECT_EQ(error_in("require a -> c\nrequire b -> c\nnot-in-boundary a b"),
            sentence(2,
                     "'b' → 'c' is required, but 'a' → 'c' is required (line 1) and line 3 says that 'a' and 'b' are "
                     "not in each other's boundary, as two parents of one child are. Remove one of these lines."));
  EXPECT_EQ(error_in("in-boundary a b", {"a", "b"}), "nothing was thrown");
  EXPECT_THAT(error_in("in-boundary a b\nforbid a -- b", {"a", "b"}), HasSubstr("(line 2)"));
}

TEST(KnowledgeContradictions, OfWhatFollowsNameAllLines) {
  // The boundary leaves a common child e only, and e must not have the parent a.
  EXPECT_THAT(error_in("in-boundary a b\nforbid a -- b\nforbid a -> c\nforbid b -> d\nrequire c -> e\n"
                       "not-in-boundary c a"),
              AllOf(HasSubstr("line 1: 'a' and 'b' are said to be"), HasSubstr("(lines 2, 3, 4, 5 and 6)")));
  EXPECT_EQ(message_of<DataError>([] {
              Knowledge(kNames, {{Kind::require, A, B}, {Kind::forbid, A, B}});
            }),
            "[knowledge] the statements line 1: 'a' → 'b' is required, but line 2 forbids it. Remove one of these "
            "lines.");
}

// ---- Verification ---------------------------------------------------------------------------------------------------

ByteMatrix edges(std::initializer_list<std::pair<int, int>> list) {
  ByteMatrix matrix = ByteMatrix::Zero(5, 5);
  for (const auto& [from, to] : list) matrix(from, to) = 1;
  return matrix;
}

TEST(KnowledgeViolations, OfGraphs) {
  const Knowledge k = know("forbid a -> b\nrequire b -> c\nrequire c -- d\nin-boundary a e\nnot-in-boundary a c");
  EXPECT_THAT(k.violations(edges({{B, C}, {C, D}, {E, A}})), IsEmpty());
  EXPECT_THAT(
      k.violations(edges({{A, B}, {C, D}, {A, D}})),
      ElementsAre("rules.txt: the graph has 'a' → 'b', but line 1 forbids it.",
                  "rules.txt: the graph lacks 'b' → 'c', required by line 2.",
                  "rules.txt: 'a' and 'e' are not in each other's boundary, but line 4 says that they are.",
                  "rules.txt: 'a' and 'c' are parents of 'd', but line 5 says that they are not in each other's "
                  "boundary."));
  EXPECT_THAT(k.violations(edges({{B, C}, {E, A}})),
              ElementsAre("rules.txt: the graph lacks an edge between 'c' and 'd', required by line 3."));
  EXPECT_THAT(k.violations(edges({{B, C}, {D, C}, {A, D}, {E, D}})), IsEmpty());  // a and e are parents of d
}

TEST(KnowledgeViolations, OfPartiallyDirectedGraphs) {
  const Knowledge k = know("forbid a -- b\nforbid c -> d\nrequire d -- e\nin-boundary b e");
  EXPECT_THAT(k.violations(edges({}), edges({{D, E}, {E, D}, {B, E}})), IsEmpty());
  EXPECT_THAT(
      k.violations(edges({{B, E}}), edges({{D, E}, {A, B}, {D, C}})),
      ElementsAre("rules.txt: the graph has an edge between 'a' and 'b', but both directions are excluded: 'a' → "
                  "'b', for line 1 forbids it; 'b' → 'a', for line 1 forbids it.",
                  "rules.txt: the graph leaves the direction of an edge open that can only be 'd' → 'c': against "
                  "the other, line 2 forbids it."));
}

TEST(KnowledgeViolations, OfBoundaries) {
  const Knowledge k = know("require a -> c\nrequire b -> c\nrequire c -- d\nin-boundary a e\nnot-in-boundary b e");
  EXPECT_THAT(k.violations_of_boundaries({{B, C, E}, {A, C}, {A, B, D}, {C}, {A}}), IsEmpty());
  EXPECT_THAT(
      k.violations_of_boundaries({{}, {E}, {A, B}, {C}, {A}}),
      ElementsAre("rules.txt: the boundary of 'a' lacks 'b', but lines 1 and 2 require both to be parents of 'c'.",
                  "rules.txt: the boundary of 'a' lacks 'c', but 'a' → 'c' is required by line 1.",
                  "rules.txt: the boundary of 'a' lacks 'e', but line 4 says that they are in each other's "
                  "boundary.",
                  "rules.txt: the boundary of 'b' has 'e', but line 5 says that they are not in each other's "
                  "boundary.",
                  "rules.txt: the boundary of 'b' lacks 'a', but lines 1 and 2 require both to be parents of 'c'.",
                  "rules.txt: the boundary of 'b' lacks 'c', but 'b' → 'c' is required by line 2.",
                  "rules.txt: the boundary of 'c' lacks 'd', but an edge between them is required by line 3."));
  EXPECT_THAT(k.violations_of_boundaries({{}, {}, {}, {C}, {}}, {D}), IsEmpty());
  EXPECT_THAT(know("sink a b").violations_of_boundaries({{B}, {}, {}, {}, {}}),
              ElementsAre("rules.txt: the boundary of 'a' has 'b', but neither an edge between them nor a common child "
                          "is possible."));
}

// ---- Files ----------------------------------------------------------------------------------------------------------

TEST(Knowledge, LoadsAFile) {
  const std::string path = testing::TempDir() + "knowledge_rules.txt";
  std::ofstream(path) << "forbid a -> b\n";
  EXPECT_EQ(load_knowledge(path, kNames), know("forbid a -> b"));
  std::ofstream(path) << "forbid a -> z\n";
  EXPECT_THAT(message_of<DataError>([&] { load_knowledge(path, kNames); }), HasSubstr(path + " line 1: no column"));
  std::filesystem::remove(path);
}

TEST(Knowledge, WritesItsText) {
  EXPECT_EQ(know("sink e\nnot-in-boundary c a\nin-boundary d b\nroot b\nroot a\nforbid c -- b\nforbid * -> c\n"
                 "require c -- d\nrequire d -> e\ntier 3: d c\ntier 2: a\ntier 2 within forbidden\nforbid * -- a")
                .to_text(),
            "tier 2: a\ntier 2 within forbidden\ntier 3: c d\nroot a b\nsink e\nforbid * -- a\nforbid * -> c\n"
            "forbid b -- c\nrequire d -> e\nrequire c -- d\nin-boundary b d\nnot-in-boundary a c\n");
}

// ---- Properties -----------------------------------------------------------------------------------------------------

Statement any_statement(int variables, std::initializer_list<Kind> kinds) {
  Statement s{*rc::gen::elementOf(std::vector<Kind>(kinds))};
  s.a = *rc::gen::inRange(0, variables);
  s.b = (s.a + *rc::gen::inRange(1, variables)) % variables;
  if (s.kind == Kind::tier || s.kind == Kind::tier_within) s.b = *rc::gen::inRange(0, 3);
  if (s.kind == Kind::forbid && *rc::gen::inRange(0, 8) == 0) s.a = Statement::kAny;
  if (s.kind == Kind::forbid && *rc::gen::inRange(0, 8) == 0) s.b = Statement::kAny;
  return s;
}

std::vector<Statement> any_statements(int variables, int most, std::initializer_list<Kind> kinds) {
  std::vector<Statement> statements;
  const int count = *rc::gen::inRange(0, most + 1);
  for (int i = 0; i < count; ++i) {
    const Statement s = any_statement(variables, kinds);
    // One tier a variable, and no rules for tiers without any.
    const bool met = std::any_of(statements.begin(), statements.end(), [&](const Statement& other) {
      return other.kind == Kind::tier && (s.kind == Kind::tier ? other.a == s.a : other.b == s.b);
    });
    if (s.kind == Kind::tier ? !met : s.kind != Kind::tier_within || met) statements.push_back(s);
  }
  return statements;
}

TEST(KnowledgeProperties, TextReadsBack) {
  EXPECT_TRUE(rc::check("to_text() parses to the same value, whatever the names", [] {
    Names names;
    const int variables = *rc::gen::inRange(2, 8);
    const std::string letters = "ab\"# \n\r\t*->:,\xC3\xA9\xFF";
    for (int i = 0; i < variables; ++i) {
      std::string name;
      for (int length = *rc::gen::inRange(0, 5); length > 0; --length) name += *rc::gen::elementOf(letters);
      if (std::find(names.begin(), names.end(), name) != names.end()) name += std::to_string(i);
      names.push_back(name);
    }
    try {
      const Knowledge k(names,
                        any_statements(variables, 8,
                                       {Kind::forbid, Kind::require, Kind::require_link, Kind::tier, Kind::tier_within,
                                        Kind::root, Kind::sink, Kind::in_boundary, Kind::not_in_boundary}));
      const Knowledge again = Knowledge::parse(k.to_text(), "again", names);
      RC_ASSERT(again == k);
      RC_ASSERT(again.to_text() == k.to_text());
      RC_ASSERT(again.allowed() == k.allowed());
      RC_ASSERT(again.boundary_candidates() == k.boundary_candidates());
    } catch (const DataError&) {
    }
  }));
}

std::vector<Dag> all_dags(int nodes) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < i; ++j) pairs.emplace_back(i, j);
  }
  int combinations = 1;
  for (std::size_t i = 0; i < pairs.size(); ++i) combinations *= 3;
  std::vector<Dag> dags;
  for (int code = 0; code < combinations; ++code) {
    ByteMatrix adjacency = ByteMatrix::Zero(nodes, nodes);
    int digits = code;
    for (const auto& [i, j] : pairs) {
      if (digits % 3 == 1) adjacency(i, j) = 1;
      if (digits % 3 == 2) adjacency(j, i) = 1;
      digits /= 3;
    }
    if (find_cycle(adjacency).empty()) dags.emplace_back(adjacency);
  }
  return dags;
}

/// Straight from what the statements mean.
bool satisfies(const Dag& dag, const std::vector<Statement>& statements) {
  const ByteMatrix moral = dag.moral_graph();
  const auto linked = [&](int i, int j) { return dag.has_edge(i, j) || dag.has_edge(j, i); };
  const auto in_tier = [&](int variable, int tier) {
    return std::find(statements.begin(), statements.end(), Statement{Kind::tier, variable, tier}) != statements.end();
  };
  return std::all_of(statements.begin(), statements.end(), [&](const Statement& s) {
    for (int i = 0; i < dag.nodes(); ++i) {
      for (const int j : dag.children(i)) {
        const bool from = s.a == i || s.a == Statement::kAny, to = s.b == j || s.b == Statement::kAny;
        if (s.kind == Kind::forbid && from && to) return false;
        if (s.kind == Kind::root && s.a == j) return false;
        if (s.kind == Kind::sink && s.a == i) return false;
        if (s.kind == Kind::tier_within && in_tier(i, s.b) && in_tier(j, s.b)) return false;
        if (s.kind != Kind::tier || s.a != i) continue;
        for (int earlier = 0; earlier < s.b; ++earlier) {
          if (in_tier(j, earlier)) return false;
        }
      }
    }
    if (s.kind == Kind::require) return dag.has_edge(s.a, s.b);
    if (s.kind == Kind::require_link) return linked(s.a, s.b);
    if (s.kind == Kind::in_boundary) return moral(s.a, s.b) != 0;
    if (s.kind == Kind::not_in_boundary) return moral(s.a, s.b) == 0;
    return true;
  });
}

/// No choice is left that the closure does not work out.
bool is_settled(const Knowledge& k) {
  bool no_pair_is_out = true;
  for (const Statement& s : k.statements()) {
    if (s.kind == Kind::not_in_boundary) no_pair_is_out = false;
    if (s.kind != Kind::in_boundary || k.requires_link(s.a, s.b)) continue;
    bool settled = false;
    for (int child = 0; child < k.variables(); ++child) {
      settled = settled || (k.requires_edge(s.a, child) && k.requires_edge(s.b, child));
    }
    if (!settled) return false;
  }
  return no_pair_is_out || k.open_links().empty();
}

struct Tally {
  int contradictions = 0, exact = 0, inexact = 0;
};

/// Compares everything with the graphs that satisfy the statements, found one by one.
void compare_with_all_graphs(const std::vector<Dag>& dags, int nodes, const std::vector<Statement>& statements,
                             Tally& tally) {
  std::vector<const Dag*> consistent;
  for (const Dag& dag : dags) {
    if (satisfies(dag, statements)) consistent.push_back(&dag);
  }
  Knowledge k;
  try {
    k = Knowledge(default_names(nodes), statements);
  } catch (const DataError&) {
    RC_ASSERT(consistent.empty());
    ++tally.contradictions;
    return;
  }
  if (k.empty()) return;
  Eigen::MatrixXi edge = Eigen::MatrixXi::Zero(nodes, nodes), moral = edge;  // in how many
  for (const Dag* dag : consistent) {
    edge += dag->adjacency().cast<int>();
    moral += dag->moral_graph().cast<int>();
  }
  const int all = static_cast<int>(consistent.size());
  const ByteMatrix allowed = k.allowed(), candidates = k.boundary_candidates();
  const bool exact = is_settled(k);
  ++(exact ? tally.exact : tally.inexact);
  if (exact) RC_ASSERT(all > 0);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      if (i == j) continue;
      RC_ASSERT(allowed(i, j) == k.allows(i, j));
      RC_ASSERT(candidates(i, j) == !k.out_of_boundary(i, j));
      RC_ASSERT(candidates(i, j) == candidates(j, i));
      if (!k.allows(i, j)) RC_ASSERT(edge(i, j) == 0);
      if (k.requires_edge(i, j)) RC_ASSERT(edge(i, j) == all);
      if (k.requires_link(i, j)) RC_ASSERT(edge(i, j) + edge(j, i) == all);
      if (k.in_boundary(i, j)) RC_ASSERT(moral(i, j) == all);
      if (k.out_of_boundary(i, j)) RC_ASSERT(moral(i, j) == 0);
      const std::vector<int> known = k.known_boundary(i);
      RC_ASSERT(k.in_boundary(i, j) == std::binary_search(known.begin(), known.end(), j));
      if (!exact) continue;
      RC_ASSERT(k.allows(i, j) == (edge(i, j) > 0));
      RC_ASSERT(k.requires_edge(i, j) == (edge(i, j) == all));
      RC_ASSERT(k.out_of_boundary(i, j) == (moral(i, j) == 0));
      if (k.open_links().empty()) RC_ASSERT(k.in_boundary(i, j) == (moral(i, j) == all));
    }
  }
  for (const Dag& dag : dags) {
    const bool satisfied = satisfies(dag, statements);
    RC_ASSERT(k.violations(dag.adjacency()).empty() == satisfied);
    if (!satisfied) continue;
    std::vector<std::vector<int>> boundaries;
    for (int i = 0; i < nodes; ++i) boundaries.push_back(dag.markov_boundary(i));
    RC_ASSERT(k.violations_of_boundaries(boundaries).empty());
  }
}

TEST(KnowledgeProperties, AgreesWithAllGraphs) {
  const std::vector<std::vector<Dag>> dags = {{}, {}, all_dags(2), all_dags(3), all_dags(4)};
  ASSERT_EQ(dags[4].size(), 543u);
  Tally tally;
  EXPECT_TRUE(rc::check("edges, tiers, roots and sinks: exactly what follows", [&] {
    const int nodes = *rc::gen::inRange(2, 5);
    const auto statements = any_statements(
        nodes, 7,
        {Kind::forbid, Kind::require, Kind::require_link, Kind::tier, Kind::tier_within, Kind::root, Kind::sink});
    const int contradictions = tally.contradictions, inexact = tally.inexact;
    compare_with_all_graphs(dags[static_cast<std::size_t>(nodes)], nodes, statements, tally);
    RC_ASSERT(tally.inexact == inexact);
    RC_CLASSIFY(tally.contradictions > contradictions, "contradiction");
  }));
  tally = {};
  EXPECT_TRUE(rc::check("with boundaries: nothing but what follows", [&] {
    const int nodes = *rc::gen::inRange(2, 5);
    compare_with_all_graphs(dags[static_cast<std::size_t>(nodes)], nodes,
                            any_statements(nodes, 7,
                                           {Kind::forbid, Kind::forbid, Kind::require, Kind::require_link, Kind::root,
                                            Kind::sink, Kind::in_boundary, Kind::not_in_boundary}),
                            tally);
  }));
  EXPECT_GT(tally.contradictions, 20);
  EXPECT_GT(tally.exact, 20);
  EXPECT_GT(tally.inexact, 10);
}

TEST(KnowledgeProperties, ManyVariables) {
  const int nodes = 1000;
  const Names names = default_names(nodes);
  std::vector<Statement> statements = {{Kind::tier_within, Statement::kAny, 0}};
  for (int i = 0; i < nodes; ++i) statements.push_back({Kind::tier, i, i % 4});
  for (int i = 4; i < nodes; i += 4) statements.push_back({Kind::require_link, i, i - 3});
  const Knowledge k(names, statements);
  EXPECT_EQ(k.required_edges().size(), 249u);
  EXPECT_TRUE(k.requires_edge(4, 1));
  EXPECT_FALSE(k.may_neighbour(0, 4));
  EXPECT_EQ(know(k.to_text(), names), k);
  EXPECT_EQ(k.boundary_candidates().cast<int>().sum(), nodes * (nodes - 1));
}

}  // namespace
}  // namespace fansite
