//! Regions of directions in which every scan of a pattern has beams, whether its directions repeat or not.

use crate::noise::recording::{BeamSample, DirectionCell, PanelRecording, angles};
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::statistics::median;
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;

/// Widths of the regions, rad: the least one is used whose median region has [`BEAMS`] beams per scan.
const WIDTHS: [f64; 5] = [
    0.5_f64.to_radians(),
    1.0_f64.to_radians(),
    2.0_f64.to_radians(),
    4.0_f64.to_radians(),
    8.0_f64.to_radians(),
];

/// Beams of a region in a scan.
const BEAMS: usize = 8;

/// Least number of returns of a region in a scan for a plane, which has three unknowns.
const LEAST_RETURNS: usize = 5;

/// Noise of a region relative to the median of all regions, above which it contains an edge.
const EDGE: f64 = 3.0;

/// Greatest noise relative to the range that is no edge in any case.
const FLAT: f64 = 0.01;

/// Relative singular value below which offsets do not determine a slope.
const SINGULAR: f64 = 1e-6;

/// Beams of neighbouring directions before a smooth surface, with the noise of one range.
pub(super) struct Region {
    /// The beams, with ranges corrected to the middle by the slope of the plane through them.
    pub cell: DirectionCell,
    /// Standard deviation of a range from a plane within one scan, m, the median of all scans: motion between scans does not
    /// increase it. Zero if no scan has enough returns.
    pub noise: f64,
}

/// Angles from the middle of a region, in widths of it, with the range (m).
struct Offset {
    from_middle: [f64; 2],
    range: f64,
}

/// The plane $1/r = q_0 + q_1 a + q_2 e$ over offsets of azimuth $a$ and elevation $e$.
struct Plane {
    inverse: Vector3<f64>,
    /// Number of determined unknowns.
    rank: usize,
}

/// The regions of a recording without those that contain an edge.
pub(super) fn regions(recording: &PanelRecording) -> Vec<Region> {
    let regions: Vec<Region> = groups(recording).iter().filter_map(region).collect();
    let mut noises: Vec<f64> = regions.iter().map(|region| region.noise).collect();
    let typical = median(&mut noises).unwrap_or(0.0);
    let is_smooth = |region: &Region| {
        let flat = FLAT * region.cell.median().unwrap_or(0.0);
        region.noise < (EDGE * typical).max(flat)
    };
    regions.into_iter().filter(is_smooth).collect()
}

/// A bin of azimuth and elevation with its directions.
struct Group<'a> {
    width: f64,
    cells: Vec<&'a DirectionCell>,
}

/// The directions in bins of the least width that contains enough beams per scan.
fn groups(recording: &PanelRecording) -> Vec<Group<'_>> {
    let mut found = Vec::new();
    for width in WIDTHS {
        found = bins(recording, width);
        let mut beams: Vec<f64> = found.iter().map(Group::beams).collect();
        let enough = (BEAMS * recording.scans) as f64;
        if median(&mut beams).is_some_and(|beams| beams >= enough) {
            break;
        }
    }
    found
}

/// The directions in bins of a width, rad. The azimuths are divided so that the bins are about square.
fn bins(recording: &PanelRecording, width: f64) -> Vec<Group<'_>> {
    #[expect(clippy::cast_possible_truncation, reason = "a sphere has few bins")]
    let bin = |cell: &DirectionCell| {
        let [azimuth, elevation] = angles(&cell.direction);
        let row = (elevation / width).floor();
        let level = ((row + 0.5) * width).cos().max(0.01);
        [row as i64, (azimuth * level / width).floor() as i64]
    };
    let mut bins: BTreeMap<[i64; 2], Vec<&DirectionCell>> = BTreeMap::new();
    for cell in &recording.cells {
        bins.entry(bin(cell)).or_default().push(cell);
    }
    let group = |cells| Group { width, cells };
    bins.into_values().map(group).collect()
}

impl Group<'_> {
    /// Number of beams.
    fn beams(&self) -> f64 {
        let beams = self.cells.iter().map(|cell| cell.samples.len());
        beams.sum::<usize>() as f64
    }
}

/// The region of a group; `None` without returns.
fn region(group: &Group) -> Option<Region> {
    // Collect the beams, scan by scan, with their offsets from the mean direction.
    let sum: Vector3<f64> = group.cells.iter().map(|cell| cell.direction).sum();
    let direction = sum.try_normalize(1e-9)?;
    let mut beams: Vec<(BeamSample, Option<Offset>)> = Vec::new();
    for cell in &group.cells {
        for sample in &cell.samples {
            beams.push((*sample, offset(cell, sample, &direction, group.width)));
        }
    }
    beams.sort_by_key(|(sample, _)| sample.scan);

    // Measure the noise within single scans: an edge that passes increases that of few scans.
    let mut variances = Vec::new();
    for scan in beams.chunk_by(|(a, _), (b, _)| a.scan == b.scan) {
        let returns: Vec<&Offset> = scan.iter().filter_map(|(_, of)| of.as_ref()).collect();
        if returns.len() >= LEAST_RETURNS {
            let plane = Plane::through(&returns)?;
            let deviation = |one: &&Offset| one.range - 1.0 / plane.inverse_range(one);
            let squares: f64 = returns.iter().map(|one| deviation(one).powi(2)).sum();
            variances.push(squares / (returns.len() - plane.rank) as f64);
        }
    }

    // Correct the ranges to the middle of the region.
    let returns: Vec<&Offset> = beams.iter().filter_map(|(_, of)| of.as_ref()).collect();
    let plane = Plane::through(&returns)?;
    let corrected = |(sample, offset): &(BeamSample, Option<Offset>)| {
        let range = offset.as_ref().map(|one| {
            let relative = plane.inverse_range(one) / plane.inverse.x;
            one.range * relative.clamp(0.5, 2.0)
        });
        BeamSample { range, ..*sample }
    };
    let samples = beams.iter().map(corrected).collect();
    Some(Region {
        cell: DirectionCell { direction, samples },
        noise: median(&mut variances).unwrap_or(0.0).sqrt(),
    })
}

/// Offset of a return from a direction; `None` without a return.
fn offset(
    cell: &DirectionCell,
    sample: &BeamSample,
    middle: &Vector3<f64>,
    width: f64,
) -> Option<Offset> {
    let range = sample.range?;
    let [azimuth, elevation] = angles(&cell.direction_of(sample));
    let [of_azimuth, of_elevation] = angles(middle);
    let from_middle = [
        wrap_to_pi(azimuth - of_azimuth) * of_elevation.cos() / width,
        (elevation - of_elevation) / width,
    ];
    Some(Offset { from_middle, range })
}

impl Offset {
    fn row(&self) -> Vector3<f64> {
        let [azimuth, elevation] = self.from_middle;
        Vector3::new(1.0, azimuth, elevation)
    }
}

impl Plane {
    /// By least squares; slopes that the offsets do not determine are zero.
    fn through(returns: &[&Offset]) -> Option<Self> {
        let mut matrix = Matrix3::zeros();
        let mut right = Vector3::zeros();
        for one in returns {
            let row = one.row();
            matrix += row * row.transpose();
            right += row / one.range;
        }
        let least = SINGULAR * matrix.trace();
        let decomposed = matrix.svd(true, true);
        let inverse = decomposed.solve(&right, least).ok()?;
        (inverse.x > 0.0).then(|| Self {
            inverse,
            rank: decomposed.rank(least),
        })
    }

    /// Inverse of the range at an offset, 1/m.
    fn inverse_range(&self, one: &Offset) -> f64 {
        // A plane behind the sensor has no range there.
        self.inverse.dot(&one.row()).max(0.1 * self.inverse.x)
    }
}
