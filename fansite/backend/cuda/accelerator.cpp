// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/accelerator.h"

#include <fmt/core.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "fansite/backend/cuda/density.h"
#include "fansite/backend/cuda/memory.h"
#include "fansite/backend/cuda/training.h"

namespace fansite::cuda {

void check_cuda(cudaError_t error, const char* work) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // it is told once
  if (error == cudaErrorMemoryAllocation) {
    throw DeviceError(fmt::format("the GPU's memory does not suffice ({})", work));
  }
  throw DeviceError(fmt::format("the GPU failed while {}: {}", work, cudaGetErrorString(error)));
}

namespace {

constexpr int kOldest = 80;  // compute capability 8.0: what the kernels are built for

class CudaAccelerator final : public flow::Accelerator {
 public:
  CudaAccelerator(std::string name, int multiprocessors, double fma_peak_gflops)
      : name_(std::move(name)), multiprocessors_(multiprocessors), fma_peak_gflops_(fma_peak_gflops) {}

  std::string name() const override { return name_; }
  int networks_at_once() const override { return multiprocessors_; }
  double fma_peak_gflops() const override { return fma_peak_gflops_; }
  std::unique_ptr<flow::TrainingGroup> open(std::vector<flow::DeviceTraining> trainings) const override {
    return open_training(std::move(trainings));
  }
  std::shared_ptr<const flow::SubsetDensity> density(
      std::shared_ptr<const flow::FoldedNetwork> network) const override {
    return make_density(std::move(network));
  }

 private:
  std::string name_;
  int multiprocessors_;
  double fma_peak_gflops_;
};

// The first device, if it can be used; else why not, and whether there is one.
std::optional<CudaAccelerator> find(std::string& why_not, bool& there) {
  int count = 0, driver = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaDriverGetVersion(&driver);  // 0: none is installed, which CUDA calls insufficient too
  cudaGetLastError();
  if (error == cudaErrorInsufficientDriver && driver > 0) {
    there = true;
    why_not = "the driver of the GPU is older than this program's CUDA";
    return {};
  }
  const bool none = driver == 0 || error == cudaSuccess || error == cudaErrorNoDevice || error == cudaErrorStubLibrary;
  if (error != cudaSuccess && !none) {  // not ready: another driver is running than is installed, say
    there = true;
    why_not = fmt::format("CUDA cannot use the GPU ({})", cudaGetErrorString(error));
    return {};
  }
  if (error != cudaSuccess || count == 0) {
    why_not = "there is no GPU that CUDA can use";
    return {};
  }
  there = true;
  cudaDeviceProp properties;
  int kilohertz = 0;
  try {
    use_device();
    check_cuda(cudaGetDeviceProperties(&properties, 0), "asking what it is");
    if (10 * properties.major + properties.minor < kOldest) {
      why_not = fmt::format("the {} is too old: compute capability 8.0 or later is needed", properties.name);
      return {};
    }
    check_cuda(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "asking for its clock");
    cudaMemPool_t pool;  // keeps what is freed: calls are many and short
    check_cuda(cudaDeviceGetDefaultMemPool(&pool, 0), "starting");
    std::uint64_t keep = std::uint64_t{1} << 32;
    check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "starting");
  } catch (const DeviceError& failed) {
    why_not = failed.what();
    return {};
  }
  const int lanes = properties.major == 8 && properties.minor == 0 ? 64 : 128;  // of a multiprocessor: A100, all others
  return CudaAccelerator(properties.name, properties.multiProcessorCount,
                         2.0 * properties.multiProcessorCount * lanes * kilohertz * 1e-6);
}

}  // namespace
}  // namespace fansite::cuda

namespace fansite::flow {

const BuiltIn& built_in_accelerator() {
  static std::optional<cuda::CudaAccelerator> device;
  static const BuiltIn built_in = [] {
    BuiltIn found;
    device = cuda::find(found.why_not, found.there);
    if (device) found.device = &*device;
    return found;
  }();
  return built_in;
}

}  // namespace fansite::flow
