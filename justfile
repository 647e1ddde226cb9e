# Commands of the project: `just` lists them, `just ci` runs everything that has to pass.

set shell := ["bash", "-euo", "pipefail", "-c"]

# Features in all tests, so that nothing is compiled twice.
features := "etendue-cli/gpu,etendue-cli/studio,etendue-io/format-dependencies"

_list:
    @just --list --unsorted

# Everything that has to pass; needs just 1.42 or later. Tests are last, so that their results end the output.
ci: fmt deny programs _compiled-beside-run test

# What mostly compiles, beside what runs compiled programs: neither keeps two cores busy.
[parallel]
_compiled-beside-run: _compiled _run

_compiled: clippy docs features benches formats _tests-compiled

_run: examples commands robust python studio-page

_tests-compiled:
    cargo test --quiet --workspace --features {{ features }} --no-run

# The programs and examples that other recipes run, with the features of the tests.
programs:
    cargo build --quiet --workspace --bins --examples --features {{ features }}

# All tests. Tests on recordings are ignored where ETENDUE_DATA (or ../shared/data) is no folder; tests on a GPU, which may be
# software (Debian: mesa-vulkan-drivers), are skipped without one.
test:
    #!/usr/bin/env bash
    set -euo pipefail
    recordings=
    if [ -d "${ETENDUE_DATA:-../shared/data}" ]; then recordings=--include-ignored; fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cargo test --workspace --features {{ features }} -- $recordings --skip million 2>&1 | tee "$log"
    echo "== skipped"
    grep -E 'skipped: | \.\.\. ignored' "$log" | sort -u || echo none
    echo "== results"
    grep '^test result:' "$log"

# Requirements whose tests take long; `just test` runs them too where there are recordings.
long:
    cargo test --workspace --features {{ features }} -- --ignored long_tests::

# Formatting.
fmt:
    cargo fmt --all --check

# Lints of all targets.
clippy:
    cargo clippy --workspace --all-targets -- -D warnings

# API documentation without warnings.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The optional features compile, with their tests.
features:
    cargo check --workspace --exclude etendue-fuzz --all-targets --all-features

# The benchmark outside the workspace compiles; bench/rays needs Debian's libembree-dev.
benches:
    @if [ -e /usr/include/embree3/rtcore.h ]; then \
        cargo check --target-dir "${CARGO_TARGET_DIR:-target}" --manifest-path bench/rays/Cargo.toml; \
    else \
        echo "skipped: bench/rays needs the Debian package libembree-dev"; \
    fi

# Every numbered example runs.
examples: programs
    #!/usr/bin/env bash
    set -euo pipefail
    for example in crates/etendue/examples/*.rs; do
        "${CARGO_TARGET_DIR:-target}/debug/examples/$(basename "$example" .rs)"
    done

# Every command that README.md and docs/ show, in a reduced form where it is long; the tables of keys in docs/ are those of the schemas, and
# the scans of examples/ those of their commands.
commands: programs
    python3 scripts/example_scans.py
    python3 scripts/keys.py --check
    python3 scripts/shown_commands.py

# Verdicts of `correct train` on simulated drives, compared with the truth; fails if a usable model is worse than none.
coverage-correct drives="20":
    cargo run --release -- experiment verdicts --drives {{ drives }} --stops 24 --columns 256

# Reliability of fits from random starts: the tables of docs/fit.md.
coverage-starts:
    cargo run --release -p etendue-experiments --example starts -- 300 60

# The Python package: a wheel of the dev profile, and its tests in an environment of their own. CPython 3.10 or later, or
# free-threaded CPython 3.14: just python python3.14t
python interpreter="python3": programs
    #!/usr/bin/env bash
    set -euo pipefail
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
    # Build a wheel, with its build tool in one environment, and install it into an empty one.
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work/build"
    "$work/build/bin/pip" install --quiet "maturin>=1.16,<2"
    "$work/build/bin/maturin" build --quiet --locked --profile dev --features as-tests \
        --interpreter {{ interpreter }} --out "$work/wheels"
    {{ interpreter }} -m venv "$work/clean"
    "$work/clean/bin/pip" install --quiet "$(echo "$work"/wheels/*.whl)[test]"
    # Test it, with the command line as the reference.
    "$work/clean/bin/python" -m pytest -q -p no:cacheprovider -rs

# A wheel of the release profile with all optional features, for the glibc of this machine or a later one, and a source
# distribution, both in dist/. With `just wheel python3.14t`, the wheel is for free-threaded CPython.
wheel interpreter="python3": studio-page
    #!/usr/bin/env bash
    set -euo pipefail
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work"
    "$work/bin/pip" install --quiet "maturin>=1.16,<2"
    # The source distribution has only the members of the workspace that the package needs: their versions are those of Cargo.lock,
    # from which offline builds remove the others.
    cargo fetch --locked
    "$work/bin/maturin" build --offline --release --features full --interpreter {{ interpreter }} --sdist --out dist
    # The wheel was built from the source distribution.
    if command -v npm >/dev/null && ! tar -tzf dist/etendue-*.tar.gz | grep 'studio/page/dist/index.html' >/dev/null; then
        echo "the source distribution lacks the page of the studio" >&2
        exit 1
    fi

# The page of the studio, with its types checked; needs Node 20 and npm.
studio-page:
    #!/usr/bin/env bash
    set -euo pipefail
    if ! command -v npm >/dev/null; then
        echo "skipped: the page of the studio needs Node and npm"
        exit
    fi
    cd crates/etendue-studio/page
    npm ci --no-audit --no-fund --loglevel=error
    npm run --silent check
    npm run --silent build

# The program with the command `studio` and its page.
studio: studio-page
    cargo build --release -p etendue-cli --features studio

# Tests of the studio, in a headless Chromium where Node and Chromium are installed.
studio-test: studio-page
    cargo test -p etendue-studio -p etendue-cli --features etendue-cli/studio studio
    cargo test -p etendue-studio

# Tests on the first GPU, which may be software (Debian: mesa-vulkan-drivers); without one they are skipped, and say so.
gpu:
    cargo test -p etendue-gpu -- --include-ignored --skip million

# A million rays per scene on the first GPU, compared with the CPU.
gpu-million:
    cargo test --release -p etendue-gpu --test main million -- --ignored --nocapture

# Licences and advisories of the dependencies, where cargo-deny is installed.
deny:
    @if command -v cargo-deny >/dev/null; then cargo deny check; else echo "skipped: cargo-deny is not installed"; fi

# Tests of the file formats behind features. Only etendue-io is compiled once more: etendue-python, which has no tests of its own
# here, selects the features that all other crates have in `just test`.
formats:
    cargo test -p etendue-io -p etendue-python --config 'profile.dev.package.etendue-io.opt-level=0' \
        --features etendue-io/feather,etendue-io/parquet,etendue-io/exr,etendue-python/as-tests

# Damaged files, absurd numbers and killed runs, in reduced form: docs/validation/robustness.md.
robust: (mutate "20")
    python3 scripts/mutate_numbers.py --sample 60
    python3 scripts/crash.py --rounds 1 --faults kill,full,twice --only simulate

# Seeds and kept inputs of every fuzz target, as they are and changed at random, on any toolchain.
mutate seconds="60": programs
    "${CARGO_TARGET_DIR:-target}/debug/mutate" {{ seconds }}

# All checks of the unsafe code of etendue-simd.
unsafe: miri sanitize neon

# The unsafe code of etendue-simd (AVX2) under Miri; needs the nightly toolchain with its components miri and rust-src. Miri has no
# intrinsics of AVX-512, and not all of NEON.
miri:
    #!/usr/bin/env bash
    set -euo pipefail
    export RUSTFLAGS="-C target-feature=+avx2,+fma,+bmi1,+bmi2,+lzcnt,+popcnt"
    export RUSTDOCFLAGS="$RUSTFLAGS"
    cargo +nightly miri test --target-dir "${CARGO_TARGET_DIR:-target}/miri" -p etendue-simd

# The unsafe code of etendue-simd under the address sanitizer, with every instruction set of this processor.
sanitize:
    #!/usr/bin/env bash
    set -euo pipefail
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address RUSTDOCFLAGS=-Zsanitizer=address
    cargo test --target-dir "${CARGO_TARGET_DIR:-target}/sanitize" --target "$(rustc -vV | sed -n 's/^host: //p')" -p etendue-simd

# The tests of etendue-simd with NEON, in emulation; needs qemu-aarch64-static (Debian: qemu-user-static) and
# `rustup target add aarch64-unknown-linux-musl`.
neon:
    #!/usr/bin/env bash
    set -euo pipefail
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64-static
    cargo test --target-dir "${CARGO_TARGET_DIR:-target}/neon" --target aarch64-unknown-linux-musl -p etendue-simd

# libFuzzer on every target; needs a C++ compiler. Failing inputs are in fuzz/failures/.
fuzz seconds="60" *targets:
    scripts/fuzz.sh {{ seconds }} {{ targets }}

# Every command ended at every kind of bad moment: kill, signals, full disk, closed pipe, the same output twice.
crash rounds="20": programs
    python3 scripts/crash.py --rounds {{ rounds }}

# The sweeps, frames and fixes of a day of streaming, and the memory meanwhile; minutes.
day: programs
    python3 scripts/day.py

# Every number of the examples and presets replaced by NaN, infinity, 0, -1, 1e308 and 1e-308; hours.
mutate-numbers: programs
    python3 scripts/mutate_numbers.py

# Tests with the physics engine; its dependencies take minutes to build.
rapier:
    cargo test -p etendue-sensors --features rapier --test main engine
    cargo test -p etendue-config --features rapier --test main dynamics

# Noise calibration of simulated recordings with known truth, eleven kinds: docs/calibrated-noise.md has the table.
coverage-calibrate recordings="20":
    cargo run --release -p etendue-experiments --example coverage_calibrate -- {{ recordings }} --reasons

# Errors of slam in its stated standard deviations, over simulated drives: docs/slam.md has the table.
coverage-slam seeds="20":
    cargo build --release -p etendue-cli
    python3 scripts/slam_coverage.py --etendue target/release/etendue --seeds {{ seeds }}

# Speed of the library (criterion).
bench:
    cargo bench -p etendue --bench sweeps

# Ray casting compared with Embree, obvhs and parry3d; needs Debian's libembree-dev.
bench-rays:
    cd bench/rays && cargo run --release -- 5

# Rays and sweeps per second on a GPU (gpu, gpu:N) beside the CPU.
bench-gpu rounds="5" device="gpu" *scenes:
    cargo bench -p etendue-gpu --bench gpu_speed -- {{ rounds }} {{ device }} {{ scenes }}

# Whole sweeps of spinning lidars: CPU time of one thread.
bench-sweeps:
    cd bench/sweeps && cargo run --release -- 3 1

# Coverage of the stated uncertainty of fits, written to docs/validation/coverage.md; tens of CPU minutes.
coverage scans="200":
    cargo run --release -p etendue-experiments --example coverage -- {{ scans }} docs/validation/coverage.md

# Values written by two builds of the program, compared column by column.
compare-outputs old new:
    python3 scripts/compare_outputs.py {{ old }} {{ new }}

# Draws the pictures of the README and of docs/ again.
pictures:
    cargo run --release -- simulate -o docs/arena.png
    cargo run --release --example 03_rebuild_a_recording -- "${ETENDUE_DATA:-../shared/data}/urg04lx_tinyslam/exp1.dat" out/rebuilt
    cargo run --release -- simulate out/rebuilt/scene.toml --sweeps 20 -o out/rebuilt/still-beams.csv
    cargo run --release -- inspect "${ETENDUE_DATA:-../shared/data}/urg04lx_tinyslam/exp1.dat" out/rebuilt/still-beams.csv --chart docs/validation/urg-04lx-spread.png
