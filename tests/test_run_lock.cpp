// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/run_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "support.h"

namespace fansite {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class RunLockTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fansite_lock.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    result_ = (directory_ / "r.json").string();
    lock_ = result_ + ".lock";
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put_lock(const std::string& line) const { std::ofstream(lock_) << line; }
  std::string refusal() const {
    return message_of<UsageError>([&] { RunLock lock(result_); });
  }

  fs::path directory_;
  std::string result_, lock_;
};

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// The line that this process writes.
std::string own_line(const std::string& result) {
  const RunLock lock(result);
  std::ifstream file(result + ".lock");
  std::string line;
  std::getline(file, line);
  return line;
}

TEST_F(RunLockTest, IsThereWhileItLives) {
  {
    const RunLock lock(result_);
    EXPECT_THAT(content(lock_), AllOf(HasSubstr(host()), HasSubstr(std::to_string(::getpid()))));
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(RunLockTest, ASecondRunIsRefusedByName) {
  const RunLock lock(result_);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("r.json is being written by another run (process " +
                                         std::to_string(::getpid()) + " since 20"),
                               HasSubstr("use another --out")));
  EXPECT_TRUE(fs::exists(lock_));
}

TEST_F(RunLockTest, WithoutLocksOfFilesTheProcessDecides) {
  put_lock(own_line(result_) + "\n");  // nobody holds the file itself
  EXPECT_THAT(refusal(), HasSubstr("process " + std::to_string(::getpid())));
}

TEST_F(RunLockTest, WhatAKilledRunLeftIsTakenOver) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  for (const std::string& line :
       {std::string(), "fansite-run " + host() + " " + std::to_string(child) + " 77 2026-01-01T00:00:00Z\n",
        // The number of the process was used again, by us.
        "fansite-run " + host() + " " + std::to_string(::getpid()) + " 1 2026-01-01T00:00:00Z\n"}) {
    put_lock(line);
    {
      const RunLock lock(result_);
      EXPECT_THAT(content(lock_), HasSubstr(" " + std::to_string(::getpid()) + " "));
    }
    EXPECT_FALSE(fs::exists(lock_)) << line;
  }
}

TEST_F(RunLockTest, ARunOfAnotherMachineIsRefused) {
  put_lock("fansite-run another-host 12 77 2026-01-01T00:00:00Z\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("a run on another-host (process 12 since 2026-01-01T00:00:00Z)"),
                               HasSubstr("delete " + lock_ + " if that run is gone")));
  EXPECT_TRUE(fs::exists(lock_));
}

TEST_F(RunLockTest, FilesOfOthersAreLeftAlone) {
  put_lock("version = 3\n");
  EXPECT_THAT(refusal(), HasSubstr("is no lock of fansite"));
  EXPECT_EQ(content(lock_), "version = 3\n");
}

TEST_F(RunLockTest, LinksToOneResultShareALock) {
  std::ofstream(result_) << "old";
  const std::string link = (directory_ / "link.json").string();
  fs::create_symlink(result_, link);
  const RunLock lock(link);
  EXPECT_THAT(refusal(), HasSubstr("another run"));
}

TEST_F(RunLockTest, DevicesAndPlacesThatCannotBeWrittenGetNone) {
  for (const std::string& place : {std::string(), std::string("-"), std::string("/dev/null"),
                                   (directory_ / "none" / "r.json").string(), directory_.string()}) {
    EXPECT_NO_THROW(RunLock lock(place)) << place;
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

}  // namespace
}  // namespace fansite
