#include "firn/cli/completion.h"

#include <algorithm>
#include <cstddef>

namespace firn::cli {
namespace {

constexpr std::string_view kBash =
    R"sh(# bash completion for firn: source <(firn completion bash)
_firn() {
  local word help
  COMPREPLY=()
  while IFS=$'\t' read -r word help; do
    if [[ $word == :files ]]; then
      compopt -o filenames
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    else
      COMPREPLY+=("$word")
    fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _firn firn
)sh";

constexpr std::string_view kZsh = R"sh(#compdef firn
# zsh completion for firn: source <(firn completion zsh), or a file _firn in $fpath
_firn() {
  local line word
  local -a found
  for line in "${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    word=${line%%$'\t'*}
    if [[ $word == :files ]]; then
      _files
    elif [[ -n $word ]]; then
      found+=("${word//:/\\:}:${line#*$'\t'}")
    fi
  done
  (( $#found )) && _describe firn found
}
if [[ $funcstack[1] == _firn ]]; then
  _firn "$@"
else
  compdef _firn firn
fi
)sh";

constexpr std::string_view kFish =
    R"sh(# fish completion for firn: firn completion fish | source
function __firn_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c firn -f -a '(__firn_complete)'
)sh";

bool IsPath(std::string_view value) {
  return value.find("FILE") != std::string_view::npos ||
         value.find("DIR") != std::string_view::npos ||
         value.find(".json") != std::string_view::npos;
}

/// Reads the words before the cursor as the parser would.
class Walk {
 public:
  explicit Walk(const CommandTree& root) : path_{&root} {}

  void Pass(const std::string& word) {
    if (pending_ != nullptr) {
      if (word != "=") TakeValue(word);
    } else if (IsOption(word)) {
      PassOption(word);
    } else if (word == "--") {
      only_arguments_ = true;
    } else if (const CommandTree* next = FindCommand(*path_.back(), word)) {
      path_.push_back(next);
    } else {
      ++arguments_;
    }
  }

  Completion Finish(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (pending_ != nullptr) {
      Offer(*pending_, word == "=" ? "" : word);
    } else if (IsOption(word) && equals != std::string_view::npos) {
      const OptionText* option = Find(word.substr(0, equals));
      if (option != nullptr) Offer(*option, word.substr(equals + 1));
      for (Candidate& candidate : result_.candidates) {
        candidate.word.insert(0, word, 0, equals + 1);
      }
    } else if (word.starts_with('-') && !only_arguments_) {
      OfferOptions(word);
    } else {
      OfferCommands(word);
      OfferArgument(word);
    }
    return std::move(result_);
  }

 private:
  bool IsOption(const std::string& word) const {
    return word.starts_with("--") && word != "--" && !only_arguments_;
  }

  /// An option of the command at the cursor, or of one above it.
  const OptionText* Find(std::string_view name) const {
    for (const CommandTree* command : path_) {
      if (const OptionText* option = FindOption(*command, name)) return option;
    }
    return nullptr;
  }

  void PassOption(const std::string& word) {
    const std::size_t equals = word.find('=');
    const OptionText* option = Find(word.substr(0, equals));
    if (option == nullptr || option->value.empty()) return;
    pending_ = option;
    if (equals != std::string_view::npos) TakeValue(word.substr(equals + 1));
  }

  void TakeValue(const std::string& value) {
    result_.values[pending_->names.front()] = value;
    pending_ = nullptr;
  }

  void Offer(const OptionText& option, const std::string& prefix) {
    for (const std::string& choice : option.choices) AddIf(prefix, choice, "");
    result_.files |= option.choices.empty() && IsPath(option.value);
    result_.tables |= option.value == "TABLE";
  }

  void OfferOptions(const std::string& prefix) {
    for (const CommandTree* command : path_) {
      for (const OptionText& option : command->options) {
        AddIf(prefix, option.names.front(), option.help);
      }
    }
  }

  void OfferCommands(const std::string& prefix) {
    for (const CommandTree& child : path_.back()->commands) {
      AddIf(prefix, child.name, child.summary);
    }
  }

  void OfferArgument(const std::string& prefix) {
    const std::vector<OptionText>& arguments = path_.back()->arguments;
    if (arguments.empty()) return;
    const std::size_t place = std::min(arguments_, arguments.size() - 1);
    if (place < arguments_ && !arguments.back().repeated) return;
    Offer(arguments[place], prefix);
  }

  void AddIf(const std::string& prefix, const std::string& word,
             const std::string& help) {
    const Candidate candidate{.word = word, .help = help};
    if (!word.starts_with(prefix)) return;
    const auto same = std::ranges::find(result_.candidates, word, &Candidate::word);
    if (same == result_.candidates.end()) result_.candidates.push_back(candidate);
  }

  std::vector<const CommandTree*> path_;
  const OptionText* pending_ = nullptr;
  bool only_arguments_ = false;
  std::size_t arguments_ = 0;
  Completion result_;
};

}  // namespace

Completion Complete(const CommandTree& root, const std::vector<std::string>& words) {
  if (words.empty()) return Walk(root).Finish("");
  Walk walk(root);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) walk.Pass(words[i]);
  return walk.Finish(words.back());
}

std::string_view CompletionScript(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return "";
}

}  // namespace firn::cli
