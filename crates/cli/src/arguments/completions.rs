//! Completion scripts: clap's own for commands and options, and a few lines that call `purlin names` for names of the
//! project.

use crate::args::Cli;
use crate::personality::PERSONALITIES;
use clap::CommandFactory;
use clap_complete::Shell;

/// Commands whose arguments are nodes.
const OF_NODES: &str = "resolve render why build deploy test run dev logs exec cleanup";

/// The script for a shell.
pub(crate) fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "purlin", &mut bytes);
    let mut script = String::from_utf8_lossy(&bytes).into_owned();
    let personalities: Vec<&str> = PERSONALITIES.iter().map(|personality| personality.name).collect();
    let personalities = personalities.join(" ");
    let nodes = OF_NODES.replace(' ', "|");
    match shell {
        Shell::Bash => script.push_str(&BASH.replace("NODES", &nodes).replace("PERSONALITIES", &personalities)),
        Shell::Zsh => script.push_str(&ZSH.replace("NODES", &nodes).replace("PERSONALITIES", &personalities)),
        Shell::Fish => script.push_str(&FISH.replace("NODES", OF_NODES).replace("PERSONALITIES", &personalities)),
        // Other shells have no hook for it.
        _ => {}
    }
    script
}

const BASH: &str = r#"
_purlin_names() {
    COMPREPLY=($(compgen -W "$(purlin names "$1" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}

_purlin_in_project() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    case "${COMP_WORDS[COMP_CWORD - 1]}" in
        -e | --env | --to-env) _purlin_names environments && return ;;
        -p | --profile | --to-profile) _purlin_names profiles && return ;;
    esac
    case "${COMP_WORDS[1]}" in
        NODES)
            if [[ "$word" != -* ]]; then
                _purlin_names nodes
                [[ ${#COMPREPLY[@]} -gt 0 ]] && return
            fi
            ;;
    esac
    _purlin "$@"
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY+=($(compgen -W "PERSONALITIES" -- "$word"))
    fi
}

complete -F _purlin_in_project -o bashdefault -o default purlin
"#;

const ZSH: &str = r#"
_purlin_in_project() {
    case "${words[CURRENT-1]}" in
        -e|--env|--to-env) compadd -- ${(f)"$(purlin names environments 2>/dev/null)"}; return ;;
        -p|--profile|--to-profile) compadd -- ${(f)"$(purlin names profiles 2>/dev/null)"}; return ;;
    esac
    case "${words[2]}" in
        NODES) [[ "${words[CURRENT]}" != -* ]] && compadd -- ${(f)"$(purlin names nodes 2>/dev/null)"} ;;
    esac
    [[ $CURRENT -eq 2 ]] && compadd -- PERSONALITIES
    _purlin "$@"
}

compdef _purlin_in_project purlin
"#;

const FISH: &str = r#"
complete -c purlin -s e -l env -x -a "(purlin names environments 2>/dev/null)"
complete -c purlin -s p -l profile -x -a "(purlin names profiles 2>/dev/null)"
complete -c purlin -n "__fish_seen_subcommand_from NODES" -f -a "(purlin names nodes 2>/dev/null)"
complete -c purlin -n "__fish_use_subcommand" -f -a "PERSONALITIES"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_ask_for_names_of_the_project() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for part in ["purlin names ", "environments", "nodes", "puccini-tosca"] {
                assert!(script.contains(part), "{shell}: {part}");
            }
        }
    }
}
