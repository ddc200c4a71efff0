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

# The distribution's own SQLite client, as old as it is: people look into their data with it.
if ! command -v sqlite3 >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y --no-install-recommends sqlite3 >/dev/null \
            || { apt-get update >/dev/null && apt-get install -y --no-install-recommends sqlite3 >/dev/null; }
    fi
    command -v sqlite3 >/dev/null || {
        echo "missing: sqlite3, the client a person looks into their data with. Debian: apt install sqlite3" >&2
        exit 1
    }
fi
