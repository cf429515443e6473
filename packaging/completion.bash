# Completion of `ptera` for bash. The program's own help tells commands and options, so that nothing is listed twice.

_ptera() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words help
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words=$(ptera help 2>/dev/null | awk '/^$/ { part++ } part == 1 && NF { print $1 }')
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
    fi
    help=$(ptera "${COMP_WORDS[1]}" --help 2>/dev/null)
    case $before in
    --*) # an option whose values are listed: --engine auto|interp|jit|both
        words=$(grep -oE -- "$before [a-z0-9]+(\|[a-z0-9]+)+" <<<"$help" | head -n 1 | cut -d' ' -f2)
        if [ -n "$words" ]; then
            mapfile -t COMPREPLY < <(compgen -W "${words//|/ }" -- "$word")
            return
        fi
        ;;
    esac
    if [[ $word == -* ]]; then
        words=$(grep -oE '(^|[ [])--?[a-z]+' <<<"$help" | tr -d ' [' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
    fi
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _ptera ptera
