# SPDX-License-Identifier: MIT
"""`imitable completion`: a script that lets a shell complete verbs and options, and leaves files to the shell itself."""

from imitable.cli.console import document
from imitable.cli.flags import flags
from imitable.cli.verbs import VERBS, Completion

BASH = """_imitable() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" choices=""
    if [[ "$COMP_CWORD" -eq 1 ]]; then
        choices="{verbs}"
    elif [[ "$current" == -* ]]; then
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
}}
complete -o default -F _imitable imitable"""
"""Where nothing is offered, bash falls back to names of files."""

ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
"""zsh reads bash's script once it is told to."""


def run(verb: Completion) -> None:
    """Carry out the verb."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[verb.shell]()
    if verb.common.json:
        document(verb.common, {"shell": verb.shell, "script": script})
    else:
        print(script)


def bash() -> str:
    """Return the script for bash."""
    cases = "\n".join(f'            {name}) choices="{" ".join(flags(kind))}" ;;' for name, kind in VERBS.items())
    return BASH.format(verbs=" ".join(VERBS), cases=cases)


def zsh() -> str:
    """Return the script for zsh."""
    return ZSH + bash()


def fish() -> str:
    """Return the script for fish, with the first sentence of every verb."""
    lines: list[str] = []
    for name, kind in VERBS.items():
        what = (kind.__doc__ or "").splitlines()[0].replace("'", "\\'")
        lines.append(f"complete -c imitable -n __fish_use_subcommand -f -a {name} -d '{what}'")
        lines += [f"complete -c imitable -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}" for flag in flags(kind)]
    return "\n".join(lines)
