#!/usr/bin/env bash
# Fuzzes each target for some minutes, one after the other, and prints a line for the ledger.
#
#   fuzz/campaign.sh                      all targets, 10 minutes each
#   MINUTES=60 fuzz/campaign.sh frame     one of them, for longer
#
# Wants a nightly toolchain, since AddressSanitizer is not in the stable one, and cargo-fuzz
# (`cargo install cargo-fuzz`).
# What it finds stays in fuzz/artifacts, what it learns in fuzz/target/found.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
minutes=${MINUTES:-10}
built=${CARGO_TARGET_DIR:-$PWD/target}/x86_64-unknown-linux-gnu/release
targets=("$@")
[ $# -gt 0 ] || targets=(frame framing decode session dictionary journal settings rules conversion store proxy tunnel json keys control checkpoint event oms tmp log)
# Comparisons are not traced: the seeds know the words, and loops over bytes would be five times slower.
cargo +nightly fuzz build --debug-assertions --no-trace-compares || exit 1

failed=0
for target in "${targets[@]}"; do
  found=${CARGO_TARGET_DIR:-$PWD/target}/found/$target
  mkdir -p "$found" "artifacts/$target"
  "$built/$target" -max_total_time=$((minutes * 60)) -max_len=4096 -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="artifacts/$target/" "$found" "corpus/$target" > "$found.log" 2>&1
  status=$?
  runs=$(grep -o 'stat::number_of_executed_units: *[0-9]*' "$found.log" | grep -o '[0-9]*$')
  findings=$([ $status -eq 0 ] && echo 0 || echo "1 ($found.log)")
  echo "| $(date +%F) | $target | ${runs:-?} | $minutes | $findings |"
  [ $status -eq 0 ] || failed=1
done
exit $failed
