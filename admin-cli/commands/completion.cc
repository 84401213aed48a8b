// croft completion bash|zsh|fish: scripts that ask "croft complete" what may stand next.
#include <cstdio>

#include "admin-cli/invocation.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

// Bash breaks words at "=" and ":"; croft sees them whole, and what it offers loses what stands
// before the break.
constexpr const char* kBash = R"script(# bash completion for croft
_croft() {
  local line=${COMP_LINE:0:COMP_POINT} words word candidate cur=${COMP_WORDS[COMP_CWORD]}
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]} - 1]}
  [[ $cur == [=:] ]] && cur=
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    [[ $candidate == "$word"* ]] && COMPREPLY+=("${candidate#"${word%"$cur"}"}")
  done < <("${words[0]}" complete -- "${words[@]:1}" 2> /dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace 2> /dev/null
  return 0
}
complete -o bashdefault -o default -F _croft croft
)script";

constexpr const char* kZsh = R"script(#compdef croft
_croft() {
  local line
  local -a candidates partial
  for line in ${(f)"$(croft complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)"}; do
    line=${line%%$'\t'*}
    case $line in
      *=|*.) partial+=("$line") ;;
      *) candidates+=("$line") ;;
    esac
  done
  compadd -Q -S '' -- $partial
  compadd -- $candidates
  (( $#partial + $#candidates )) || _files
}
if [[ $funcstack[1] == _croft ]]; then _croft "$@"; else compdef _croft croft; fi
)script";

constexpr const char* kFish = R"script(# fish completion for croft
function __croft_complete
  set -l words (commandline -opc) (commandline -ct)
  croft complete -- $words[2..-1] 2> /dev/null
end
complete -c croft -f -a '(__croft_complete)'
complete -c croft -s f -l file -r -F
)script";

}  // namespace

ExitCode PrintCompletion(const Invocation& invocation) {
  const char* script = invocation.type == "bash"   ? kBash
                       : invocation.type == "zsh"  ? kZsh
                       : invocation.type == "fish" ? kFish
                                                   : nullptr;
  if (script == nullptr) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "no completion for \"{}\"; there is one for: bash, zsh, fish",
                      invocation.type));
  }
  std::fputs(script, stdout);
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
