//! Fixed-pattern errors of a standing sensor: deviations of mean ranges from planes.
//!
//! A plane $\mathbf q\cdot\mathbf p = 1$ has the range $r = 1/(\mathbf q\cdot\mathbf u)$ in the direction
//! $\mathbf u$, so that $1/r$ is linear in $\mathbf q$. Each window of columns is fitted with the weight $r^4$ of
//! an error of $r$, robustly, and the errors of the channels are the mean deviations over all windows. Planes and
//! channels are fitted in turn.

use super::moments::{AveragedNoise, TemporalNoise};
use super::recording::StandingRecording;
use etendue_physics::MovingAverage;
use etendue_physics::statistics::{mean, median, root_mean_square};
use nalgebra::{DMatrix, Matrix3, Matrix4, Vector3, Vector4};
use std::ops::AddAssign;

/// Width of a window of a planar scanner and of several channels, rad.
const WINDOWS: [f64; 2] = [0.08, 0.2];

/// Least and greatest number of columns of a window.
const COLUMNS: [usize; 2] = [12, 64];

/// Greatest deviation from a plane of a wall with fixed-pattern errors, m.
const MOST_DEVIATION: f64 = 0.06;

/// Least share of the returns of a window on its plane.
const LEAST_SHARE: f64 = 0.6;

/// Greatest deviation of the directions of a window, relative to the median of the windows: at a corner of walls it is larger.
const MOST_TYPICAL: f64 = 1.4;

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
    /// Difference of their variance and the covariance of neighbours, as measured, m².
    pub roughness: f64,
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
    /// Whether the slope changes little. Fixed-pattern errors change it too: smooth directions alone would have small ones.
    pub is_smooth: bool,
}

impl FixedPatterns {
    /// The fixed patterns in the columns that `keep` selects; `None` without planes. `temporal` is the noise over time.
    pub fn of(
        recording: &StandingRecording,
        temporal: &TemporalNoise,
        keep: impl Fn(&StandingRecording, usize) -> bool,
    ) -> Option<Self> {
        // Fit the planes of each block; sum the products of the deviations.
        let blocks = recording.repeated();
        let mut products = Products::default();
        let (mut variances, mut channels, mut directions) = (Vec::new(), 0, 0);
        for block in blocks {
            let (windows, errors) = fitted_windows(block, |column| keep(block, column));
            let own = Products::of(block, &windows);
            let rest = own.covariances().map_or(0.0, |covariances| covariances[0]);
            variances.extend(channel_variance(&errors, &windows, rest));
            channels = channels.max(errors.iter().filter(|error| **error != 0.0).count());
            directions += windows.iter().flatten().filter(|one| one.on_plane).count();
            products.add(&own);
        }
        if directions == 0 {
            return None;
        }
        // Remove the noise over time that is left in the means.
        let [rest, near @ ..] = products.covariances()?;
        let scans: usize = blocks.iter().map(|block| block.scans).sum();
        let scans = scans as f64 / blocks.len() as f64;
        let most = (rest - temporal.total / scans).max(0.0);
        let average = MovingAverage::of(temporal.neighbour.correlation);
        let of_time = |apart| temporal.neighbour.variance * average.correlation(apart) / scans;
        let near = [1, 2, 3].map(|apart| near[apart - 1] - of_time(apart));
        let beam = AveragedNoise::fit(near, 0.0, most);
        Some(Self {
            roughness: (most - near[0]).max(0.0),
            channel: (!variances.is_empty()).then(|| mean(&variances)),
            beam: AveragedNoise {
                variance: most,
                correlation: beam.correlation * beam.variance / most.max(1e-18),
            },
            directions: directions / blocks.len(),
            channels,
        })
    }
}

/// Sums of the products of the deviations from planes of directions of one channel, 0 to 3 columns apart, in both orders, and their
/// expected values.
///
/// A plane that is fitted to errors with the covariance matrix $\mathsf G$ leaves $\mathsf P\mathsf G\mathsf P$, with the
/// projector $\mathsf P$ onto the complement of the planes. With $\mathsf G = \sum_j \gamma_j\mathsf D_j$, where $\mathsf D_j$ has
/// ones at pairs $j$ columns apart, the expected sum of products is
/// $\sum_j\gamma_j\,\mathrm{tr}(\mathsf D_k\mathsf P\mathsf D_j\mathsf P)$.
#[derive(Clone, Copy, Debug, Default)]
struct Products {
    sums: Vector4<f64>,
    of_unit: Matrix4<f64>,
}

impl Products {
    /// Those of the windows of a recording.
    fn of(recording: &StandingRecording, windows: &[Vec<MeanRange>]) -> Self {
        let mut all = Self::default();
        let mut by_index = vec![None; recording.cells.len()];
        for window in windows {
            // Basis of the ranges of planes, orthonormal
            let used: Vec<&MeanRange> = window.iter().filter(|one| one.on_plane).collect();
            if used.is_empty() {
                continue;
            }
            let slopes = |row: usize, axis| used[row].direction[axis] * used[row].range.powi(2);
            let decomposed = DMatrix::from_fn(used.len(), 3, slopes).svd(true, false);
            let largest = decomposed.singular_values.max();
            let kept = decomposed.singular_values.iter();
            let kept: Vec<usize> = (kept.enumerate())
                .filter(|(_, value)| **value > 1e-4 * largest)
                .map(|(axis, _)| axis)
                .collect();
            let Some(basis) = decomposed.u.map(|u| u.select_columns(&kept)) else {
                continue;
            };
            // Pairs by their distance
            for (number, one) in used.iter().enumerate() {
                by_index[one.index] = Some(number);
            }
            let pairs = |apart: usize| {
                let (used, by_index) = (&used, &by_index);
                (0..used.len()).filter_map(move |first| {
                    let index = used[first].index;
                    let is_inside = index % recording.columns + apart < recording.columns;
                    let second = by_index.get(index + apart).copied().flatten();
                    second.filter(|_| is_inside).map(|second| [first, second])
                })
            };
            all.add(&Self::of_window(&used, &basis, pairs));
            for one in &used {
                by_index[one.index] = None;
            }
        }
        all
    }

    /// Those of a window, with the pairs of directions at each distance.
    fn of_window<P: Iterator<Item = [usize; 2]>>(
        used: &[&MeanRange],
        basis: &DMatrix<f64>,
        pairs: impl Fn(usize) -> P,
    ) -> Self {
        let mut own = Self::default();
        // The matrices D on the basis
        let on_basis: [DMatrix<f64>; 4] = std::array::from_fn(|apart| {
            let mut product = DMatrix::zeros(basis.nrows(), basis.ncols());
            for [first, second] in pairs(apart) {
                let [own, other] = [basis.row(first), basis.row(second)];
                product.row_mut(first).add_assign(other);
                if apart > 0 {
                    product.row_mut(second).add_assign(own);
                }
            }
            product
        });
        let inner: Vec<DMatrix<f64>> = { on_basis.iter() }.map(|one| basis.tr_mul(one)).collect();
        for k in 0..4 {
            // Both orders of a pair
            let orders = if k == 0 { 1.0 } else { 2.0 };
            let deviation = |number: usize| used[number].deviation;
            let products = pairs(k).map(|[a, b]| deviation(a) * deviation(b));
            own.sums[k] = orders * products.sum::<f64>();
            for j in 0..4 {
                let direct = if j == k {
                    orders * pairs(k).count() as f64
                } else {
                    0.0
                };
                let once = on_basis[k].dot(&on_basis[j]);
                own.of_unit[(k, j)] = direct - 2.0 * once + inner[k].dot(&inner[j].transpose());
            }
        }
        own
    }

    /// Adds others.
    fn add(&mut self, others: &Self) {
        self.sums += others.sums;
        self.of_unit += others.of_unit;
    }

    /// Covariances of the errors 0 to 3 columns apart, m²; `None` without enough directions.
    fn covariances(&self) -> Option<[f64; 4]> {
        let solved = self.of_unit.lu().solve(&self.sums)?;
        solved.iter().all(|x| x.is_finite()).then(|| solved.into())
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
    // Deviations at corners are larger than those of planes.
    let deviations = |window: &Vec<MeanRange>| {
        let on_plane = window.iter().filter(|one| one.on_plane);
        root_mean_square(&on_plane.map(|one| one.deviation).collect::<Vec<_>>())
    };
    let mut all: Vec<f64> = windows.iter().map(deviations).collect();
    let typical = median(&mut all).unwrap_or(0.0);
    windows.retain(|window| deviations(window) <= MOST_TYPICAL * typical);
    (windows, channels)
}

/// Mean ranges of the directions in windows of columns of all channels.
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
        if !is_steady || !keep(column) {
            continue;
        }
        windows[column / width].push(MeanRange {
            index,
            channel: index / recording.columns,
            direction: cell.direction,
            range: returned.iter().sum::<f64>() / returned.len() as f64,
            deviation: 0.0,
            on_plane: true,
            is_smooth: cell.slope.is_some(),
        });
    }
    let smooth = |window: &Vec<MeanRange>| window.iter().filter(|one| one.is_smooth).count();
    windows.retain(|window| smooth(window) >= COLUMNS[0]);
    windows
}

/// Fits the plane of a window, robustly, given the errors of the channels; sets the deviations. The smooth directions determine
/// the plane, then all that are on it. Returns the plane $\mathbf q$, if it is determined.
pub(super) fn fit(window: &mut [MeanRange], channels: &[f64]) -> Option<Vector3<f64>> {
    for one in window.iter_mut() {
        one.on_plane = one.is_smooth;
    }
    let mut plane = None;
    let mut near = 0.0;
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
            let size = one.deviation.abs();
            if one.is_smooth || size <= near {
                sizes.push(size);
            }
        }
        let robust = 1.4826 * median(&mut sizes).unwrap_or(0.0);
        let most = (4.0 * robust).clamp(1e-4, MOST_DEVIATION);
        near = most;
        for one in window.iter_mut() {
            one.on_plane = one.deviation.abs() <= most;
        }
    }
    plane
}

/// Whether most smooth directions of a window are on its plane.
fn is_plane(window: &[MeanRange]) -> bool {
    let smooth = window.iter().filter(|one| one.is_smooth);
    let on_plane = smooth.clone().filter(|one| one.on_plane).count() as f64;
    on_plane >= LEAST_SHARE * smooth.count() as f64
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
