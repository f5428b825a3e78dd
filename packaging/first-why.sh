#!/bin/sh
# How long it takes from an empty folder to the first answer of `purlin why`, with each way to install.
#
#   packaging/first-why.sh DIR      DIR holds the packages of this platform (`purlin-dist pack --out DIR`)
#
# Each way gets an empty home folder and prefix. Prints a line for each with its seconds; fails if one fails or takes more
# than 60 s. A way whose installer is not here is said so. Downloads are not part of it: the largest package is 12 MB.
set -eu
packages=$(cd "${1:?usage: first-why.sh DIR}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

one() { # the only file that fits a pattern
  for file in "$packages"/$1; do [ -f "$file" ] && { echo "$file"; return; }; done
  return 1
}

answer() { # asks the program in $1, in an empty folder
  mkdir -p "$HOME/empty" && cd "$HOME/empty"
  "$1" demo shop -- why deploy.api/Deployment/api-api spec.replicas -e production | grep -q 'spec.replicas = 12'
}

by_pip() { python3 -m venv "$HOME/venv" && "$HOME/venv/bin/pip" install -q --no-index "$(one 'purlin-*.whl')" && answer "$HOME/venv/bin/purlin"; }
by_npm() { npm install --silent --offline --no-audit --no-fund --prefix "$HOME/npm" "$(one 'purlin-linux-*.tgz')" "$(one 'purlin-[0-9]*.tgz')" && answer "$HOME/npm/node_modules/.bin/purlin"; }
by_deb() { dpkg-deb -x "$(one 'purlin*.deb')" "$HOME/root" && answer "$HOME/root/usr/bin/purlin"; }
by_archive() { mkdir -p "$HOME/tar" && tar xzf "$(one 'purlin-*.tar.gz')" -C "$HOME/tar" && answer "$(find "$HOME/tar" -name purlin -type f | head -n 1)"; }

try() { # name, program that it needs, function
  if ! command -v "$2" > /dev/null; then
    printf '%-8s not tried: %s is not installed\n' "$1" "$2"
    return
  fi
  home="$work/$1" && mkdir -p "$home"
  begun=$(date +%s%N)
  if (HOME="$home" && export HOME && "$3") > "$work/$1.log" 2>&1; then
    taken=$((($(date +%s%N) - begun) / 1000000))
    printf '%-8s %d.%d s\n' "$1" $((taken / 1000)) $((taken % 1000 / 100))
    [ "$taken" -le 60000 ] || { echo "$1 took more than 60 s"; failed=1; }
  else
    printf '%-8s failed\n' "$1"
    sed 's/^/  /' "$work/$1.log"
    failed=1
  fi
}

try pip python3 by_pip
try npm npm by_npm
try deb dpkg-deb by_deb
try archive tar by_archive
exit "$failed"
