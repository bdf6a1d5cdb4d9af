// SPDX-License-Identifier: Apache-2.0
//
// The paper's Figure 2: Σ_X H(X | MB_X), each variable given its true Markov boundary, against epochs of training, and
// the numbers of parameters, of NAF, BNAF, ACE and three variants of FANS on Gaussian-process data. One network each,
// natural column order, trained as published (Adam 5e-4, clip 5, batch 256; ACE by its own loss). Entropies are of
// standardised columns, on the rows learnt from, as published, and on as many others.
//   bench_figure2 --out DIR [--estimators naf,bnaf] [--epochs 5000] [--minutes 8]
// Each estimator's curve is a file of its own, DIR/figure2_NAME.json; one that is there with the same settings is not
// computed again. figure2.csv and figure2.svg are made of all that are there.
// OPENBLAS_CORETYPE=SKYLAKEX makes ACE's steps a third shorter where OpenBLAS does not see that a processor has
// AVX-512.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/machine.h"
#include "bench/study_plot.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/trainer.h"
#include "fansite/entropy/neural/estimators.h"
#include "fansite/simulate/simulate.h"
#include "fansite/table/transform.h"

using namespace fansite;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  int nodes = 100, epochs = 5000, every = 0, judged = 500, energy_terms = 1, steps_an_epoch = 0;
  Index rows = 1000;
  double degree = 1, minutes = 8;
  std::uint64_t seed = 1;
  std::vector<std::string> estimators;
  std::string out;
};

// A network that is trained a number of steps at a time, and its density then.
struct Learner {
  std::int64_t parameters = 0;
  std::function<void(std::int64_t)> advance;
  std::function<std::unique_ptr<const flow::SubsetDensity>()> density;
};

struct Problem {
  flow::RowTable rows;                             // to learn from
  std::vector<int> all;                            // their numbers
  flow::Table learnt, other;                       // rows that densities are judged on
  std::vector<flow::ConditionalSubset> questions;  // each variable given its boundary
};

Problem make_problem(const Options& options) {
  SimulateParams params;
  params.sem = Sem::gp;
  params.nodes = options.nodes;
  params.rows = 2 * options.rows;
  params.degree = options.degree;
  params.seed = options.seed;
  const Simulation simulation = simulate(params);
  const Matrix& values = simulation.data.values;
  const Matrix first = values.topRows(options.rows);
  const auto transforms = fit_transforms(TransformKind::standardise, first);
  const Matrix learnt = apply_transforms(transforms, first);
  const Matrix other = apply_transforms(transforms, values.bottomRows(options.rows));
  const Index judged = std::min<Index>(options.judged, options.rows);
  Problem problem;
  problem.rows = learnt.cast<float>();
  problem.all.resize(static_cast<std::size_t>(options.rows));
  std::iota(problem.all.begin(), problem.all.end(), 0);
  problem.learnt = learnt.topRows(judged).cast<float>();
  problem.other = other.topRows(judged).cast<float>();
  for (int j = 0; j < options.nodes; ++j) problem.questions.push_back({{j}, simulation.dag.markov_boundary(j)});
  for (flow::ConditionalSubset& question : problem.questions) std::sort(question.given.begin(), question.given.end());
  return problem;
}

// ---- Learners -------------------------------------------------------------------------------------------------------

Learner fans(const Problem& problem, const Options& options, bool compact, flow::SubsetKind subsets) {
  flow::Shape shape = flow::paper_shape(options.nodes);
  shape.outputs = options.nodes < 100 ? 20 : 16;
  shape.ranks = compact ? std::min(2 * flow::paper_max_size(options.nodes), options.nodes - 1) : options.nodes - 1;
  flow::TrainParams params = flow::paper_training(options.nodes, options.rows);
  params.steps = std::int64_t{options.epochs} * options.steps_an_epoch;
  params.evaluate_every = params.steps;
  params.subsets = subsets;
  struct Held {
    Team team;
    flow::Training training;
    Held(const Problem& p, const flow::Shape& s, const flow::TrainParams& t)
        : training(p.rows, p.all, s, t, Key{1}, &team) {}
  };
  const auto held = std::make_shared<Held>(problem, shape, params);
  return {neural::published_size(shape), [held](std::int64_t steps) { held->training.advance(steps); },
          [held] { return std::make_unique<flow::Density>(held->training.result().weights); }};
}

Learner network(const Problem& problem, const Options& options, std::shared_ptr<neural::SubsetNetwork<float>> net) {
  neural::NetworkTrainParams params = neural::published_naf(options.nodes, options.rows).train;
  params.steps = std::int64_t{options.epochs} * options.steps_an_epoch;
  params.evaluate_every = params.steps;
  struct Held {
    std::shared_ptr<neural::SubsetNetwork<float>> net;
    neural::NetworkTraining training;
  };
  const auto held =
      std::make_shared<Held>(Held{net, neural::NetworkTraining(problem.rows, problem.all, *net, params, Key{1})});
  return {net->published_size(), [held](std::int64_t steps) { held->training.advance(steps); },
          [held] { return held->net->density(held->training.parameters()); }};
}

struct Kind {
  std::string name, label, colour;
  char marker;
  std::function<Learner(const Problem&, const Options&)> make;
};

std::vector<Kind> kinds() {
  using flow::SubsetKind;
  return {
      {"naf", "NAF", "#E69F00", 's',
       [](const Problem& p, const Options& o) {
         const neural::NafParams params;
         return network(p, o, std::make_shared<neural::Naf<float>>(neural::shape_of(params, o.nodes)));
       }},
      {"bnaf", "BNAF", "#D55E00", '^',
       [](const Problem& p, const Options& o) {
         const neural::BnafParams params;
         return network(p, o, std::make_shared<neural::Bnaf<float>>(neural::shape_of(params, o.nodes)));
       }},
      {"ace", "ACE", "#CC79A7", 'd',
       [](const Problem& p, const Options& o) {
         neural::AceParams params;
         params.energy_terms = o.energy_terms;
         params.warm_up = 100;
         params.train.steps = std::int64_t{o.epochs} * o.steps_an_epoch;
         return network(p, o, std::make_shared<neural::Ace<float>>(neural::shape_of(params, o.nodes)));
       }},
      {"fans-cpt", "FANS-CPT", "#56B4E9", 'o',
       [](const Problem& p, const Options& o) { return fans(p, o, true, SubsetKind::leaf); }},
      {"fans-fn", "FANS-FN", "#0072B2", 's',
       [](const Problem& p, const Options& o) { return fans(p, o, false, SubsetKind::leaf); }},
      {"fans-fn-nul", "FANS-FN-NUL", "#009E73", '^',
       [](const Problem& p, const Options& o) { return fans(p, o, false, SubsetKind::non_leaf); }},
  };
}

// ---- Curves ---------------------------------------------------------------------------------------------------------

double total_entropy(const flow::SubsetDensity& density, const flow::Table& table,
                     const std::vector<flow::ConditionalSubset>& questions) {
  return -density.log_conditional(table, questions).cast<double>().colwise().mean().sum();
}

Json settings(const Options& o) {
  return {{"nodes", o.nodes},   {"rows", o.rows},   {"degree", o.degree}, {"seed", o.seed},
          {"epochs", o.epochs}, {"every", o.every}, {"judged", o.judged}, {"energy_terms", o.energy_terms}};
}

Json curve_of(const Kind& kind, const Problem& problem, const Options& options) {
  Learner learner = kind.make(problem, options);
  Json result = {{"estimator", kind.name}, {"settings", settings(options)}, {"parameters", learner.parameters}};
  Json points = Json::array();
  const Stopwatch watch;
  double training = 0;
  for (int epoch = 0; epoch <= options.epochs; epoch += options.every) {
    if (epoch > 0) {
      const double before = watch.seconds();
      learner.advance(std::int64_t{options.every} * options.steps_an_epoch);
      training += watch.seconds() - before;
    }
    const auto density = learner.density();
    const double learnt = total_entropy(*density, problem.learnt, problem.questions);
    const double other = total_entropy(*density, problem.other, problem.questions);
    points.push_back({{"epoch", epoch}, {"learnt", learnt}, {"other", other}, {"seconds", training}});
    fmt::print("{:<12} {:>6} {:>12.3f} {:>12.3f} {:>9.1f}\n", kind.name, epoch, learnt, other, training);
    std::fflush(stdout);
    if (watch.seconds() > 60 * options.minutes) break;
  }
  result["points"] = std::move(points);
  result["machine"] = machine();
  return result;
}

std::string file_of(const Options& options, const std::string& name) {
  return (std::filesystem::path(options.out) / fmt::format("figure2_{}.json", name)).string();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  check(static_cast<bool>(file.flush()), "[figure2] {} cannot be written", path);
}

// ---- The picture ----------------------------------------------------------------------------------------------------

struct Drawn {
  Kind kind;
  Json curve;
};

std::string curves_panel(const std::vector<Drawn>& drawn, const char* which, double left, const std::string& title,
                         double low, double high, double epochs) {
  const study::Panel panel{left, 70, 300, 0, epochs, low, high};
  std::string out = panel.axes(title, "epochs", left < 100 ? "Σ H(X | MB), nats" : "");
  out += fmt::format("<clipPath id=\"{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{3}\"/></clipPath>\n",
                     which, panel.left, panel.top, panel.size);
  for (const Drawn& d : drawn) {
    std::string path;
    std::string marks;
    const auto& points = d.curve["points"];
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double x = panel.x(points[i]["epoch"].get<double>());
      const double value = points[i][which].get<double>();
      const double y = panel.y(value);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
      const bool inside = value >= low && value <= high;
      if (inside && (i + 1 == points.size() || i % std::max<std::size_t>(1, points.size() / 6) == 0)) {
        marks += study::marker(d.kind.marker, x, y, 4, d.kind.colour, 1);
      }
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" clip-path=\"url(#{})\"/>\n",
                       path, d.kind.colour, which);
    out += marks;
  }
  return out;
}

std::string bars(const std::vector<Drawn>& drawn, double left) {
  double most = 0;
  for (const Drawn& d : drawn) most = std::max(most, d.curve["parameters"].get<double>());
  std::string out =
      study::text(left + 130, 56, "middle", "Trainable parameters", " font-size=\"14\" font-weight=\"bold\"");
  double y = 80;
  for (const Drawn& d : drawn) {
    const auto count = d.curve["parameters"].get<double>();
    out += study::text(left + 78, y + 21, "end", d.kind.label);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"26\" fill=\"{}\"/>\n", left + 84,
                       y + 4, std::max(1.0, 105 * count / most), d.kind.colour);
    out += study::text(left + 90 + 105 * count / most, y + 21, "start",
                       count >= 1e6 ? fmt::format("{:.2f} M", count / 1e6) : fmt::format("{:.0f} k", count / 1e3));
    y += 44;
  }
  return out;
}

void write_picture(const std::vector<Drawn>& drawn, const Options& options) {
  double low = std::numeric_limits<double>::infinity(), high = -low, epochs = 0;
  for (const Drawn& d : drawn) {
    for (const auto& point : d.curve["points"]) {
      for (const char* which : {"learnt", "other"}) low = std::min(low, point[which].get<double>());
      epochs = std::max(epochs, point["epoch"].get<double>());
    }
    for (const char* which : {"learnt", "other"}) high = std::max(high, d.curve["points"].back()[which].get<double>());
  }
  // Where a network that knows nothing stands: standard normal variables, each alone. All curves end inside.
  high = std::max(high, 1.02 * 1.4189385 * options.nodes);
  const double step = study::Panel::step(high - low);
  low = step * std::floor(low / step);
  high = step * std::ceil(high / step);
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1060 470\" width=\"1060\" height=\"470\" role=\"img\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>Sum of the entropies of "
      "all "
      "variables given their Markov boundaries, against epochs of training; numbers of parameters</title>\n"
      "<rect width=\"1060\" height=\"470\" fill=\"#ffffff\"/>\n";
  out += curves_panel(drawn, "learnt", 70, "On rows learnt from (as published)", low, high, epochs);
  out += curves_panel(drawn, "other", 425, "On other rows", low, high, epochs);
  out += bars(drawn, 765);
  double x = 70;
  for (const Drawn& d : drawn) {
    out += study::line(x, 22, x + 22, 22, fmt::format("stroke=\"{}\" stroke-width=\"1.8\"", d.kind.colour));
    out += study::marker(d.kind.marker, x + 11, 22, 4.5, d.kind.colour, 1);
    out += study::text(x + 28, 26, "start", d.kind.label);
    x += 62 + 7.4 * static_cast<double>(d.kind.label.size());
  }
  out +=
      study::text(70, 452, "start",
                  fmt::format("d = {}, {} rows, Gaussian-process data, seed {}; one network each, smaller is better. "
                              "ACE's are too low by sampling. Curves are cut above, and end early where time did.",
                              options.nodes, options.rows, options.seed),
                  " font-size=\"11\" fill=\"#666\"");
  write((std::filesystem::path(options.out) / "figure2.svg").string(), out + "</svg>\n");
}

void run(Options options) {
  if (options.every == 0) options.every = std::max(1, options.epochs / 20);
  const int batch = options.nodes < 100 ? 64 : 256;
  options.steps_an_epoch = static_cast<int>((options.rows + batch - 1) / batch);
  std::filesystem::create_directories(options.out);
  for (const std::string& name : options.estimators) {
    const auto all = kinds();
    const bool known = std::any_of(all.begin(), all.end(), [&](const Kind& kind) { return kind.name == name; });
    check(known, "[figure2] there is no estimator '{}'; naf, bnaf, ace, fans-cpt, fans-fn or fans-fn-nul", name);
  }
  fmt::print("Figure 2, d = {}, {} rows; {}\n{:<12} {:>6} {:>12} {:>12} {:>9}\n", options.nodes, options.rows,
             machine(), "estimator", "epoch", "rows learnt", "other rows", "seconds");
  std::optional<Problem> problem;
  std::vector<Drawn> drawn;
  std::string csv = "estimator,parameters,epoch,learnt,other,seconds\n";
  for (const Kind& kind : kinds()) {
    const bool wanted = options.estimators.empty() || std::find(options.estimators.begin(), options.estimators.end(),
                                                                kind.name) != options.estimators.end();
    Json curve;
    if (std::ifstream before(file_of(options, kind.name)); before) curve = Json::parse(before, nullptr, false);
    const bool same = curve.is_object() && curve.contains("settings") && curve["settings"] == settings(options);
    if (!same && wanted) {
      if (!problem) problem = make_problem(options);
      curve = curve_of(kind, *problem, options);
      write(file_of(options, kind.name), curve.dump(1) + "\n");
    } else if (!same) {
      continue;
    }
    for (const auto& point : curve["points"]) {
      csv += fmt::format("{},{},{},{},{},{:.1f}\n", kind.name, curve["parameters"].get<std::int64_t>(),
                         point["epoch"].get<int>(), point["learnt"].get<double>(), point["other"].get<double>(),
                         point["seconds"].get<double>());
    }
    drawn.push_back({kind, std::move(curve)});
  }
  write((std::filesystem::path(options.out) / "figure2.csv").string(), csv);
  if (!drawn.empty()) write_picture(drawn, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("the paper's Figure 2: entropies given true boundaries against epochs of training");
  Options options;
  app.add_option("--nodes", options.nodes, "variables")->capture_default_str();
  app.add_option("--rows", options.rows, "to learn from; as many more to judge by")->capture_default_str();
  app.add_option("--degree", options.degree, "edges per variable")->capture_default_str();
  app.add_option("--seed", options.seed, "of the data")->capture_default_str();
  app.add_option("--epochs", options.epochs, "times through the rows")->capture_default_str();
  app.add_option("--every", options.every, "epochs from one point to the next; 0: a twentieth of all");
  app.add_option("--judged", options.judged, "rows that a point is a mean over")->capture_default_str();
  app.add_option("--energy-terms", options.energy_terms, "ACE: variables of a row that a step's energies are of")
      ->capture_default_str();
  app.add_option("--minutes", options.minutes, "for each estimator, at most")->capture_default_str();
  app.add_option("--estimators", options.estimators, "naf, bnaf, ace, fans-cpt, fans-fn, fans-fn-nul; all if left out")
      ->delimiter(',');
  app.add_option("--out", options.out, "folder to write to")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
