# What continuous integration runs, by hand: `just ci`, or one of its parts.

# Everything that has to pass.
ci: test fmt clippy docs examples

# All tests, those on recordings where ETENDUE_DATA has them.
test:
    cargo test --workspace

# The physics engine and its tests: not part of `ci`, for its dependencies take minutes to build.
rapier:
    cargo test -p etendue-sensors --features rapier --test main engine
    cargo test -p etendue-config --features rapier --test main dynamics

fmt:
    cargo fmt --all --check

clippy:
    cargo clippy --workspace --all-targets -- -D warnings

docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Every numbered example has to run.
examples:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet --workspace --examples
    for example in crates/etendue/examples/*.rs; do
        "${CARGO_TARGET_DIR:-target}/debug/examples/$(basename "$example" .rs)"
    done

# Licences and advisories of the dependencies: needs `cargo install cargo-deny`.
deny:
    cargo deny check

bench:
    cargo bench -p etendue --bench sweeps

# Draws the pictures of the README and of docs/ anew.
pictures:
    cargo run --release -- simulate -o docs/arena.png
    cargo run --release --example 03_rebuild_a_recording -- "${ETENDUE_DATA:-../shared/data}/urg04lx_tinyslam/exp1.dat" out/rebuilt
    cargo run --release -- simulate out/rebuilt/scene.toml --sweeps 20 -o out/rebuilt/still.csv
    cargo run --release -- inspect "${ETENDUE_DATA:-../shared/data}/urg04lx_tinyslam/exp1.dat" out/rebuilt/still.csv --chart docs/urg-04lx-spread.png

# Our ray caster beside Embree, obvhs and parry3d: needs Debian's libembree-dev.
bench-rays:
    cd bench/rays && cargo run --release -- 5

# Whole sweeps of scanning lidars: processor time, with one thread.
bench-sweeps:
    cd bench/sweeps && cargo run --release -- 3 1
