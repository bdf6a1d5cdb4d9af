// SPDX-License-Identifier: Apache-2.0
//
// What every classical method must do, whatever it finds.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "classical_examples.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/estimators.h"
#include "fansite/report/json.h"
#include "fansite/report/verify.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using List = std::vector<int>;

const std::vector<std::string> kAll = {"iamb", "gs", "tc", "eemb", "stmb", "s2tmb", "kmb"};
const std::vector<std::string> kByCovariance = {"iamb", "gs", "tc", "eemb", "stmb", "s2tmb"};

BoundariesResult found(const std::string& method, const Dataset& data, const Knowledge& knowledge = {}) {
  NoProgress progress;
  return markov_boundaries(data, knowledge, BoundariesParams(method), progress);
}

// Without what it cost.
std::string lasting(const BoundariesResult& result) {
  const std::string json = to_json(result, {});
  return json.substr(0, json.find("\"timing\""));
}

TEST(Classical, ThreadsDoNotChangeBits) {
  const Dataset data = simulate_linear(10, 1.5, 300, 4).data;
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    std::string one, four;
    {
      const ThreadLimit limit(1);
      one = lasting(found(method, data));
    }
    {
      const ThreadLimit limit(4);
      four = lasting(found(method, data));
    }
    EXPECT_EQ(one, four);
  }
}

// With every option another than by default, but for the test, which would have to be trained.
TEST(Classical, ResultsCanBeRepeated) {
  const Dataset data = simulate_linear(8, 1.5, 200, 4).data;
  NoProgress progress;
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    BoundariesParams params(method);
    for (const Description::Field& field : params.options.fields()) {
      if (const auto* flag = std::get_if<bool>(&field.fallback)) params.options.set(field.name, !*flag);
      if (const auto* whole = std::get_if<std::int64_t>(&field.fallback)) params.options.set(field.name, *whole - 1);
      if (const auto* number = std::get_if<double>(&field.fallback)) params.options.set(field.name, 0.75 * *number);
      if (!field.choices.empty() && field.name != "test") params.options.set(field.name, field.choices.back());
    }
    const std::string json = to_json(markov_boundaries(data, params), {});
    const nlohmann::json settings = nlohmann::json::parse(json).at("settings");
    for (const Description::Field& field : params.options.fields()) {
      const auto held =
          std::visit([](const auto& value) { return nlohmann::json(value); }, params.options.get(field.name));
      EXPECT_EQ(settings.at(field.name), held) << field.name;
    }
    const Verification verification = verify(json, "r.json", data, "", progress);
    EXPECT_TRUE(verification.same) << verification.difference;
  }
}

TEST(Classical, KnowledgeIsSatisfied) {
  const Dataset data = collider(500);
  using Kind = Statement::Kind;
  const Knowledge knowledge(data.names, {{Kind::in_boundary, 0, 4}, {Kind::not_in_boundary, 3, 1}});
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    const BoundariesResult result = found(method, data, knowledge);  // throws if it is against the knowledge
    const Boundary& of_x = result.found.boundaries[0];
    const auto v =
        std::find_if(of_x.members.begin(), of_x.members.end(), [](const Member& m) { return m.variable == 4; });
    ASSERT_NE(v, of_x.members.end());
    EXPECT_TRUE(v->by_knowledge);
    EXPECT_THAT(result.found.boundaries[3].member_indices(), Not(Contains(1)));
    EXPECT_THAT(result.found.moral_edges, Contains(std::pair(0, 4)));
  }
}

TEST(Classical, GainsAddUp) {
  const Dataset data = collider(500);
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    const BoundariesResult result = found(method, data);
    EXPECT_EQ(result.estimator, "gaussian");
    for (const Boundary& boundary : result.found.boundaries) {
      double left = boundary.entropy;
      for (const Member& member : boundary.members) {
        left -= member.gain;
        EXPECT_GT(member.unique, 0);
        EXPECT_TRUE(std::isnan(member.q_value));  // pairs are not judged together
        EXPECT_EQ(std::isnan(member.p_value), method == "s2tmb" || method == "kmb");
      }
      EXPECT_NEAR(left, boundary.conditional_entropy, 1e-9);
    }
  }
}

TEST(Classical, ConstantsAndCopiesAreInNoBoundary) {
  Dataset data = collider(500);
  const Index d = data.values.cols();
  data.values.conservativeResize(Eigen::NoChange, d + 2);
  data.values.col(d) = data.values.col(1);
  data.values.col(d + 1).setConstant(3);
  data.names.insert(data.names.end(), {"copy", "constant"});
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    const BoundariesResult result = found(method, data);
    for (const Boundary& boundary : result.found.boundaries) {
      EXPECT_THAT(boundary.member_indices(), Not(Contains(5)));
      EXPECT_THAT(boundary.member_indices(), Not(Contains(6)));
    }
    EXPECT_EQ(result.found.boundaries[5].member_indices(), result.found.boundaries[1].member_indices());
    EXPECT_FALSE(result.found.boundaries[1].members.empty());
    EXPECT_TRUE(result.found.boundaries[6].members.empty());
  }
}

TEST(Classical, CovariancesHandleMissingCellsContextWeightsAndGroups) {
  Dataset missing = collider(1000);
  Random random(Key{3});
  for (Index j = 0; j < missing.values.cols(); ++j) {
    for (Index i = 0; i < missing.rows(); ++i) {
      if (random.uniform() < 0.1) missing.values(i, j) = std::nan("");
    }
  }
  Dataset context = collider(1000);
  context.columns.resize(5);
  context.columns[1].context = true;
  Dataset weighted = collider(1000);
  weighted.weights = Vector::NullaryExpr(1000, [&] { return random.uniform(0.5, 1.5); });
  weighted.weights /= weighted.weights.mean();
  Dataset grouped = collider(1000);
  for (int i = 0; i < 1000; ++i) grouped.groups.push_back(i / 2);
  for (const std::string& method : kByCovariance) {
    SCOPED_TRACE(method);
    for (const Dataset* data : {&missing, &weighted, &grouped}) {
      EXPECT_EQ(sorted(found(method, *data).found.boundaries[0].member_indices()), (List{1, 2}));
    }
    // Given y everywhere, x and z depend on each other; y is in no boundary and has none.
    const BoundariesResult given = found(method, context);
    ASSERT_EQ(given.found.boundaries.size(), 4u);
    EXPECT_EQ(given.found.boundaries[0].member_indices(), (List{2}));
  }
  EXPECT_THAT(message_of<DataError>([&] { found("kmb", missing); }), HasSubstr("missing cells, which kmb cannot use"));
  EXPECT_THAT(message_of<DataError>([&] { found("kmb", context); }), HasSubstr("kmb cannot use context"));
  EXPECT_THAT(message_of<DataError>([&] { found("kmb", weighted); }), HasSubstr("kmb cannot use weights"));
  EXPECT_THAT(message_of<DataError>([&] { found("kmb", grouped); }), HasSubstr("kmb cannot use groups"));
}

TEST(Classical, CanBeInterrupted) {
  const Dataset data = collider(200);
  Impatient impatient;
  for (const std::string& method : kAll) {
    EXPECT_THROW(markov_boundaries(data, BoundariesParams(method), impatient), Interrupted) << method;
  }
}

TEST(Classical, SomeTargetsAreAsGoodAsAll) {
  const Dataset data = collider(500);
  for (const std::string& method : kAll) {
    BoundariesParams params(method);
    params.targets = {"y", "x"};
    const BoundariesResult some = markov_boundaries(data, params), all = found(method, data);
    ASSERT_EQ(some.found.boundaries.size(), 2u);
    EXPECT_EQ(some.found.boundaries[0].member_indices(), all.found.boundaries[1].member_indices()) << method;
    EXPECT_EQ(some.found.boundaries[1].member_indices(), all.found.boundaries[0].member_indices()) << method;
  }
}

TEST(Classical, OrderIsOfTheOutputOnly) {
  const Dataset data = simulate_linear(25, 2, 1000, 3).data;
  for (const std::string& method : kByCovariance) {
    SCOPED_TRACE(method);
    const auto kept = found_by(method, data), index = found_by(method, data, {{"order", std::string("index")}}),
               pyset = found_by(method, data, {{"order", std::string("pyset")}});
    for (std::size_t t = 0; t < kept.size(); ++t) {
      EXPECT_EQ(index[t], sorted(kept[t]));
      EXPECT_EQ(pyset[t], pyset_order(kept[t]));
    }
  }
}

TEST(Classical, FewRowsAndColumnsAreNoTrouble) {
  for (const std::string& method : kAll) {
    SCOPED_TRACE(method);
    EXPECT_EQ(found(method, simulate_linear(40, 1, 12, 2).data).found.boundaries.size(), 40u);
    Dataset one;
    one.names = {"x"};
    one.values = Vector{{1, 2, 4, 3, 9, 7, 5, 8, 6}};
    EXPECT_TRUE(found(method, one).found.boundaries[0].members.empty());
  }
}

TEST(Classical, ModelsAreForTestsThatUseThem) {
  BoundariesParams params("iamb");
  params.run.model = "some.fans";
  EXPECT_EQ(message_of<ParameterError>([&] { markov_boundaries(collider(200), params); }),
            "[model] the test fisher-z has none; leave it out");
  BoundariesParams saving("tc");
  saving.run.save_model = "some.fans";
  EXPECT_THAT(markov_boundaries(collider(200), saving).warnings,
              Contains("[mb] some.fans is not written: tc has none"));
}

// y = x² + noise, z = y + noise, v on its own: no correlation tells of x and y.
TEST(Classical, TheFlowTestFindsWhatIsNotLinear) {
  Dataset data;
  Random random(Key{6});
  data.names = {"x", "y", "z", "v"};
  data.values = Matrix::NullaryExpr(300, 4, [&] { return random.normal(); });
  data.values.col(1) = data.values.col(0).array().square() + 0.3 * data.values.col(1).array();
  data.values.col(2) += data.values.col(1);
  NoProgress progress;
  const std::string path = testing::TempDir() + "fansite_test_classical.fans";
  Parameters few = entropy_estimators().at("flow").parameters;
  few.set("folds", std::int64_t{2});
  few.set("repeats", std::int64_t{1});
  few.set("steps", std::int64_t{1500});
  RunParams run;
  run.save_model = path;
  entropy_estimators().at("flow").fit(Context(data, {}, run, progress), few, 1);
  for (const char* method : {"iamb", "gs", "eemb", "stmb"}) {
    SCOPED_TRACE(method);
    BoundariesParams params(method);
    params.run.model = path;
    params.options.set("test", std::string("flow"));
    const BoundariesResult result = markov_boundaries(data, params);
    EXPECT_EQ(result.estimator, "flow");
    EXPECT_TRUE(result.training);
    EXPECT_EQ(result.found.boundaries[0].member_indices(), (List{1}));
    EXPECT_EQ(sorted(result.found.boundaries[1].member_indices()), (List{0, 2}));
    EXPECT_GT(result.found.boundaries[0].members[0].gain, 0.3);
    EXPECT_TRUE(result.found.boundaries[3].members.empty());
    EXPECT_TRUE(verify(to_json(result, {}), "r.json", data, path, progress).same);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fansite
