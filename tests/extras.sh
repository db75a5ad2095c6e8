#!/usr/bin/env bash
# Install what some tests need and most users do not: fairseq, MAUVE and Chromium. Run by `make test`.
# Whatever cannot be installed here is one line with the reason. It is no error: its tests are skipped.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT

reason() { # of a failed installation: the last line of its output that is an error, or else the last line
    { grep -iE '^ *(error|e):' "$log" || cat "$log"; } | tail -n 1
}

for name in fairseq mauve; do
    if textcritic install "$name" >"$log" 2>&1; then
        tail -n 1 "$log"
    else
        echo "no $name, its tests are skipped: $(reason)"
    fi
done

install_chromium() {
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        echo "no Chromium, its tests are skipped: root and apt-get can install it here; install your system's own package"
    elif ! { apt-get update -q && apt-get install -y -q chromium; } >"$log" 2>&1; then
        echo "no Chromium, its tests are skipped: $(reason)"
    fi
}

command -v chromium || command -v chromium-browser || install_chromium
