// SPDX-License-Identifier: Apache-2.0
//
// The commands of `rushlight`, one file each: arguments in, compiler called, results printed.
#pragma once

#include <CLI/CLI.hpp>

namespace rush {

void add_compile_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_build_command(CLI::App& app);
void add_estimate_command(CLI::App& app);
void add_profile_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_size_command(CLI::App& app);
void add_link_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_view_command(CLI::App& app);
void add_targets_command(CLI::App& app);

/// quantize and evaluate, which the Python package does.
void add_python_commands(CLI::App& app);

}  // namespace rush
