#!/usr/bin/env bash
# Posts what a pull request changes in the resolved configuration as one comment, and updates that comment later.
# Nothing is posted where nothing changes and no comment is there.
#   BASE: the commit to compare with; NUMBER: the pull request; GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_TOKEN: as in a workflow
set -euo pipefail

mark='<!-- purlin -->'
api="${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY"

git cat-file -e "$BASE^{commit}" 2> /dev/null || git fetch --quiet --depth=1 origin "$BASE"
code=0
body="$("$PURLIN" diff --rev "$BASE" -o markdown 2> purlin-diff.err)" || code=$?
case "$code" in
    0) changed=false body="The resolved configuration does not change." ;;
    1) changed=true ;;
    *)
        changed=unknown
        body="The configuration could not be compared with \`$BASE\` (exit code $code):

\`\`\`
$(head -c 20000 purlin-diff.err)
\`\`\`"
        ;;
esac
echo "changed=$changed" >> "${GITHUB_OUTPUT:-/dev/null}"

request() {
    curl --fail --silent --show-error --header "Authorization: Bearer $GITHUB_TOKEN" \
        --header "Accept: application/vnd.github+json" "$@"
}
# A comment has at most 65,536 characters.
payload="$(printf '%s\n%s' "$mark" "$body" | head -c 60000 | python3 -c 'import json,sys; print(json.dumps({"body": sys.stdin.buffer.read().decode("utf-8", "ignore")}))')"
own="$(request "$api/issues/$NUMBER/comments?per_page=100" |
    python3 -c 'import json,sys; print(next((c["id"] for c in json.load(sys.stdin) if c["body"].startswith(sys.argv[1])), ""))' "$mark")"
if [ -n "$own" ]; then
    request --request PATCH --data "$payload" "$api/issues/comments/$own" > /dev/null
elif [ "$changed" != false ]; then
    request --data "$payload" "$api/issues/$NUMBER/comments" > /dev/null
fi
exit "$([ "$changed" = unknown ] && echo "$code" || echo 0)"
