// SPDX-License-Identifier: Apache-2.0
//
// Conditionals of an ensemble against plain loops over networks and rows, for each set of networks.
#include "fansite/entropy/flow/ensemble_density.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "properties.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

Dataset curved_table(Index rows, int columns) {
  SimulateParams params;
  params.nodes = columns;
  params.degree = 1;
  params.sem = Sem::gp;
  params.rows = rows;
  params.seed = 3;
  return simulate(params).data;
}

Ensemble trained_on(const Dataset& data, int folds = 3, int repeats = 2) {
  EnsembleParams params;
  params.linear = false;  // networks alone
  params.folds = folds;
  params.repeats = repeats;
  params.train.steps = 120;
  params.train.evaluate_every = 40;
  params.seed = 5;
  NoProgress silent;
  return train_ensemble(data, params, silent);
}

// ln mean_k p_k(x_T | x_S) over the networks that satisfy `judges`, one row and one network at a time.
template <class Judges>
double by_plain_loop(const Ensemble& ensemble, const Matrix& z, const EntropyQuery& query, Index row, Judges&& judges) {
  double sum = 0;
  int count = 0;
  for (const Network& network : ensemble.networks) {
    if (!judges(network)) continue;
    Subset given, both;
    Table values(1, z.cols());
    for (int place = 0; place < z.cols(); ++place) {
      const int column = network.order[static_cast<std::size_t>(place)];
      values(0, place) = static_cast<float>(z(row, column));
      const bool in = std::find(query.given.begin(), query.given.end(), column) != query.given.end();
      if (in) given.push_back(place);
      if (in || column == query.target) both.push_back(place);
    }
    const Density one(network.trained.weights, network.trained.base);
    const Eigen::MatrixXf l = one.log_density(values, std::vector<Subset>{given, both});
    sum += std::exp(static_cast<double>(l(0, 1) - l(0, 0)));
    ++count;
  }
  return std::log(sum / count);
}

const std::vector<EntropyQuery> kQueries = {{0, {}}, {2, {3, 1}}, {1, {0, 2, 3}}};

TEST(EnsembleDensity, ConditionalsMixTheNetworksThatHaveNotSeenTheRow) {
  const Dataset data = curved_table(60, 4);
  const Ensemble ensemble = trained_on(data);
  const EnsembleDensity density(ensemble, data.values);
  EXPECT_TRUE(density.out_of_sample());
  const Eigen::MatrixXf mixed = density.conditional(kQueries);
  ASSERT_EQ(mixed.rows(), 60);
  const Matrix z = apply_transforms(ensemble.transforms, data.values);
  for (std::size_t q = 0; q < kQueries.size(); ++q) {
    for (Index row = 0; row < 60; row += 7) {
      int judges = 0;
      const double expected = by_plain_loop(ensemble, z, kQueries[q], row, [&](const Network& network) {
        judges += !ensemble.has_seen(network, row);
        return !ensemble.has_seen(network, row);
      });
      EXPECT_EQ(judges, 2);
      EXPECT_NEAR(static_cast<double>(mixed(row, static_cast<Index>(q))), expected, 1e-5);
    }
  }
}

TEST(EnsembleDensity, AllNetworksAreMixedInEveryRow) {
  const Dataset data = curved_table(60, 4);
  const Ensemble ensemble = trained_on(data);
  const EnsembleDensity density(ensemble, data.values);
  const Eigen::MatrixXf mixed = density.conditional(kQueries, NetworkSet::all);
  ASSERT_EQ(mixed.rows(), 60);
  const Matrix z = apply_transforms(ensemble.transforms, data.values);
  for (std::size_t q = 0; q < kQueries.size(); ++q) {
    for (Index row = 0; row < 60; row += 7) {
      EXPECT_NEAR(static_cast<double>(mixed(row, static_cast<Index>(q))),
                  by_plain_loop(ensemble, z, kQueries[q], row, [](const Network&) { return true; }), 1e-5);
    }
  }
  // The two sets of networks are not the same thing.
  EXPECT_GT((mixed - density.conditional(kQueries, NetworkSet::unseen)).cwiseAbs().maxCoeff(), 1e-2f);
}

TEST(EnsembleDensity, SampleIsAThousandRowsOfAllEvenlySpread) {
  const Ensemble ensemble = trained_on(curved_table(60, 4), 3, 1);  // no more than a sample asks
  const Dataset large = curved_table(2500, 4);
  for (const Index rows : {1, 999, 1000, 1001, 1300, 2500}) {
    const EnsembleDensity density(ensemble, large.values.topRows(rows));
    const Index expected = std::min<Index>(rows, 1000);
    EXPECT_EQ(density.rows(), rows);
    EXPECT_EQ(density.rows(NetworkSet::unseen), rows);
    EXPECT_EQ(density.rows(NetworkSet::all), rows);
    ASSERT_EQ(density.rows(NetworkSet::sample), expected);
    const Eigen::MatrixXf all = density.conditional(kQueries, NetworkSet::all);
    const Eigen::MatrixXf sample = density.conditional(kQueries, NetworkSet::sample);
    ASSERT_EQ(sample.rows(), expected);
    for (Index i = 0; i < expected; ++i) {
      // Bit for bit: a row's density does not depend on the other rows.
      ASSERT_TRUE(sample.row(i) == all.row(rows > 1000 ? i * rows / 1000 : i)) << "row " << i << " of " << rows;
    }
  }
}

// Of the table the networks were trained on, with a linear model among them.
TEST(EnsembleDensity, TheSampleUnseenIsPartOfAllThatIsUnseen) {
  for (const Index rows : {900, 1000, 1300}) {
    const Dataset data = curved_table(rows, 4);
    const Ensemble ensemble = trained_on(data);
    EnsembleDensity density(ensemble, data.values);
    const auto compare = [&] {
      const Eigen::MatrixXf all = density.conditional(kQueries, NetworkSet::unseen);
      const Eigen::MatrixXf sample = density.conditional(kQueries, NetworkSet::unseen_sample);
      ASSERT_EQ(sample.rows(), std::min<Index>(rows, 1000));
      for (Index i = 0; i < sample.rows(); ++i) {
        ASSERT_TRUE(sample.row(i) == all.row(density.row_at(i, NetworkSet::unseen_sample))) << i << " of " << rows;
      }
    };
    compare();
    // Cells that are put in its place reach the sample too.
    const std::vector<int> changed = {0, 13, 700};
    density.replace(changed, {{1, Eigen::MatrixXf::Constant(3, 1, 0.7f), {}, {}}});
    compare();
  }
}

TEST(EnsembleDensity, EveryRowIsUnseenByOneNetworkOfEachRepeat) {
  const Dataset data = curved_table(61, 4);
  for (const int repeats : {1, 3}) {
    const Ensemble ensemble = trained_on(data, 3, repeats);
    const EnsembleDensity density(ensemble, data.values);
    ASSERT_EQ(density.parts().size(), static_cast<std::size_t>(3 * repeats));
    std::vector<int> judges(61, 0);
    for (std::size_t k = 0; k < density.parts().size(); ++k) {
      const EnsembleDensity::Part& part = density.parts()[k];
      EXPECT_TRUE(std::is_sorted(part.unseen.begin(), part.unseen.end()));
      ASSERT_EQ(part.unseen_table.rows(), static_cast<Index>(part.unseen.size()));
      for (std::size_t i = 0; i < part.unseen.size(); ++i) {
        ++judges[static_cast<std::size_t>(part.unseen[i])];
        EXPECT_FALSE(ensemble.has_seen(ensemble.networks[k], part.unseen[i]));
        for (int column = 0; column < 4; ++column) {
          EXPECT_EQ(part.unseen_table.score(static_cast<Index>(i), part.place[static_cast<std::size_t>(column)]),
                    density.values()(part.unseen[i], column));
        }
      }
    }
    EXPECT_THAT(judges, testing::Each(repeats));
  }
}

TEST(EnsembleDensity, ValuesAreTheTransformedTable) {
  const Dataset data = curved_table(60, 4);
  const Ensemble ensemble = trained_on(data, 2, 1);
  const EnsembleDensity density(ensemble, data.values);
  EXPECT_TRUE(density.values() == apply_transforms(ensemble.transforms, data.values).cast<float>());
  EXPECT_EQ(density.largest_subset(), 4);
}

TEST(EnsembleDensity, JudgesAnotherTableWithAllNetworks) {
  const Dataset data = curved_table(60, 4);
  const Ensemble ensemble = trained_on(data, 1);
  EXPECT_TRUE(ensemble.fold_of_row.empty());
  EXPECT_FALSE(EnsembleDensity(ensemble, data.values).out_of_sample());
  EXPECT_TRUE(EnsembleDensity(ensemble, curved_table(61, 4).values).out_of_sample());
  EXPECT_THROW(EnsembleDensity(ensemble, curved_table(60, 5).values), UsageError);
  // With folds too: no network has seen a row of another table, so the sets agree.
  const Ensemble folded = trained_on(data);
  const EnsembleDensity density(folded, curved_table(61, 4).values);
  for (const EnsembleDensity::Part& part : density.parts()) EXPECT_EQ(part.unseen.size(), 61u);
  EXPECT_TRUE(density.conditional(kQueries, NetworkSet::unseen) == density.conditional(kQueries, NetworkSet::all));
}

TEST(EnsembleDensity, CountsEverySubsetRowAndNetwork) {
  const Ensemble ensemble = trained_on(curved_table(60, 4));  // 6 networks
  const Dataset own = curved_table(60, 4);
  const EnsembleDensity density(ensemble, own.values);
  EXPECT_EQ(density.evaluations(), 0);
  // A conditional is two subsets, S and S ∪ T.
  density.conditional(kQueries, NetworkSet::all);
  EXPECT_EQ(density.evaluations(), 2 * 3 * 60 * 6);
  density.conditional(kQueries, NetworkSet::unseen);  // each row by one network of each of 2 repeats
  EXPECT_EQ(density.evaluations(), 2 * 3 * 60 * (6 + 2));
  density.conditional(kQueries, NetworkSet::sample);  // by three networks
  EXPECT_EQ(density.evaluations(), 2 * 3 * 60 * (6 + 2 + 3));
  density.count(5);
  EXPECT_EQ(density.evaluations(), 2 * 3 * 60 * (6 + 2 + 3) + 5);

  const EnsembleDensity large(ensemble, curved_table(1300, 4).values);
  large.conditional(kQueries, NetworkSet::sample);
  EXPECT_EQ(large.evaluations(), 2 * 3 * 1000 * 3);
}

TEST(EnsembleDensity, PlacesAreThoseOfTheColumnsAscending) {
  const Dataset data = curved_table(30, 9);
  const Ensemble ensemble = trained_on(data, 2, 2);
  const EnsembleDensity density(ensemble, data.values);
  EXPECT_TRUE(rc::check("any columns in any order", [&] {
    const auto k = static_cast<std::size_t>(*rc::gen::inRange(0, 4));
    auto columns = Random(Key{*rc::gen::arbitrary<std::uint64_t>()}).permutation(9);
    columns.resize(static_cast<std::size_t>(*rc::gen::inRange(0, 10)));
    const Subset places = density.parts()[k].places(columns);
    RC_ASSERT(std::is_sorted(places.begin(), places.end()));
    std::vector<int> back;
    for (const int place : places) back.push_back(ensemble.networks[k].order[static_cast<std::size_t>(place)]);
    std::sort(back.begin(), back.end());
    std::sort(columns.begin(), columns.end());
    RC_ASSERT(back == columns);
  }));
}

TEST(EnsembleDensity, OrderOfWhatIsGivenAndOtherQueriesDoNotMatter) {
  const Dataset data = curved_table(60, 4);
  const EnsembleDensity density(trained_on(data), data.values);
  const std::vector<EntropyQuery> one = {{2, {1, 3}}};
  for (const NetworkSet networks :
       {NetworkSet::unseen, NetworkSet::all, NetworkSet::sample, NetworkSet::unseen_sample}) {
    EXPECT_TRUE(density.conditional(kQueries, networks).col(1) == density.conditional(one, networks).col(0));
  }
  EXPECT_EQ(density.conditional(std::vector<EntropyQuery>{}).cols(), 0);
}

TEST(EnsembleDensity, SameBitsForAnyNumberOfThreads) {
  const Ensemble ensemble = trained_on(curved_table(60, 4));
  const EnsembleDensity density(ensemble, curved_table(1300, 4).values);
  for (const NetworkSet networks :
       {NetworkSet::unseen, NetworkSet::all, NetworkSet::sample, NetworkSet::unseen_sample}) {
    Eigen::MatrixXf one, two;
    {
      const ThreadLimit limit(1);
      one = density.conditional(kQueries, networks);
    }
    {
      const ThreadLimit limit(2);
      two = density.conditional(kQueries, networks);
    }
    EXPECT_TRUE(one == two);
  }
}

}  // namespace
}  // namespace fansite::flow
