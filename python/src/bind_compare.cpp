// SPDX-License-Identifier: Apache-2.0
//
// fansite/run/compare.h: several methods. The result goes out as the JSON that the command line writes.
#include "fansite/run/compare.h"

#include <filesystem>

#include "fansite/report/compare_report.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {
namespace {

// Python's bars know stages only, so a stage says whose it is.
class OfCell final : public Progress, public CompareWatcher {
 public:
  explicit OfCell(Progress& progress) : progress_(progress) {}
  void begin(std::string_view stage, long total) override {
    progress_.begin(fmt::format("{}{}", label_, stage), total);
  }
  void advance(long steps) override { progress_.advance(steps); }
  bool interrupted() const override { return progress_.interrupted(); }
  void begins(const CompareResult& so_far, const CompareCell& cell) override {
    label_ = so_far.methods[static_cast<std::size_t>(cell.method)].label + ": ";
  }

 private:
  Progress& progress_;
  std::string label_;  // changes between cells only, when nothing else runs
};

}  // namespace

void bind_compare(nb::module_& m) {
  m.def(
      "load_truth",
      [](const std::string& path) {
        NamedDag truth = load_dag(path);
        const bool by_position = path.ends_with(".npz");
        return std::pair(by_position ? std::vector<std::string>() : truth.names,
                         to_numpy<unsigned char>(truth.dag.adjacency()));
      },
      "path"_a, "Names and adjacency of a graph in a file; no names: by position.");
  m.def(
      "compare",
      [](const Dataset* data, const std::vector<std::string>& truth_names, const std::optional<ByteArray>& truth,
         const Options& simulate, const std::vector<std::uint64_t>& seeds, const Options& options,
         const std::string& checkpoint, const Running& running) {
        const auto params = assigned<CompareParams>(options);
        ComparedTables tables;
        tables.data = data;
        if (data == nullptr) {
          tables.setting = assigned<SimulateParams>(simulate);
          tables.seeds = seeds;
        } else if (truth) {
          const bool by_position = truth_names.empty();
          tables.truth = truth_in_columns({by_position ? default_names(static_cast<int>(truth->shape(0))) : truth_names,
                                           Dag(copied<unsigned char>(*truth))},
                                          data->names, "the truth", by_position);
        }
        std::string json;
        run(running, [&, watch = Stopwatch()](Progress& progress) {
          OfCell of_cell(progress);
          const CompareResult result = compare_with_file(tables, params, checkpoint, "", of_cell, of_cell);
          if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
          require_any_answer(result);
          json = to_json(result, timing_of(watch));
        });
        return json;
      },
      "data"_a.none(), "truth_names"_a, "truth"_a.none(), "simulate"_a, "seeds"_a, "options"_a, "checkpoint"_a,
      "running"_a, "Several methods on a table, or on simulated ones, as JSON.");
}

}  // namespace fansite::python
