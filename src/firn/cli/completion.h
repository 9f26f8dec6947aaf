#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/cli/command_tree.h"

namespace firn::cli {

/// A word that could stand at the cursor.
struct Candidate {
  std::string word;
  std::string help;

  bool operator==(const Candidate&) const = default;
};

struct Completion {
  std::vector<Candidate> candidates;
  /// Names of files could stand there, too; the shell knows them.
  bool files = false;
  /// Names of tables could stand there, too.
  bool tables = false;
  /// Values of options before the cursor: {"--warehouse", "/data"}.
  std::map<std::string, std::string> values;
};

/// What could stand at the cursor. `words` are those behind the program's name up to the
/// cursor, the last one being (the begin of) the word there. Bash gives "--name=value" as
/// three words. Pure.
Completion Complete(const CommandTree& root, const std::vector<std::string>& words);

/// A script for "bash", "zsh" or "fish" that asks 'firn __complete WORD...', which prints
/// a candidate a line, a tab and its help behind it, and ":files" for names of files.
/// Empty for another shell.
std::string_view CompletionScript(std::string_view shell);

}  // namespace firn::cli
