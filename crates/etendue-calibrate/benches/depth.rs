//! Time of the depth loss with its gradient, and of the correction of a scan.
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
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, DepthObjective, DepthUnknowns,
    PolynomialBias, PoseFreedom, RobustLoss, correct_scan,
};
use etendue_estimate::geometry::CellOptions;
use std::time::Instant;

fn main() {
    let noise = Noise {
        bias: [0.004, 0.008],
        range: 0.01,
        ..Noise::default()
    };
    let (scans, poses) = Corridor::new(8, 128, 512).scans(noise);
    let map = DepthMap::build(&scans, &poses, &DepthMapOptions::strict()).unwrap();
    if let Some(path) = std::env::var_os("DEPTH_BENCH") {
        std::fs::write(path, json(&map)).unwrap();
    }
    let model = DepthModel::Polynomial(PolynomialBias::plain([0.002, 0.004]));
    let loss = DepthLoss::MinimumEigenvalue;
    let objective = DepthObjective::new(&map, loss, RobustLoss::None, PoseFreedom::Fixed).unwrap();
    let unknowns = DepthUnknowns {
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
    let call = || objective.gradient(&unknowns);
    println!("loss and gradient: {}", timed(41, call));
    let scan = &Corridor::new(1, 128, 1024).scans(noise).0[0];
    let call = || correct_scan(scan, &model, &CellOptions::default());
    println!("correcting {} points: {}", scan.len(), timed(41, call));
}

/// Median CPU time of a call over all threads, and minimum wall-clock time: the first is comparable on a
/// busy machine, the second only on an idle one.
fn timed<T>(calls: usize, call: impl Fn() -> T) -> String {
    let mut times: Vec<[f64; 2]> = (0..calls)
        .map(|_| {
            let start = Instant::now();
            let cpu_start = cpu_seconds();
            std::hint::black_box(call());
            [cpu_seconds() - cpu_start, start.elapsed().as_secs_f64()]
        })
        .collect();
    let least = times.iter().map(|t| t[1]).fold(f64::INFINITY, f64::min);
    times.sort_by(|a, b| a[0].total_cmp(&b[0]));
    format!(
        "{:.2} ms of CPU time (median), {:.2} ms of wall-clock time (minimum)",
        times[calls / 2][0] * 1e3,
        least * 1e3
    )
}

/// CPU time of all threads of this process from the Linux scheduler, s.
fn cpu_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let run = |thread: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    threads.map(run).sum::<f64>() * 1e-9
}

/// Origins and directions of the beams in the world frame, depths, incidences and neighbourhoods.
fn json(map: &DepthMap) -> String {
    let poses = map.world_from_lidar();
    let row = |m: &etendue_calibrate::depth::DepthMeasurement| {
        let origin = poses[m.pose].translation.vector;
        let ray = poses[m.pose].rotation * m.direction;
        vec![
            origin.x,
            origin.y,
            origin.z,
            ray.x,
            ray.y,
            ray.z,
            m.depth,
            m.incidence,
        ]
    };
    let rows: Vec<Vec<f64>> = map.measurements().iter().map(row).collect();
    serde_json::json!({ "measurements": rows, "neighbourhoods": map.neighbourhoods() }).to_string()
}
