// SPDX-License-Identifier: Apache-2.0
#include "fansite/backend/cuda/density.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "fansite/backend/cuda/density_kernel.h"
#include "fansite/backend/cuda/memory.h"
#include "fansite/backend/cuda/training_kernel.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/detail/density_kernel.h"
#include "fansite/entropy/flow/detail/folded_network.h"

namespace fansite::cuda {
namespace {

using flow::CellColumns;
using flow::FoldedNetwork;
using flow::Subset;
using flow::Trial;
using flow::TrialColumn;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// What a call needs on the host and others can use after it, kept because it takes long to make. Not one for each
/// thread: a thread that waits for a parallel loop inside a call may begin another call meanwhile.
template <class T>
class Pool {
 public:
  class Lease {
   public:
    explicit Lease(Pool& pool) : pool_(pool), held_(pool.take()) {}
    ~Lease() { pool_.give(std::move(held_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() { return *held_; }
    T* operator->() { return held_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> held_;
  };

  /// Never freed: a program's end may come after the driver's.
  static Pool& all() {
    static Pool* const pool = new Pool;
    return *pool;
  }

 private:
  std::unique_ptr<T> take() {
    {
      const std::lock_guard lock(lock_);
      if (!free_.empty()) {
        std::unique_ptr<T> last = std::move(free_.back());
        free_.pop_back();
        return last;
      }
    }
    return std::make_unique<T>();
  }
  void give(std::unique_ptr<T> back) {
    const std::lock_guard lock(lock_);
    free_.push_back(std::move(back));
  }

  std::mutex lock_;
  std::vector<std::unique_ptr<T>> free_;
};

/// Memory of the host that the device writes to at full speed.
class Staging {
 public:
  static constexpr std::size_t kFloats = std::size_t{1} << 18;  // 1 MB: copies are under way while the kernel works

  Staging() {
    for (float*& buffer : buffers_) {
      check_cuda(cudaMallocHost(reinterpret_cast<void**>(&buffer), kFloats * sizeof(float)), "reserving memory");
    }
    for (cudaEvent_t* events : {made_, done_}) {
      for (int i = 0; i < 2; ++i) check_cuda(cudaEventCreateWithFlags(events + i, cudaEventDisableTiming), "waiting");
    }
    check_cuda(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "starting");
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Copies `count` floats from the device to `to`, piece by piece; `make` is asked for each piece just before. A piece
  /// is copied while the next is computed and the one before goes to its place.
  template <class Make>
  void bring(const float* from, std::size_t count, float* to, const Make& make) {
    struct Piece {
      std::size_t first = 0, count = 0;
    } under_way[2];
    const auto finish = [&](int which) {
      Piece& piece = under_way[which];
      if (piece.count == 0) return;
      check_cuda(cudaEventSynchronize(done_[which]), "computing densities");
      constexpr std::size_t kAtOnce = std::size_t{1} << 14;
      parallel_for(static_cast<std::ptrdiff_t>((piece.count + kAtOnce - 1) / kAtOnce), [&](std::ptrdiff_t i) {
        const std::size_t first = static_cast<std::size_t>(i) * kAtOnce;
        std::memcpy(to + piece.first + first, buffers_[which] + first,
                    std::min(kAtOnce, piece.count - first) * sizeof(float));
      });
      piece.count = 0;
    };
    // Should `make` fail, what is being copied is freed by who called: not before it has been.
    struct Drained {
      cudaStream_t stream;
      ~Drained() { cudaStreamSynchronize(stream); }
    } const drained{copies_};
    int which = 0;
    for (std::size_t first = 0; first < count; which ^= 1) {
      finish(which);
      const std::size_t some = make(first, std::min(kFloats, count - first));
      check_cuda(cudaEventRecord(made_[which], cudaStreamPerThread), "waiting");
      check_cuda(cudaStreamWaitEvent(copies_, made_[which], 0), "waiting");
      check_cuda(cudaMemcpyAsync(buffers_[which], from + first, some * sizeof(float), cudaMemcpyDeviceToHost, copies_),
                 "copying from the device");
      check_cuda(cudaEventRecord(done_[which], copies_), "waiting");
      under_way[which] = {first, some};
      first += some;
    }
    finish(which);
    finish(which ^ 1);
  }

 private:
  float* buffers_[2] = {};
  cudaEvent_t made_[2] = {}, done_[2] = {};
  cudaStream_t copies_ = nullptr;
};

// ---- What goes to the device ----------------------------------------------------------------------------------------

/// Arrays that go to the device in one copy, out of memory of the host that the call has until it ends, by which time
/// Staging::bring has waited for it.
class Bundle {
 public:
  Bundle() = default;
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  // What failed in between may have left the copy under way, and the memory goes to another call.
  ~Bundle() {
    if (memory_.get() != nullptr) cudaStreamSynchronize(cudaStreamPerThread);
  }

  /// `place` is set when all are sent; what is in `from` must live until then.
  template <class T>
  void add(std::span<const T> from, const T*& place) {
    if (from.empty()) return;
    parts_.push_back({from.data(), from.size_bytes(), bytes_,
                      [&place](const std::byte* at) { place = reinterpret_cast<const T*>(at); }});
    bytes_ += (from.size_bytes() + 15) / 16 * 16;
  }
  void send() {
    // Twice as much at least: reserving it takes longer than a call, and questions grow by one member at a time.
    if (pinned_->size() < bytes_) *pinned_ = PinnedArray<std::byte>(std::max(bytes_, 2 * pinned_->size()));
    memory_ = DeviceArray<std::byte>(bytes_);
    for (const Part& part : parts_) {
      std::memcpy(pinned_->get() + part.offset, part.from, part.bytes);
      part.set(memory_.get() + part.offset);
    }
    memory_.upload(std::span<const std::byte>(pinned_->get(), bytes_));
  }

 private:
  struct Part {
    const void* from;
    std::size_t bytes, offset;
    std::function<void(const std::byte*)> set;
  };
  std::vector<Part> parts_;
  std::size_t bytes_ = 0;
  Pool<PinnedArray<std::byte>>::Lease pinned_{Pool<PinnedArray<std::byte>>::all()};
  DeviceArray<std::byte> memory_;
};

std::span<const float> floats(const Eigen::MatrixXf& matrix) { return {matrix.data(), at(matrix.size())}; }

void add(Bundle& bundle, const Eigen::MatrixXf& score, const Eigen::MatrixXf* low, const Eigen::MatrixXf* high,
         DeviceCells& cells) {
  cells.rows = static_cast<int>(score.rows());
  bundle.add(floats(score), cells.score);
  if (low == nullptr || low->size() == 0) return;
  bundle.add(floats(*low), cells.low);
  bundle.add(floats(*high), cells.high);
}

void add(Bundle& bundle, const CellColumns& rows, DeviceCells& cells) {
  add(bundle, *rows.score, rows.low, rows.high, cells);
  if (rows.coarse == nullptr) return;
  bundle.add(std::span(reinterpret_cast<const std::uint8_t*>(rows.coarse->data()), rows.coarse->size()), cells.coarse);
}

/// Subsets with their ranks, and room for what they need of a base.
class Asked {
 public:
  Asked(const FoldedNetwork& network, std::span<const Subset> subsets) : has_base_(!network.base.empty()) {
    std::size_t members = 0;
    for (const Subset& subset : subsets) members += subset.size();
    starts_.reserve(subsets.size() + 1);
    factor_starts_.reserve(subsets.size());
    variables_.reserve(members);
    ranks_.reserve(members);
    std::vector<int> ranks;
    starts_.push_back(0);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      const Subset& subset = subsets[s];
      flow::check_subset(network.shape, subset, s);
      ranks.assign(subset.size(), -1);
      if (!subset.empty()) flow::assign_ranks(network.shape, subset, std::span(ranks).first(subset.size() - 1));
      for (const int j : subset) variables_.push_back(static_cast<short>(j));
      for (const int rank : ranks) ranks_.push_back(static_cast<short>(rank));
      starts_.push_back(static_cast<int>(variables_.size()));
      factor_starts_.push_back(entries_);
      entries_ += static_cast<long long>(subset.size() * (subset.size() + 1) / 2);
      longest_ = std::max(longest_, subset.size());
    }
  }

  void add(Bundle& bundle, DeviceSubsets& to) {
    bundle.add(std::span<const int>(starts_), to.start);
    bundle.add(std::span<const short>(variables_), to.variable);
    bundle.add(std::span<const short>(ranks_), to.rank);
    if (!has_base_) return;
    bundle.add(std::span<const long long>(factor_starts_), to.factor_start);
    factor_ = DeviceArray<double>(at(entries_));
    coefficients_ = DeviceArray<float>(at(entries_));
    const std::size_t members = variables_.size();
    per_member_ = DeviceArray<float>(7 * members);
    to.factor = factor_.get();
    to.coefficients = coefficients_.get();
    float** each[] = {&to.scale,        &to.shift,        &to.log_scale,       &to.coarse_factor,
                      &to.coarse_scale, &to.coarse_shift, &to.coarse_log_scale};
    for (std::size_t i = 0; i < 7; ++i) *each[i] = per_member_.get() + i * members;
  }

  int longest() const { return static_cast<int>(longest_); }

 private:
  bool has_base_;
  std::vector<int> starts_;
  std::vector<short> variables_, ranks_;
  std::vector<long long> factor_starts_;
  long long entries_ = 0;
  std::size_t longest_ = 0;
  DeviceArray<double> factor_;
  DeviceArray<float> coefficients_, per_member_;
};

// ---- Density --------------------------------------------------------------------------------------------------------

class CudaDensity final : public flow::SubsetDensity {
 public:
  explicit CudaDensity(std::shared_ptr<const FoldedNetwork> network) : network_(std::move(network)), cpu_(network_) {
    const FoldedNetwork& n = *network_;
    if (n.only_base || !has_density_kernel(n.shape.blocks) || n.shape.sigmoids != kSigmoids) {
      throw DeviceError("the GPU kernels are not made for this shape of network; use 6, 12 or 24 blocks, 4 sigmoids");
    }
    if (n.shape.variables > std::numeric_limits<short>::max()) {  // what Asked has of each member
      throw DeviceError("the GPU kernels are not made for so many columns; use 32767 at most");
    }
    use_device();
    w1_ = DeviceArray<float>(n.w1);
    b1_ = DeviceArray<float>(n.b1);
    g_ = DeviceArray<float>(n.g);
    g0_ = DeviceArray<float>(n.g0);
    device_ = {w1_.get(), b1_.get(), g_.get(), g0_.get(), n.shape.variables, n.shape.blocks, n.shape.ranks};
    if (!n.base.empty()) {
      std::vector<double> values(n.base.mean().begin(), n.base.mean().end());
      const Matrix& covariance = n.base.covariance();
      values.insert(values.end(), covariance.data(), covariance.data() + covariance.size());
      const Vector& reliability = n.base.reliability();
      values.insert(values.end(), reliability.begin(), reliability.end());
      base_ = DeviceArray<double>(values);
      device_base_.mean = base_.get();
      device_base_.covariance = device_base_.mean + n.base.mean().size();
      if (reliability.size() > 0) device_base_.reliability = device_base_.covariance + covariance.size();
      wait_for_device("copying a network to the device");
    }
    wait_for_device("copying a network to the device");
  }

  int variables() const override { return network_->shape.variables; }
  int largest_subset() const override { return network_->shape.ranks + 1; }

  using flow::SubsetDensity::log_conditional;
  /// Tests of pairs ask each network hundreds of times for little, from all threads at once: a call to the GPU takes
  /// some 30 µs of the driver, which serves one thread at a time. What decides is in the question itself, not in what
  /// else is asked, so a run that was interrupted decides alike.
  Eigen::MatrixXf log_conditional(const CellColumns& rows, const flow::ConditionalSubset& question,
                                  std::span<const Trial> trials) const override {
    constexpr Index kWorthACall = Index{1} << 14;  // densities
    Index densities = rows.rows();
    for (const Trial& trial : trials) densities *= trial.options();
    return densities < kWorthACall ? cpu_.log_conditional(rows, question, trials)
                                   : SubsetDensity::log_conditional(rows, question, trials);
  }

  Eigen::MatrixXf log_density(const CellColumns& rows, std::span<const Subset> subsets) const override {
    std::size_t longest = 0;
    for (const Subset& subset : subsets) longest = std::max(longest, subset.size());
    if (!fits(longest)) return cpu_.log_density(rows, subsets);
    return or_by_processor([&] { return by_device(rows, subsets); }, [&] { return cpu_.log_density(rows, subsets); });
  }
  Eigen::MatrixXf log_density(const CellColumns& rows, const Subset& subset,
                              std::span<const Trial> trials) const override {
    if (!fits(subset.size()) || trials.size() > kMostTrials) return cpu_.log_density(rows, subset, trials);
    return or_by_processor([&] { return by_device(rows, subset, trials); },
                           [&] { return cpu_.log_density(rows, subset, trials); });
  }

 private:
  // Larger subsets are the processor's: no failure of the device.
  bool fits(std::size_t members) const {
    return can_compute_densities(network_->shape.blocks, static_cast<int>(std::max<std::size_t>(1, members)));
  }

  template <class OnDevice, class OnProcessor>
  static Eigen::MatrixXf or_by_processor(const OnDevice& device, const OnProcessor& processor) {
    const flow::Accelerator* there = flow::accelerator();
    if (there == nullptr) return processor();
    try {
      use_device();
      Eigen::MatrixXf answer = device();
      note_device(there->name());
      return answer;
    } catch (const DeviceError& error) {
      give_up_device(error);
      return processor();
    }
  }

  // In place: its pointers are set when the bundle is sent.
  void fill_request(DensityRequest& request, const CellColumns& rows, Asked& asked, Bundle& bundle) const {
    request.network = device_;
    request.base = device_base_;
    add(bundle, rows, request.table);
    asked.add(bundle, request.subsets);
    request.longest = std::max(1, asked.longest());
    request.term_constant = static_cast<float>(flow::kernel::density_term_constant());
  }

  void check_columns(const CellColumns& rows) const {
    check(rows.cols() == variables(), "[log_density] rows of {} values; this network has {} variables", rows.cols(),
          variables());
  }

  Eigen::MatrixXf by_device(const CellColumns& rows, std::span<const Subset> subsets) const {
    check_columns(rows);
    Eigen::MatrixXf out(rows.rows(), static_cast<Index>(subsets.size()));
    if (out.size() == 0) return out;
    Asked asked(*network_, subsets);
    Bundle bundle;
    DensityRequest all;
    fill_request(all, rows, asked, bundle);
    bundle.send();
    if (!network_->base.empty()) {
      all.count = static_cast<int>(subsets.size());
      check_cuda(static_cast<cudaError_t>(launch_factors(all, cudaStreamPerThread)), "starting a kernel");
    }
    const std::size_t per_subset = at(rows.rows());
    // Whole subsets at a time: as many as are copied at once, or one that is copied in pieces.
    constexpr std::size_t kResults = 128 * Staging::kFloats;  // on the device: 128 MB, or one subset's
    const std::size_t piece = std::max<std::size_t>(1, Staging::kFloats / per_subset);
    const std::size_t at_once = std::max(piece, kResults / per_subset);
    const DeviceArray<float> results(std::min(at_once, subsets.size()) * per_subset);
    Pool<Staging>::Lease staging(Pool<Staging>::all());
    for (std::size_t first = 0; first < subsets.size(); first += at_once) {
      const std::size_t some = std::min(at_once, subsets.size() - first);
      std::size_t computed = 0;  // of these
      staging->bring(
          results.get(), some * per_subset, out.data() + first * per_subset, [&](std::size_t from, std::size_t floats) {
            if (from >= computed * per_subset) {
              DensityRequest part = all;
              part.first = static_cast<int>(first + computed);
              part.count = static_cast<int>(std::min(piece, some - computed));
              part.out = results.get() + computed * per_subset;
              check_cuda(static_cast<cudaError_t>(launch_densities(part, cudaStreamPerThread)), "starting a kernel");
              computed += at(part.count);
            }
            return std::min(floats, computed * per_subset - from);
          });
    }
    return out;
  }

  Eigen::MatrixXf by_device(const CellColumns& rows, const Subset& subset, std::span<const Trial> trials) const {
    check_columns(rows);
    Asked asked(*network_, {&subset, 1});
    Bundle bundle;
    DensityRequest all;
    fill_request(all, rows, asked, bundle);
    all.count = 1;
    all.trials.count = static_cast<int>(trials.size());
    std::vector<int> trial_of(subset.size(), -1);
    std::vector<DeviceCells> cells(subset.size());
    for (std::size_t k = 0; k < trials.size(); ++k) {
      all.trials.options[k] = static_cast<int>(trials[k].options());
      all.trials.combinations *= all.trials.options[k];
      for (const TrialColumn& column : trials[k].columns) {
        const auto place = std::find(subset.begin(), subset.end(), column.variable);
        check(column.values.rows() == rows.rows(), "[log_density] {} rows of values to try for a table of {}",
              column.values.rows(), rows.rows());
        check(place != subset.end(), "[log_density] variable {} is to be tried but not in the subset", column.variable);
        trial_of[at(place - subset.begin())] = static_cast<int>(k);
        add(bundle, column.values, &column.low, &column.high, cells[at(place - subset.begin())]);
      }
    }
    Eigen::MatrixXf out(rows.rows(), all.trials.combinations);
    if (out.size() == 0) return out;
    bundle.add(std::span<const int>(trial_of), all.trials.trial);
    bundle.send();
    const DeviceArray<DeviceCells> trial_cells(cells);  // they point into the bundle
    all.trials.cells = trial_cells.get();
    if (!network_->base.empty()) {
      check_cuda(static_cast<cudaError_t>(launch_factors(all, cudaStreamPerThread)), "starting a kernel");
    }
    const DeviceArray<float> results(at(out.size()));
    all.out = results.get();
    check_cuda(static_cast<cudaError_t>(launch_densities(all, cudaStreamPerThread)), "starting a kernel");
    Pool<Staging>::Lease staging(Pool<Staging>::all());
    staging->bring(results.get(), at(out.size()), out.data(), [](std::size_t, std::size_t floats) { return floats; });
    return out;
  }

  std::shared_ptr<const FoldedNetwork> network_;
  flow::Density cpu_;
  DeviceArray<float> w1_, b1_, g_, g0_;
  DeviceArray<double> base_;
  DeviceFolded device_{};
  DeviceBase device_base_;
};

}  // namespace

std::shared_ptr<const flow::SubsetDensity> make_density(std::shared_ptr<const FoldedNetwork> network) {
  return std::make_shared<const CudaDensity>(std::move(network));
}

}  // namespace fansite::cuda
