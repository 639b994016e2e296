# shellcheck shell=bash
# Sourced by the scripts that ask apt for a package.

# ask_apt FILE COMMAND...: prints COMMAND's answer and remembers it in FILE. COMMAND runs again only after apt's
# lists, sources or preferences changed; an empty answer is not remembered.
ask_apt() {
    local state answer
    # Missing files are no error: machines differ in how they list sources.
    state=$(stat -c '%n %y' /var/lib/apt/lists /etc/apt/sources.list /etc/apt/sources.list.d/* \
        /etc/apt/preferences /etc/apt/preferences.d/* 2>/dev/null | sha256sum | cut -d ' ' -f 1) || true
    if [[ -f $1 && "$(head -n 1 "$1")" == "$state" ]]; then
        tail -n +2 "$1"
        return
    fi
    answer=$("${@:2}") || true
    [[ -n $answer ]] || return 0
    mkdir -p "${1%/*}"
    printf '%s\n' "$state" "$answer" >"$1"
    printf '%s\n' "$answer"
}
