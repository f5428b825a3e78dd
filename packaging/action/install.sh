#!/usr/bin/env bash
# Downloads a release of Purlin, verifies its checksum, and puts the program into $PURLIN_TO.
# PURLIN_HOME is the address of the repository, PURLIN_VERSION the release.
set -euo pipefail

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-musl ending=tar.gz ;;
    Linux-aarch64) target=aarch64-unknown-linux-musl ending=tar.gz ;;
    Darwin-arm64) target=aarch64-apple-darwin ending=tar.gz ;;
    Darwin-x86_64) target=x86_64-apple-darwin ending=tar.gz ;;
    MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc ending=zip ;;
    *)
        echo "error: there is no release of Purlin for $(uname -sm)" >&2
        exit 1
        ;;
esac
name="purlin-$PURLIN_VERSION-$target"
from="$PURLIN_HOME/releases/download/v$PURLIN_VERSION"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
curl --fail --silent --show-error --location --retry 3 --output "$name.$ending" "$from/$name.$ending"
curl --fail --silent --show-error --location --retry 3 --output SHA256SUMS "$from/SHA256SUMS"
# Exactly this file's line: a list without it is an error, not "nothing to check".
grep -F "  $name.$ending" SHA256SUMS > expected
if command -v sha256sum > /dev/null; then sha256sum --check --quiet expected; else shasum -a 256 --check --quiet expected; fi
if [ "$ending" = zip ]; then unzip -q "$name.zip"; else tar xzf "$name.tar.gz"; fi
mkdir -p "$PURLIN_TO"
cp -R "$name/." "$PURLIN_TO/"
