// SPDX-License-Identifier: Apache-2.0
#include "compiler/firmware/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace {

TEST(Process, CollectsOutputAndExitCode) {
  const Finished finished = run({{"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, {}, 10});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.output, "out\nerr\n");
  EXPECT_FALSE(finished.ok());
}

TEST(Process, EndsAChildThatTakesTooLong) {
  const auto begin = std::chrono::steady_clock::now();
  const Finished finished = run({{"/bin/sh", "-c", "sleep 30 & sleep 30"}, {}, 0.2});
  EXPECT_TRUE(finished.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Process, RunsInADirectory) {
  const TemporaryDirectory directory;
  EXPECT_EQ(run_checked({{"/bin/pwd"}, directory.path(), 10}), directory.path().string() + "\n");
}

TEST(Process, AMissingToolNamesItsPackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  std::string message;
  try {
    find_tool("arm-none-eabi-g++");
  } catch (const UserError& error) {
    message = error.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(message,
            "error: arm-none-eabi-g++ is not installed\n"
            "  fix: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi");
}

TEST(Process, FilesAreReplacedWhole) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "f", "one");
  write_file(directory.path() / "f", "two");
  EXPECT_EQ(read_file(directory.path() / "f"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Process, AMissingFileIsTheUsersError) { EXPECT_THROW(read_file("/nonexistent/file"), UserError); }

}  // namespace
}  // namespace rush::firmware
