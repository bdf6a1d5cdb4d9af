// SPDX-License-Identifier: Apache-2.0
//
// Memory of the device, and calls to it that are checked.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace fansite::cuda {

/// A DeviceError that says what failed: "out of memory while training: …".
void check_cuda(cudaError_t error, const char* work);

/// Work of this thread goes to the first device, whatever other code has chosen for it, and errors that such code has
/// not asked about are not ours.
inline void use_device() {
  cudaGetLastError();
  check_cuda(cudaSetDevice(0), "choosing the device");
}

/// Elements on the device, in the order of the calling thread's stream.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count > 0) {
      check_cuda(cudaMallocAsync(reinterpret_cast<void**>(&data_), count * sizeof(T), cudaStreamPerThread),
                 "reserving memory");
    }
  }
  explicit DeviceArray(std::span<const T> from) : DeviceArray(from.size()) { upload(from); }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(std::span<const T>(from)) {}
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, cudaStreamPerThread);
  }

  T* get() const { return data_; }
  std::size_t size() const { return count_; }

  void upload(std::span<const T> from) {
    if (from.empty()) return;
    check_cuda(cudaMemcpyAsync(data_, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, cudaStreamPerThread),
               "copying to the device");
  }
  void download(std::span<T> to) const {
    if (to.empty()) return;
    check_cuda(cudaMemcpyAsync(to.data(), data_, to.size_bytes(), cudaMemcpyDeviceToHost, cudaStreamPerThread),
               "copying from the device");
  }
  void clear() {
    if (count_ > 0) check_cuda(cudaMemsetAsync(data_, 0, count_ * sizeof(T), cudaStreamPerThread), "clearing memory");
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Elements on the host, in memory that the device copies at full speed and while others work.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t count) : count_(count) {
    check_cuda(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(T)), "reserving memory");
  }
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~PinnedArray() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }

  T* get() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Waits for what the calling thread has asked for.
inline void wait_for_device(const char* work) { check_cuda(cudaStreamSynchronize(cudaStreamPerThread), work); }

}  // namespace fansite::cuda
