#!/usr/bin/env bash
# Run the given targets of the Makefile one after the other, all of them whatever they find: tools/check.sh TARGET…
# Ends with a line for each; exit status 1 if one failed.
set -uo pipefail

failed=0
summary=""
for target in "$@"; do
  echo "=== $target ==="
  start=$SECONDS
  if make --no-print-directory "$target"; then
    outcome=clean
  else
    outcome=FAILED
    failed=1
  fi
  summary+=$(printf '%-14s %-7s %5d s' "$target" "$outcome" $((SECONDS - start)))$'\n'
done
printf '\n%s' "$summary"
exit $failed
