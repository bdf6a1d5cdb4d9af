// SPDX-License-Identifier: Apache-2.0
#include "fansite/backend/cuda/training.h"

#include <fmt/core.h>

#include <algorithm>

#include "fansite/backend/cuda/memory.h"
#include "fansite/backend/cuda/training_kernel.h"
#include "fansite/base/parallel.h"

namespace fansite::cuda {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// ---- The layout -----------------------------------------------------------------------------------------------------

/// Where the kernel has each parameter, and where it is in flow::Layout.
struct DeviceLayout {
  explicit DeviceLayout(const flow::Layout& layout) : outputs(padded_outputs(layout.shape.outputs)) {
    const flow::Shape& shape = layout.shape;
    const auto add = [&](Index place) { packed.push_back(place); };
    const auto begin = [&] {
      while (count() % 4 != 0) add(kPadding);
      return count();
    };
    const auto add_outputs = [&](auto&& place) {
      for (int l = 0; l < outputs; ++l) add(l < shape.outputs ? place(l) : kPadding);
    };
    for (int j = 0; j < shape.variables; ++j) {
      for (int r = 0; r < layout.fan_in(j); ++r) {
        output_pairs.push_back(j << 16 | r);
        for (int b = 0; b < shape.blocks; ++b) add_outputs([&](int l) { return layout.w2_at(j, l, b, r); });
      }
    }
    w1 = begin();
    for (int r = 0; r < shape.ranks; ++r) {
      for (int i = 0; i < layout.inputs(r); ++i) {
        input_pairs.push_back(r << 16 | i);
        for (int b = 0; b < shape.blocks; ++b) add(layout.w1_at(b, r, i));
      }
    }
    const auto hidden = [&](Index tensor) {
      const int start = begin();
      for (int r = 0; r < shape.ranks; ++r) {
        for (int b = 0; b < shape.blocks; ++b) add(tensor + r * layout.hidden_stride + layout.hidden_at(b));
      }
      return start;
    };
    s1 = hidden(layout.s1);
    b1 = hidden(layout.b1);
    const auto rows_of_outputs = [&](Index tensor, int rows) {
      const int start = begin();
      for (int j = 0; j < rows; ++j) {
        add_outputs([&](int l) { return tensor + j * layout.output_stride + layout.output_at(l); });
      }
      return start;
    };
    s2 = rows_of_outputs(layout.s2, shape.variables);
    b2 = rows_of_outputs(layout.b2, shape.variables);
    v = rows_of_outputs(layout.v, 3 * shape.sigmoids);
    c = begin();
    for (int q = 0; q < 3 * shape.sigmoids; ++q) add(layout.c + q);
    size = begin();
  }

  int count() const { return static_cast<int>(packed.size()); }

  static constexpr Index kPadding = -1;
  int outputs;                // of a variable, padded
  std::vector<Index> packed;  // of each parameter in the kernel's order
  std::vector<int> output_pairs, input_pairs;
  int w1 = 0, s1 = 0, b1 = 0, s2 = 0, b2 = 0, v = 0, c = 0, size = 0;
};

// ---- One network ----------------------------------------------------------------------------------------------------

/// Parts of one piece of memory, each on a boundary of 16 bytes.
class Arena {
 public:
  template <class T>
  void reserve(T*& place, std::size_t count) {
    places_.push_back({reinterpret_cast<void**>(&place), size_});
    size_ += (count * sizeof(T) + 15) / 16 * 16;
  }
  /// All of them zero.
  void allocate() {
    memory_ = DeviceArray<std::byte>(size_);
    memory_.clear();
    for (const auto& [place, offset] : places_) *place = memory_.get() + offset;
  }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::pair<void**, std::size_t>> places_;
  std::size_t size_ = 0;
  DeviceArray<std::byte> memory_;
};

struct NetworkMemory {
  NetworkMemory() = default;
  NetworkMemory(NetworkMemory&&) = delete;  // the arena writes into `device`

  DeviceNetwork device{};
  Arena arena;
  DeviceArray<float> score, low, high;
  DeviceArray<double> base;  // mean, covariance, reliability
  DeviceArray<int> first_columns;
  std::int64_t adam_steps = 0;
};

void reserve_batch(const TrainingShape& s, Arena& arena, DeviceBatch& b) {
  const std::size_t rows = at(s.batch), terms = at(s.batch) * at(s.most_terms);
  arena.reserve(b.row_start, rows + 1);
  for (short** each : {&b.variable, &b.rank, &b.row}) arena.reserve(*each, terms);
  for (int** each : {&b.first, &b.end, &b.output_row}) arena.reserve(*each, terms);
  for (float** each : {&b.value, &b.innovation, &b.low, &b.high}) arena.reserve(*each, terms);
  arena.reserve(b.position, rows * at(s.variables));
  arena.reserve(b.at_rank, rows * at(s.ranks));
  arena.reserve(b.by_variable, terms);
  arena.reserve(b.variable_start, at(s.variables) + 1);
  arena.reserve(b.by_rank, terms);
  arena.reserve(b.rank_start, at(s.ranks) + 1);
  arena.reserve(b.log_scale, rows);
}

/// Lays out what a network needs besides its table.
void lay_out(const TrainingShape& s, NetworkMemory& memory) {
  DeviceNetwork& n = memory.device;
  Arena& arena = memory.arena;
  const std::size_t most = at(s.most_terms), terms = at(s.batch) * most, stride = at((s.blocks + 3) / 4 * 4);
  for (float** each : {&n.weights, &n.mean, &n.square, &n.gradient}) arena.reserve(*each, at(s.size));
  for (DeviceBatch& batch : n.batch) reserve_batch(s, arena, batch);
  arena.reserve(n.words, at(s.words));
  for (int** each : {&n.drawn_at, &n.drawn, &n.noise_at}) arena.reserve(*each, at(s.batch));
  if (s.most_terms > kSmallFactor) arena.reserve(n.factor, kProducers / 32 * (most * (most + 1) / 2));
  for (float** each : {&n.hidden, &n.back}) arena.reserve(*each, terms * stride);
  for (float** each : {&n.sums, &n.outputs, &n.sum_gradient, &n.output_gradient}) {
    arena.reserve(*each, terms * at(s.outputs));
  }
  arena.reserve(n.head, terms * 3 * kSigmoids);
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

/// Copies to the device beside what it is at work on.
class Copies {
 public:
  Copies() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "starting");
    check_cuda(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "starting");
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    cudaStreamSynchronize(stream_);  // before what it copies to goes
    cudaEventDestroy(done_);
    cudaStreamDestroy(stream_);
  }

  template <class T>
  void upload(const PinnedArray<T>& from, const DeviceArray<T>& to, std::size_t count) {
    check_cuda(cudaMemcpyAsync(to.get(), from.get(), count * sizeof(T), cudaMemcpyHostToDevice, stream_),
               "copying to the device");
  }
  void wait() const { check_cuda(cudaStreamSynchronize(stream_), "copying to the device"); }
  /// Has that stream wait for all copies so far.
  void wait_on(cudaStream_t stream) {
    check_cuda(cudaEventRecord(done_, stream_), "copying to the device");
    check_cuda(cudaStreamWaitEvent(stream, done_, 0), "copying to the device");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
};

/// Steps of several networks, one network after the other: what they need on the device, and what comes of them.
struct Brought {
  std::vector<std::size_t> which;  // networks
  std::vector<DeviceNetwork> launched;
  std::size_t steps = 0;  // of all of them
  PinnedArray<int> rows;
  PinnedArray<float> rates;
  DeviceArray<int> device_rows, taken;
  DeviceArray<float> device_rates;
  DeviceArray<double> losses;
  DeviceArray<DeviceNetwork> device_launched;

  void make_room(std::size_t of_steps, std::size_t batch, std::size_t networks) {
    if (taken.size() < networks) {
      taken = DeviceArray<int>(networks);
      device_launched = DeviceArray<DeviceNetwork>(networks);
    }
    if (losses.size() >= of_steps) return;
    rows = PinnedArray<int>(of_steps * batch);
    rates = PinnedArray<float>(2 * of_steps);
    device_rows = DeviceArray<int>(of_steps * batch);
    device_rates = DeviceArray<float>(2 * of_steps);
    losses = DeviceArray<double>(of_steps);
    wait_for_device("reserving memory");  // before another stream copies to it
  }
};

// ---- All of them ----------------------------------------------------------------------------------------------------

void require(bool can, const char* what) {
  if (!can) throw DeviceError(fmt::format("the GPU kernels are not made for {}", what));
}

class Group final : public flow::TrainingGroup {
 public:
  explicit Group(std::vector<flow::DeviceTraining> trainings)
      : layout_(trainings.front().layout), places_(layout_), shape_(shape_of(trainings)) {
    output_pairs_ = DeviceArray<int>(places_.output_pairs);
    input_pairs_ = DeviceArray<int>(places_.input_pairs);
    shape_.output_pairs = output_pairs_.get();
    shape_.input_pairs = input_pairs_.get();
    check_memory(trainings);
    for (const flow::DeviceTraining& training : trainings) add(training);
    wait_for_device("making room for networks");
  }

  void restore(std::size_t network, const flow::Learner::State& state) override {
    NetworkMemory& memory = *networks_[network];
    memory.adam_steps = state.steps;
    std::vector<float> values(at(shape_.size));
    const auto copy = [&](const std::vector<float>& from, float* to) {
      for (std::size_t i = 0; i < places_.packed.size(); ++i) {
        if (places_.packed[i] != DeviceLayout::kPadding) values[i] = from[at(places_.packed[i])];
      }
      check_cuda(cudaMemcpy(to, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice),
                 "copying a network to the device");
    };
    copy(state.weights, memory.device.weights);
    copy(state.mean, memory.device.mean);
    copy(state.square, memory.device.square);
  }

  flow::Learner::State state(std::size_t network) const override {
    const NetworkMemory& memory = *networks_[network];
    std::vector<float> values(at(shape_.size));
    const auto copy = [&](const float* from) {
      check_cuda(cudaMemcpy(values.data(), from, values.size() * sizeof(float), cudaMemcpyDeviceToHost),
                 "copying a network from the device");
      std::vector<float> packed(at(layout_.size), 0.0f);
      for (std::size_t i = 0; i < places_.packed.size(); ++i) {
        if (places_.packed[i] != DeviceLayout::kPadding) packed[at(places_.packed[i])] = values[i];
      }
      return packed;
    };
    return {copy(memory.device.weights), copy(memory.device.mean), copy(memory.device.square), memory.adam_steps};
  }

  void bring(std::span<const flow::DeviceSteps> steps) override {
    copies_.wait();  // for what was brought and not begun
    Brought& brought = brought_[next_];
    brought.which.clear();
    brought.launched.clear();
    brought.steps = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].count() == 0) continue;
      brought.which.push_back(i);
      brought.steps += at(steps[i].count());
    }
    if (brought.which.empty()) return;
    brought.make_room(brought.steps, at(shape_.batch), networks_.size());
    std::size_t before = 0;
    for (const std::size_t i : brought.which) {
      const std::size_t count = at(steps[i].count());
      DeviceNetwork& n = brought.launched.emplace_back(networks_[i]->device);
      n.first_step = steps[i].first;
      n.steps = static_cast<int>(count);
      std::copy(steps[i].rows.begin(), steps[i].rows.end(), brought.rows.get() + before * at(shape_.batch));
      float* rates = brought.rates.get() + 2 * before;
      std::copy(steps[i].rate.begin(), steps[i].rate.end(), rates);
      std::copy(steps[i].square_scale.begin(), steps[i].square_scale.end(), rates + count);
      n.rows = brought.device_rows.get() + before * at(shape_.batch);
      n.rate = brought.device_rates.get() + 2 * before;
      n.square_scale = n.rate + count;
      n.losses = brought.losses.get() + before;
      n.taken = brought.taken.get() + (brought.launched.size() - 1);
      before += count;
    }
    copies_.upload(brought.rows, brought.device_rows, before * at(shape_.batch));
    copies_.upload(brought.rates, brought.device_rates, 2 * before);
  }

  void begin() override {
    under_way_ = next_;
    next_ ^= 1;
    Brought& brought = brought_[under_way_];
    if (brought.which.empty()) return;
    brought.device_launched.upload(brought.launched);
    copies_.wait_on(cudaStreamPerThread);
    check_cuda(static_cast<cudaError_t>(launch_training(shape_, brought.device_launched.get(),
                                                        static_cast<int>(brought.which.size()), cudaStreamPerThread)),
               "starting a training");
  }

  std::vector<flow::DeviceProgress> finish() override {
    std::vector<flow::DeviceProgress> progress(networks_.size());
    Brought& brought = brought_[under_way_];
    if (brought.which.empty()) return progress;
    std::vector<int> taken(brought.which.size());
    std::vector<double> losses(brought.steps);
    brought.taken.download(taken);
    brought.losses.download(losses);
    wait_for_device("training");
    std::size_t before = 0;
    for (std::size_t k = 0; k < taken.size(); ++k) {
      const auto first = losses.begin() + static_cast<std::ptrdiff_t>(before);
      progress[brought.which[k]].losses.assign(first, first + taken[k]);
      networks_[brought.which[k]]->adam_steps += taken[k];
      before += at(brought.launched[k].steps);
    }
    brought.which.clear();
    return progress;
  }

 private:
  TrainingShape shape_of(const std::vector<flow::DeviceTraining>& trainings) {
    const flow::DeviceTraining& first = trainings.front();
    const flow::Shape& shape = layout_.shape;
    require(has_training_kernel(shape.blocks), "so many hidden nodes of a rank; use 6, 12 or 24 blocks");
    require(shape.outputs <= kMostOutputs, "so many outputs of a variable; use 32 at most");
    require(shape.sigmoids == kSigmoids, "another number of sigmoids than 4");
    require(shape.variables <= kMostVariables, "more than 1024 columns");
    require(shape.ranks > 0, "a single column");
    TrainingShape s{};
    s.variables = shape.variables;
    s.blocks = shape.blocks;
    s.ranks = shape.ranks;
    s.outputs = places_.outputs;
    s.batch = first.batch;
    s.leaf = first.subsets == flow::SubsetKind::leaf;
    s.drawn = first.data.variables.empty() ? shape.variables : static_cast<int>(first.data.variables.size());
    s.max_size = std::min(first.max_size, s.drawn - (s.leaf ? 1 : 0));
    s.most_columns = first.most_columns;
    for (const flow::DeviceTraining& training : trainings) {
      const std::vector<int>& variables = training.data.variables;
      const int most =
          variables.empty() ? s.max_size + (s.leaf ? 1 : 0) : std::max(first.most_columns, widest(variables));
      s.most_terms = std::max(s.most_terms, most);
      s.absent = s.absent || training.data.score->hasNaN();
    }
    // What a row draws at most: its size, its variables and their noise; and room to the next block of four.
    bool noisy = false;
    for (const flow::DeviceTraining& training : trainings) noisy = noisy || training.noise > 0;
    s.words = (s.batch * (1 + s.max_size + (noisy ? 2 * s.most_terms : 0)) + 7) / 4 * 4;
    require(s.most_terms < kNone && s.batch <= 32767, "such large subsets or batches");
    s.clip = static_cast<float>(first.clip);
    s.w1 = places_.w1;
    s.s1 = places_.s1;
    s.b1 = places_.b1;
    s.s2 = places_.s2;
    s.b2 = places_.b2;
    s.v = places_.v;
    s.c = places_.c;
    s.size = places_.size;
    s.output_pair_count = static_cast<int>(places_.output_pairs.size());
    s.input_pair_count = static_cast<int>(places_.input_pairs.size());
    return s;
  }

  /// Columns of the widest variable, which a subset has even if they are more than it may have.
  int widest(const std::vector<int>& first_columns) const {
    int most = layout_.shape.variables - first_columns.back();
    for (std::size_t i = 1; i < first_columns.size(); ++i)
      most = std::max(most, first_columns[i] - first_columns[i - 1]);
    return most;
  }

  void check_memory(const std::vector<flow::DeviceTraining>& trainings) const {
    NetworkMemory one;
    lay_out(shape_, one);
    const std::size_t each = trainings.front().data.low != nullptr ? 3 : 1;  // tables: scores, ends of intervals
    const std::size_t tables = each * at(trainings.front().data.rows()) * at(shape_.variables) * sizeof(float);
    const auto needed = static_cast<double>(trainings.size() * (one.arena.size() + tables));
    // What the pool keeps of others' work counts as free, once the host has seen that work end.
    check_cuda(cudaDeviceSynchronize(), "asking for memory");
    cudaMemPool_t pool;
    check_cuda(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for memory");
    check_cuda(cudaMemPoolTrimTo(pool, 0), "asking for memory");
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for memory");
    if (needed > static_cast<double>(free)) {
      throw DeviceError(fmt::format("{} networks need {:.1f} GB of the GPU's memory, of which {:.1f} GB are free",
                                    trainings.size(), needed * 1e-9, static_cast<double>(free) * 1e-9));
    }
  }

  void add(const flow::DeviceTraining& training) {
    NetworkMemory& memory = *networks_.emplace_back(std::make_unique<NetworkMemory>());
    lay_out(shape_, memory);
    memory.arena.allocate();
    DeviceNetwork& n = memory.device;
    const auto table = [](const flow::RowTable& from) {
      return DeviceArray<float>(std::span<const float>(from.data(), at(from.size())));
    };
    memory.score = table(*training.data.score);
    n.score = memory.score.get();
    if (training.data.low != nullptr) {
      memory.low = table(*training.data.low);
      memory.high = table(*training.data.high);
      n.low = memory.low.get();
      n.high = memory.high.get();
    }
    if (training.base != nullptr && !training.base->empty()) {
      const Index d = shape_.variables;
      std::vector<double> values(training.base->mean().begin(), training.base->mean().end());
      const Matrix& covariance = training.base->covariance();
      values.insert(values.end(), covariance.data(), covariance.data() + d * d);
      const Vector& reliability = training.data.reliability;
      values.insert(values.end(), reliability.begin(), reliability.end());
      memory.base = DeviceArray<double>(values);
      n.base_mean = memory.base.get();
      n.base_covariance = n.base_mean + d;
      if (reliability.size() > 0) n.reliability = n.base_covariance + d * d;
      wait_for_device("copying to the device");  // before `values` go
    }
    n.subset_key = training.subset_key.value;
    n.noise = training.noise;
    if (!training.data.variables.empty()) {
      std::vector<int> starts = training.data.variables;
      starts.push_back(shape_.variables);
      memory.first_columns = DeviceArray<int>(starts);
      n.first_column = memory.first_columns.get();
      wait_for_device("copying to the device");
    }
  }

  flow::Layout layout_;
  DeviceLayout places_;
  TrainingShape shape_;
  DeviceArray<int> output_pairs_, input_pairs_;
  std::vector<std::unique_ptr<NetworkMemory>> networks_;
  Brought brought_[2];  // steps under way, and those after them
  int next_ = 0, under_way_ = 0;
  Copies copies_;
};

}  // namespace

std::unique_ptr<flow::TrainingGroup> open_training(std::vector<flow::DeviceTraining> trainings) {
  use_device();
  return std::make_unique<Group>(std::move(trainings));
}

}  // namespace fansite::cuda
