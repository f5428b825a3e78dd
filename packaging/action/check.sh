#!/usr/bin/env bash
# Runs `purlin check` over all environments. Findings become annotations, or SARIF if PURLIN_SARIF names a file.
set -uo pipefail

# Both are lists of words, so they are split on purpose.
# shellcheck disable=SC2086
if [ -z "${PURLIN_SARIF:-}" ]; then
    exec "$PURLIN" check $PURLIN_PATHS --diagnostics github $PURLIN_ARGS
fi
# shellcheck disable=SC2086
"$PURLIN" check $PURLIN_PATHS --diagnostics sarif --out "$PURLIN_SARIF" $PURLIN_ARGS
code=$?
# Annotations beside the upload, for those who may not see code scanning. The first run has decided.
# shellcheck disable=SC2086
[ "$code" = 0 ] || "$PURLIN" check $PURLIN_PATHS --diagnostics github $PURLIN_ARGS
exit "$code"
