// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/dat_moral.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "classical_examples.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/neural/dropout_network_reference.h"
#include "fansite/report/json.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using List = std::vector<int>;

BoundariesParams few_steps(int steps = 600) {
  BoundariesParams params("dat-moral");
  auto& moral = params.options.as<DatMoralParams>();
  moral.networks.width = 16;
  moral.networks.rate = 3e-3;
  moral.networks.steps = steps;
  moral.networks.batch = 128;
  return params;
}

List members(const BoundariesResult& result, int target) {
  return result.found.boundaries[static_cast<std::size_t>(target)].member_indices();
}

Value detail(const BoundariesResult& result, const std::string& name) {
  for (const auto& [key, value] : result.details) {
    if (key == name) return value;
  }
  return std::string("none");
}

// All that a result says, but for what it took.
std::string text_of(const BoundariesResult& result) {
  const std::string json = to_json(result, {});
  return json.substr(0, json.find("\"timing\""));
}

// ---- The loss -------------------------------------------------------------------------------------------------------

// e² + (e² − g)² + l1·error·Σ|W| with e² in the second term and the error before the sum as given.
TEST(DatMoral, GradientsAreThoseOfDifferencesWithTheFactorDetached) {
  const causal::NetworkShape shape{.inputs = 3, .width = 5, .layers = 3};
  std::vector<double> parameters(shape.parameters());
  Random random(Key{1});
  causal::initialise<double>(shape, random, parameters);
  const Matrix inputs = Matrix::NullaryExpr(3, 8, [&] { return random.normal(); });
  const Eigen::RowVectorXd variable = Eigen::RowVectorXd::NullaryExpr(8, [&] { return random.normal(); });
  constexpr double kL1 = 0.3;

  causal::DropoutNetwork<double> network(shape, 8);
  std::copy(parameters.begin(), parameters.end(), network.parameters().begin());
  Random masks(Key{2});
  const double error = moral_error<double>(network, inputs, variable, kL1, masks);

  const auto outputs = [&] {
    Random same(Key{2});
    return causal::reference::forward(shape, parameters, inputs, same);
  };
  const Eigen::RowVectorXd squares = (variable - outputs().row(0)).array().square();
  const auto loss = [&] {
    const Matrix predicted = outputs();
    const double fit = (variable - predicted.row(0)).squaredNorm() + (squares - predicted.row(1)).squaredNorm();
    const double l1 = std::accumulate(parameters.begin(), parameters.begin() + 15, 0.0,
                                      [](double sum, double w) { return sum + std::abs(w); });
    return fit / 8 + kL1 * error * l1;
  };
  const double l1_now = (loss() - error) / (kL1 * error);
  EXPECT_NEAR(l1_now, network.first_weights().cwiseAbs().sum(), 1e-9);
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    constexpr double h = 1e-6;
    const double before = parameters[at];
    parameters[at] = before + h;
    const double above = loss();
    parameters[at] = before - h;
    const double below = loss();
    parameters[at] = before;
    EXPECT_NEAR(network.gradient()[at], (above - below) / (2 * h), 1e-6) << at;
  }
}

// ---- Boundaries -----------------------------------------------------------------------------------------------------

TEST(DatMoral, TrueMembersComeFirst) {
  const BoundariesResult result = markov_boundaries(collider(1000), few_steps());
  const auto leading = [&](int target, std::size_t count) {
    List list = members(result, target);
    list.resize(std::min(count, list.size()));
    return sorted(list);
  };
  EXPECT_EQ(leading(0, 2), (List{1, 2}));  // child and spouse
  EXPECT_EQ(leading(1, 3), (List{0, 2, 3}));
  EXPECT_EQ(leading(2, 2), (List{0, 1}));
  EXPECT_EQ(leading(3, 1), (List{1}));
  EXPECT_THAT(result.how, HasSubstr("DAT-Moral"));
}

TEST(DatMoral, AThresholdLeavesTheRestOut) {
  BoundariesParams params = few_steps();
  const BoundariesResult all = markov_boundaries(collider(1000), params);
  params.options.set("moral_threshold", 0.3);
  const BoundariesResult some = markov_boundaries(collider(1000), params);
  EXPECT_LT(some.found.moral_edges.size(), all.found.moral_edges.size());
  EXPECT_EQ(sorted(members(some, 1)), (List{0, 2, 3}));
  EXPECT_TRUE(members(some, 4).empty());
  EXPECT_EQ(std::get<std::int64_t>(detail(some, "pairs_not_linked")),
            10 - static_cast<std::int64_t>(some.found.moral_edges.size()));
  const auto scores = std::get<std::vector<std::string>>(detail(some, "scores"));
  ASSERT_EQ(scores.size(), some.found.moral_edges.size());
  EXPECT_THAT(scores.front(), testing::AnyOf(HasSubstr("x - y: "), HasSubstr("y - z: "), HasSubstr("w - y: ")));
}

TEST(DatMoral, SaysWhenEveryVariableIsAMember) {
  BoundariesParams params = few_steps(5);
  const BoundariesResult result = markov_boundaries(collider(200), params);
  for (int t = 0; t < 5; ++t) EXPECT_EQ(members(result, t).size(), 4u);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("no pair scores 0.008 or less")));
  params.options.set("moral_threshold", 100.0);
  const BoundariesResult none = markov_boundaries(collider(200), params);
  EXPECT_TRUE(none.found.moral_edges.empty());
  EXPECT_THAT(none.warnings, testing::Not(Contains(HasSubstr("no pair scores"))));
}

TEST(DatMoral, KnownMembersAreIn) {
  const Dataset data = collider(300);
  BoundariesParams params = few_steps(20);
  params.options.set("moral_threshold", 100.0);
  using Kind = Statement::Kind;
  const Knowledge knowledge(data.names, {{Kind::in_boundary, 3, 4}});
  NoProgress silent;
  const BoundariesResult result = markov_boundaries(data, knowledge, params, silent);
  EXPECT_EQ(members(result, 3), (List{4}));
}

// ---- Tables that are hard -------------------------------------------------------------------------------------------

TEST(DatMoral, FewerRowsThanABatchAreTakenAllAndSaid) {
  const BoundariesResult result = markov_boundaries(collider(90), few_steps(10));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("90 rows are fewer than a batch of 128")));
  EXPECT_EQ(detail(result, "batch_rows"), Value(std::int64_t{90}));
}

TEST(DatMoral, TwoColumns) {
  Dataset data = collider(200);
  data.names = {"x", "y"};
  data.values = Matrix(data.values.leftCols(2));
  const BoundariesResult result = markov_boundaries(data, few_steps(50));
  EXPECT_EQ(members(result, 0), (List{1}));
  EXPECT_THAT(result.warnings, testing::Not(Contains(HasSubstr("no pair scores"))));
}

TEST(DatMoral, ConstantsAndCopiesTakeNoPart) {
  Dataset data = collider(200);
  data.values.col(4).setConstant(3);
  data.values.col(3) = data.values.col(0);
  const BoundariesResult result = markov_boundaries(data, few_steps(50));
  EXPECT_TRUE(members(result, 4).empty());
  EXPECT_EQ(sorted(members(result, 0)), (List{1, 2}));
  EXPECT_EQ(detail(result, "networks"), Value(std::int64_t{3}));
}

TEST(DatMoral, MoreColumnsThanRows) {
  Dataset data;
  Random random(Key{5});
  data.names = default_names(12);
  data.values = Matrix::NullaryExpr(8, 12, [&] { return random.normal(); });
  const BoundariesResult result = markov_boundaries(data, few_steps(20));
  for (int t = 0; t < 12; ++t) EXPECT_EQ(members(result, t).size(), 11u);
}

TEST(DatMoral, HugeCellsGiveAnAnswer) {
  Dataset data = collider(200);
  data.values.col(2) *= 1e300;
  data.values(7, 3) = -1e300;
  const BoundariesResult result = markov_boundaries(data, few_steps(30));
  EXPECT_TRUE(std::isfinite(std::get<double>(detail(result, "highest_score"))));
}

TEST(DatMoral, AnErrorThatIsNotFiniteIsTold) {
  BoundariesParams params = few_steps(50);
  params.options.set("moral_rate", 1e30);
  EXPECT_THAT(message_of<DataError>([&] { markov_boundaries(collider(200), params); }),
              HasSubstr("use a smaller --moral-rate"));
}

// ---- The same bits --------------------------------------------------------------------------------------------------

TEST(DatMoral, ForAnyNumberOfThreadsAndAnyOrderOfColumns) {
  const Dataset data = collider(200);
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 3}) {
    const ThreadLimit limit(threads);
    texts.push_back(text_of(markov_boundaries(data, few_steps(30))));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  Dataset turned = data;
  std::reverse(turned.names.begin(), turned.names.end());
  turned.values = Matrix(data.values.rowwise().reverse());
  const BoundariesResult one = markov_boundaries(data, few_steps(30)), other = markov_boundaries(turned, few_steps(30));
  EXPECT_EQ(detail(one, "scores"), detail(other, "scores"));
  BoundariesParams seeded = few_steps(30);
  seeded.run.seed = 7;
  EXPECT_NE(detail(one, "scores"), detail(markov_boundaries(data, seeded), "scores"));
}

class Stops final : public Progress {
 public:
  explicit Stops(int after) : left_(after) {}
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return --left_ < 0; }

 private:
  mutable std::atomic<int> left_;
};

TEST(DatMoral, InterruptedAndResumed) {
  std::string pattern = (fs::temp_directory_path() / "fansite_dat_moral.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const ThreadLimit alone(1);
  const Dataset data = collider(200);
  BoundariesParams params = few_steps(30);
  const std::string straight = text_of(markov_boundaries(data, params));
  params.run.checkpoint = pattern + "/c";
  int runs = 0;
  for (std::string text; text.empty(); ++runs) {
    ASSERT_LT(runs, 20);
    Stops progress(10 + runs);  // a network takes four questions
    try {
      text = text_of(markov_boundaries(data, {}, params, progress));
      EXPECT_EQ(text, straight);
    } catch (const Interrupted&) {
      EXPECT_TRUE(fs::exists(pattern + "/c.search"));
    }
  }
  EXPECT_GT(runs, 2);
  EXPECT_TRUE(fs::is_empty(pattern));
  fs::remove_all(pattern);
}

TEST(DatMoral, ATimeBudgetCutsTheSteps) {
  BoundariesParams params = few_steps(1000000);
  params.run.time_budget = 0.5;
  const Stopwatch watch;
  const BoundariesResult result = markov_boundaries(collider(300), params);
  EXPECT_LT(watch.seconds(), 5);
  EXPECT_THAT(result.unfinished, HasSubstr("of 1000000 steps"));
  EXPECT_GT(std::get<std::int64_t>(detail(result, "steps_taken")), 0);
}

TEST(DatMoral, APlanTellsTheTime) {
  const Plan planned = plan(collider(300), few_steps(100000));
  EXPECT_EQ(planned.networks, 5);
  EXPECT_EQ(planned.training_steps, 500000);
  EXPECT_GT(planned.total_seconds(), 1);
}

}  // namespace
}  // namespace fansite
