//! Fixed-pattern errors of a standing sensor: deviations of mean ranges from planes.
//!
//! A plane $\mathbf q\cdot\mathbf p = 1$ has the range $r = 1/(\mathbf q\cdot\mathbf u)$ in the direction
//! $\mathbf u$, so that $1/r$ is linear in $\mathbf q$. Each window of columns is fitted with the weight $r^4$ of
//! an error of $r$, robustly, and the errors of the channels are the mean deviations over all windows. Planes and
//! channels are fitted in turn.

use super::moments::AveragedNoise;
use super::recording::StandingRecording;
use etendue_physics::statistics::median;
use nalgebra::{Matrix3, Vector3};

/// Width of a window of a planar scanner and of several channels, rad.
const WINDOWS: [f64; 2] = [0.08, 0.2];

/// Least and greatest number of columns of a window.
const COLUMNS: [usize; 2] = [12, 64];

/// Greatest deviation from a plane of a wall with fixed-pattern errors, m.
const MOST_DEVIATION: f64 = 0.06;

/// Least share of the returns of a window on its plane.
const LEAST_SHARE: f64 = 0.6;

/// Rounds of fitting planes and channels in turn.
const ROUNDS: usize = 12;

/// Least number of channels for the fixed pattern of channels.
const LEAST_CHANNELS: usize = 4;

/// Fixed-pattern errors, as variances.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedPatterns {
    /// Variance of the errors of the channels, m²; `None` with fewer than four channels.
    pub channel: Option<f64>,
    /// Errors of the beams.
    pub beam: AveragedNoise,
    /// Number of directions on planes.
    pub directions: usize,
    /// Number of channels on planes.
    pub channels: usize,
}

/// Mean range of a direction on a plane.
#[derive(Clone, Copy)]
pub(super) struct MeanRange {
    pub index: usize,
    pub channel: usize,
    pub direction: Vector3<f64>,
    /// Mean range, m.
    pub range: f64,
    /// Deviation from the plane, m.
    pub deviation: f64,
    pub on_plane: bool,
}

impl FixedPatterns {
    /// The fixed patterns in the columns that `keep` selects; `None` without planes. `temporal` is the variance
    /// of a range over time, m².
    pub fn of(
        recording: &StandingRecording,
        temporal: f64,
        keep: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let (windows, channels) = fitted_windows(recording, keep);
        let ranges = || windows.iter().flatten().filter(|one| one.on_plane);
        let directions = ranges().count();
        if directions == 0 {
            return None;
        }
        // Variance of the remaining deviations, with the degrees of freedom of planes and channels.
        let unknowns = if recording.channels > 1 { 3 } else { 2 };
        let used = windows.len() * unknowns + recording.channels;
        let freedom = directions.saturating_sub(used).max(1) as f64;
        let rest = ranges().map(|one| one.deviation.powi(2)).sum::<f64>() / freedom;
        let of_time = temporal / recording.scans as f64;
        let most = (rest - of_time).max(0.0);
        let beam = AveragedNoise::fit(covariances(recording, &windows), 0.0, most);
        Some(Self {
            channel: channel_variance(&channels, &windows, rest),
            beam: AveragedNoise {
                variance: most,
                correlation: beam.correlation * beam.variance / most.max(1e-18),
            },
            directions,
            channels: channels.iter().filter(|error| **error != 0.0).count(),
        })
    }
}

/// The windows of columns whose directions are on a plane, fitted in turn with the errors of the channels (m).
pub(super) fn fitted_windows(
    recording: &StandingRecording,
    keep: impl Fn(usize) -> bool,
) -> (Vec<Vec<MeanRange>>, Vec<f64>) {
    let mut windows = windows(recording, keep);
    let mut channels = vec![0.0; recording.channels];
    for _ in 0..ROUNDS {
        for window in &mut windows {
            fit(window, &channels);
        }
        if recording.channels >= LEAST_CHANNELS {
            update(&mut channels, &windows);
        }
    }
    windows.retain(|window| is_plane(window));
    (windows, channels)
}

/// Mean ranges of the smooth directions in windows of columns of all channels.
fn windows(recording: &StandingRecording, keep: impl Fn(usize) -> bool) -> Vec<Vec<MeanRange>> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of columns"
    )]
    let width = {
        let window = WINDOWS[usize::from(recording.channels > 1)];
        ((window / recording.step) as usize).clamp(COLUMNS[0], COLUMNS[1])
    };
    let mut windows = vec![Vec::new(); recording.columns.div_ceil(width)];
    for (index, cell) in recording.cells.iter().enumerate() {
        let column = index % recording.columns;
        let returned: Vec<f64> = cell.ranges.iter().flatten().copied().collect();
        let is_steady = 5 * returned.len() >= 4 * recording.scans;
        if cell.slope.is_none() || !is_steady || !keep(column) {
            continue;
        }
        windows[column / width].push(MeanRange {
            index,
            channel: index / recording.columns,
            direction: cell.direction,
            range: returned.iter().sum::<f64>() / returned.len() as f64,
            deviation: 0.0,
            on_plane: true,
        });
    }
    windows.retain(|window| window.len() >= COLUMNS[0]);
    windows
}

/// Fits the plane of a window, robustly, given the errors of the channels; sets the deviations. Returns the plane
/// $\mathbf q$, if it is determined.
pub(super) fn fit(window: &mut [MeanRange], channels: &[f64]) -> Option<Vector3<f64>> {
    for one in window.iter_mut() {
        one.on_plane = true;
    }
    let mut plane = None;
    for _ in 0..4 {
        // Solve the normal equations of 1/r = q . u.
        let mut normal = Matrix3::zeros();
        let mut right = Vector3::zeros();
        for one in window.iter().filter(|one| one.on_plane) {
            let range = one.range - channels[one.channel];
            let weight = range.powi(4);
            normal += one.direction * one.direction.transpose() * weight;
            right += one.direction * (weight / range);
        }
        let own = normal.pseudo_inverse(1e-9 * normal.trace()).ok()? * right;
        plane = Some(own);
        // Keep the directions on the plane.
        let mut sizes = Vec::with_capacity(window.len());
        for one in window.iter_mut() {
            let expected = 1.0 / own.dot(&one.direction);
            one.deviation = one.range - channels[one.channel] - expected;
            sizes.push(one.deviation.abs());
        }
        let robust = 1.4826 * median(&mut sizes).unwrap_or(0.0);
        let most = (3.5 * robust).clamp(1e-4, MOST_DEVIATION);
        for one in window.iter_mut() {
            one.on_plane = one.deviation.abs() <= most;
        }
    }
    plane
}

/// Whether most directions of a window are on its plane.
fn is_plane(window: &[MeanRange]) -> bool {
    let on_plane = window.iter().filter(|one| one.on_plane).count() as f64;
    on_plane >= LEAST_SHARE * window.len() as f64
}

/// Adds the mean deviation of each channel to its error; the mean of all errors stays zero.
fn update(channels: &mut [f64], windows: &[Vec<MeanRange>]) {
    let mut sums = vec![[0.0; 2]; channels.len()];
    let planes = windows.iter().filter(|window| is_plane(window));
    for one in planes.flatten().filter(|one| one.on_plane) {
        sums[one.channel][0] += one.deviation;
        sums[one.channel][1] += 1.0;
    }
    let measured: Vec<usize> = (0..channels.len()).filter(|c| sums[*c][1] > 0.0).collect();
    for &channel in &measured {
        let [sum, count] = sums[channel];
        channels[channel] += sum / count;
    }
    let mean = measured.iter().map(|c| channels[*c]).sum::<f64>() / measured.len().max(1) as f64;
    for &channel in &measured {
        channels[channel] -= mean;
    }
}

/// Variance of the errors of the channels, without that of their estimates, m². `rest` is the variance of a
/// remaining deviation, m².
fn channel_variance(channels: &[f64], windows: &[Vec<MeanRange>], rest: f64) -> Option<f64> {
    let mut counts = vec![0_u32; channels.len()];
    for one in windows.iter().flatten().filter(|one| one.on_plane) {
        counts[one.channel] += 1;
    }
    let measured: Vec<usize> = (0..channels.len()).filter(|c| counts[*c] > 0).collect();
    if measured.len() < LEAST_CHANNELS {
        return None;
    }
    let freedom = measured.len() as f64 - 1.0;
    let squares: f64 = measured.iter().map(|c| channels[*c].powi(2)).sum();
    let noise: f64 = measured.iter().map(|c| rest / f64::from(counts[*c])).sum();
    Some(((squares - noise) / freedom).max(0.0))
}

/// Mean products of the deviations of directions of one channel, one to three columns apart, m².
fn covariances(recording: &StandingRecording, windows: &[Vec<MeanRange>]) -> [f64; 3] {
    let mut by_index = vec![None; recording.cells.len()];
    for one in windows.iter().flatten().filter(|one| one.on_plane) {
        by_index[one.index] = Some(one.deviation);
    }
    [1, 2, 3].map(|apart| {
        let later = by_index.get(apart..).unwrap_or_default();
        let pairs = by_index.iter().zip(later);
        let within = pairs
            .enumerate()
            .filter(|(index, _)| index % recording.columns + apart < recording.columns);
        let products = within.filter_map(|(_, (a, b))| Some((*a)? * (*b)?));
        let (sum, count) = products.fold((0.0, 0_u32), |(sum, count), one| (sum + one, count + 1));
        sum / f64::from(count.max(1))
    })
}
