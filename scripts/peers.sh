#!/bin/sh
# Fetches the programs the tests talk to, by name and version, into the cache. What is there already is kept.
set -eu

peers="${XDG_CACHE_HOME:-$HOME/.cache}/adjutant/peers"

# Google OAuth, Gmail and Calendar on loopback. (The tag `latest` of `emulate` is another, older program.)
google="$peers/google"
emulate=0.12.2
node=24

has() {
    [ -x "$google/node_modules/.bin/node" ] \
        && "$google/node_modules/.bin/node" --version | grep -q "^v$node\." \
        && grep -qs "\"version\": \"$emulate\"" "$google/node_modules/emulate/package.json"
}

if ! has; then
    command -v npm >/dev/null || {
        echo "missing: npm, which fetches the emulator of Google the tests talk to. Debian: apt install npm" >&2
        exit 1
    }
    mkdir -p "$google"
    npm install --prefix "$google" --no-audit --no-fund --loglevel=error "node@$node" "emulate@$emulate"
    has || { echo "the emulator of Google in $google is not whole: remove that folder and run 'make peers' again" >&2; exit 1; }
fi

# The inspector of the Model Context Protocol, which runs on the same node.
mcp="$peers/mcp"
inspector=2.12.0

has_inspector() { grep -qs "\"version\": \"$inspector\"" "$mcp/node_modules/@modelcontextprotocol/inspector/package.json"; }

if ! has_inspector; then
    mkdir -p "$mcp"
    npm install --prefix "$mcp" --no-audit --no-fund --loglevel=error "@modelcontextprotocol/inspector@$inspector"
    has_inspector || { echo "the inspector in $mcp is not whole: remove that folder and run 'make peers' again" >&2; exit 1; }
fi

# A driver for the browser, and the rules by which a page is checked for people with a screen reader or a keyboard.
browser="$peers/browser"
playwright=1.65.1
axe=4.14.1

has_driver() {
    grep -qs "\"version\": \"$playwright\"" "$browser/node_modules/playwright-core/package.json" \
        && grep -qs "\"version\": \"$axe\"" "$browser/node_modules/axe-core/package.json"
}

if ! has_driver; then
    mkdir -p "$browser"
    npm install --prefix "$browser" --no-audit --no-fund --loglevel=error "playwright-core@$playwright" "axe-core@$axe"
    has_driver || { echo "the browser's driver in $browser is not whole: remove that folder and run 'make peers' again" >&2; exit 1; }
fi

# From the distribution: a browser, in which the tests use the page; a terminal that a program can drive; its own SQLite
# client, as old as it is, for people look into their data with it; and the library that shows a process another time.
faketime() {
    ls /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib/faketime/libfaketimeMT.so.1 /usr/lib64/faketime/libfaketimeMT.so.1 2>/dev/null | grep -q .
}
wanted=""
command -v sqlite3 >/dev/null || wanted="$wanted sqlite3"
command -v tmux >/dev/null || wanted="$wanted tmux"
has_browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
has_browser || wanted="$wanted chromium"
faketime || wanted="$wanted faketime"
if [ -n "$wanted" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y --no-install-recommends $wanted >/dev/null \
            || { apt-get update >/dev/null && apt-get install -y --no-install-recommends $wanted >/dev/null; }
    fi
    { command -v sqlite3 >/dev/null && command -v tmux >/dev/null && faketime && has_browser; } || {
        echo "missing:$wanted, which the tests need. Debian: apt install$wanted" >&2
        exit 1
    }
fi
