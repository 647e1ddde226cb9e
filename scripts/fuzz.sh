#!/usr/bin/env bash
# libFuzzer on every target of fuzz/, or on those named:
#
#   scripts/fuzz.sh SECONDS_PER_TARGET [TARGET...]
#   scripts/fuzz.sh --minimise    # the fewest inputs of fuzz/corpus/, at most 320 bytes each, that reach the same code,
#                                 # into fuzz/inputs/, which is part of the project
#
# Stable Rust with the coverage of LLVM's sanitizers; needs a C++ compiler. Seeds and dictionaries are written by the
# project. Inputs that fail are in fuzz/failures/; keep them as tests. A target fails at a panic, after 5 s on one input, or
# above 64 times the longest input and 256 MiB.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?give the seconds of each target}
shift
shortest=320
longest=65536
memory=$((longest * 64 / 1048576 + 256 + 128)) # MiB, with 128 for the program and the corpus

# Build the writer of seeds, and the fuzzer with coverage in a folder of its own
features=${ETENDUE_FUZZ_FEATURES:-}
cargo build --quiet --manifest-path fuzz/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}" --features "$features" --bin mutate
mutate=${CARGO_TARGET_DIR:-target}/debug/mutate
target=fuzz/target/coverage
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1" \
    cargo build --quiet --profile fuzz --manifest-path fuzz/Cargo.toml --target-dir "$target" --target "$host" \
    --features "libfuzzer${features:+,$features}" --bin fuzz
fuzz=$target/$host/fuzz/fuzz
"$mutate" --seeds fuzz/corpus
mkdir -p fuzz/failures

read -ra names <<<"${*:-$("$mutate" --list | tr '\n' ' ')}"

# Minimise the corpus: a set cover of the edges
if [ "$seconds" = --minimise ]; then
    kept=$(mktemp -d)
    trap 'rm -r "$kept"' EXIT
    for name in "${names[@]}"; do
        mkdir "$kept/$name"
        ETENDUE_FUZZ=$name "$fuzz" -set_cover_merge=1 -use_counters=0 -max_len="$shortest" -timeout=5 \
            -rss_limit_mb="$memory" "$kept/$name" "fuzz/corpus/$name" 2>/dev/null
        echo "$name: $(find "$kept/$name" -type f | wc -l) inputs"
    done
    "$mutate" --keep "$kept"
    exit
fi

# Run the targets
failed=()
total=0
for name in "${names[@]}"; do
    log=$(mktemp)
    words=()
    if [ -s "fuzz/corpus/$name.dict" ]; then words=(-dict="fuzz/corpus/$name.dict"); fi
    ETENDUE_FUZZ=$name "$fuzz" "fuzz/corpus/$name" "${words[@]}" -max_total_time="$seconds" \
        -timeout=5 -rss_limit_mb="$memory" -malloc_limit_mb="$memory" -max_len="$longest" \
        -artifact_prefix="fuzz/failures/$name-" -print_final_stats=1 -verbosity=1 2>"$log" || failed+=("$name")
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    echo "$name: ${inputs:-0} inputs, ${peak:-?} MiB"
    total=$((total + ${inputs:-0}))
    grep -E "panicked at|SUMMARY|ERROR" -A1 "$log" | head -6 || true
    rm "$log"
done
echo "$total inputs of ${#names[@]} targets, ${#failed[@]} failed: ${failed[*]:-none}"
[ ${#failed[@]} = 0 ]
