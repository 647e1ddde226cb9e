//! Time of the loss with its gradient, and of correcting a scan.
//!
//! ```text
//! RAYON_NUM_THREADS=1 DEPTH_BENCH=map.json cargo bench -p etendue-calibrate --bench depth
//! python benches/depth_torch.py map.json        # from this crate's folder: the same in PyTorch
//! ```

#![allow(
    dead_code,
    unused_imports,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, shares a corridor with the tests, and may fail"
)]

#[path = "../tests/main/corridor.rs"]
mod corridor;

use corridor::{Corridor, Noise};
use etendue_calibrate::depth::features::CellOptions;
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthModel, MapOptions, Objective, Polynomial, PoseFreedom, Robust,
    Unknowns, correct_scan,
};
use std::time::Instant;

fn main() {
    let noise = Noise {
        bias: [0.004, 0.008],
        range: 0.01,
        ..Noise::default()
    };
    let (scans, poses) = Corridor::new(8, 128, 512).scans(noise);
    let map = DepthMap::build(&scans, &poses, &MapOptions::strict()).unwrap();
    if let Some(path) = std::env::var_os("DEPTH_BENCH") {
        std::fs::write(path, json(&map)).unwrap();
    }
    let model = DepthModel::Polynomial(Polynomial::plain([0.002, 0.004]));
    let loss = DepthLoss::MinimumEigenvalue;
    let objective = Objective::new(&map, loss, Robust::None, PoseFreedom::Fixed).unwrap();
    let unknowns = Unknowns {
        model: model.clone(),
        corrections: Vec::new(),
    };
    let members: usize = map.neighbourhoods().iter().map(Vec::len).sum();
    println!(
        "{} threads, {} neighbourhoods of {} members in all, loss {:e}",
        rayon::current_num_threads(),
        map.neighbourhoods().len(),
        members,
        objective.value(&unknowns)
    );
    let seconds = median(21, || objective.gradient(&unknowns));
    println!("loss and gradient: {:.2} ms", seconds * 1e3);
    let scan = &Corridor::new(1, 128, 1024).scans(noise).0[0];
    let seconds = median(21, || correct_scan(scan, &model, &CellOptions::default()));
    println!("correcting {} points: {:.2} ms", scan.len(), seconds * 1e3);
}

/// Median time of a call, s.
fn median<T>(calls: usize, call: impl Fn() -> T) -> f64 {
    let mut times: Vec<f64> = (0..calls)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(call());
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[calls / 2]
}

/// Beams in the world, depths, incidences and neighbourhoods.
fn json(map: &DepthMap) -> String {
    let poses = map.world_from_lidar();
    let row = |m: &etendue_calibrate::depth::Measurement| {
        let (v, r) = (
            poses[m.pose].translation.vector,
            poses[m.pose].rotation * m.direction,
        );
        vec![v.x, v.y, v.z, r.x, r.y, r.z, m.depth, m.incidence]
    };
    let rows: Vec<Vec<f64>> = map.measurements().iter().map(row).collect();
    serde_json::json!({ "measurements": rows, "neighbourhoods": map.neighbourhoods() }).to_string()
}
