//! Verdict on a trajectory, from the quality of its scans.

use super::quality::{DegenerateDirection, ScanFlaw, ScanQuality, ScanVerdict};
use std::fmt;
use std::mem::discriminant;

/// Verdict on a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrajectoryVerdict {
    /// Every scan is good.
    Good,
    /// A scan is doubtful or lost.
    Doubtful,
    /// [`LOST_RUN`] scans in a row, or a share of [`LOST_SHARE`], are lost.
    Failed,
}

/// Number of lost scans in a row from which a trajectory has failed.
pub const LOST_RUN: usize = 5;

/// Share of lost scans from which a trajectory has failed.
pub const LOST_SHARE: f64 = 0.2;

/// Assessment of a trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryQuality {
    /// Verdict.
    pub verdict: TrajectoryVerdict,
    /// Number of lost scans.
    pub lost: usize,
    /// Reasons of a verdict other than good, in the order of the scans.
    pub flaws: Vec<ScanRange<ScanFlaw>>,
    /// Degenerate directions, also those within the limits.
    pub degenerate: Vec<ScanRange<DegenerateDirection>>,
}

/// Consecutive scans with a common property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanRange<T> {
    /// First scan, from zero.
    pub first: usize,
    /// Last scan.
    pub last: usize,
    /// The property of the scan where it is largest.
    pub worst: T,
}

impl TrajectoryQuality {
    /// Assesses the scans of a trajectory.
    pub fn of(scans: &[ScanQuality]) -> Self {
        // Lost scans
        let is_lost = |scan: &ScanQuality| scan.verdict == ScanVerdict::Lost;
        let lost = scans.iter().filter(|scan| is_lost(scan)).count();
        let runs = scans.split(|scan| !is_lost(scan)).map(<[ScanQuality]>::len);
        let longest = runs.max().unwrap_or(0);
        let failed = longest >= LOST_RUN || lost as f64 >= LOST_SHARE * scans.len() as f64;
        // Verdict
        let worst = scans.iter().map(|scan| scan.verdict).max();
        let verdict = match worst {
            None => TrajectoryVerdict::Failed,
            Some(ScanVerdict::Lost) if failed => TrajectoryVerdict::Failed,
            Some(ScanVerdict::Good) => TrajectoryVerdict::Good,
            Some(_) => TrajectoryVerdict::Doubtful,
        };
        Self {
            verdict,
            lost,
            flaws: ranges(
                scans,
                |scan| &scan.flaws,
                same_flaw,
                ScanFlaw::is_worse_than,
            ),
            degenerate: ranges(
                scans,
                |scan| &scan.degenerate,
                same_direction,
                |new, old| new.sd > old.sd,
            ),
        }
    }
}

/// Ranges of consecutive scans with the same property.
fn ranges<T: Copy>(
    scans: &[ScanQuality],
    of_scan: impl Fn(&ScanQuality) -> &[T],
    is_same: impl Fn(&T, &T) -> bool,
    is_worse: impl Fn(&T, &T) -> bool,
) -> Vec<ScanRange<T>> {
    let mut ranges: Vec<ScanRange<T>> = Vec::new();
    for (number, scan) in scans.iter().enumerate() {
        for property in of_scan(scan) {
            let continued = |range: &&mut ScanRange<T>| {
                range.last + 1 == number && is_same(&range.worst, property)
            };
            match ranges.iter_mut().find(continued) {
                Some(range) => {
                    range.last = number;
                    if is_worse(property, &range.worst) {
                        range.worst = *property;
                    }
                }
                None => ranges.push(ScanRange {
                    first: number,
                    last: number,
                    worst: *property,
                }),
            }
        }
    }
    ranges
}

/// Whether two flaws have the same kind and, if they have one, direction.
fn same_flaw(a: &ScanFlaw, b: &ScanFlaw) -> bool {
    match (a, b) {
        (ScanFlaw::Degenerate(a), ScanFlaw::Degenerate(b)) => same_direction(a, b),
        _ => discriminant(a) == discriminant(b),
    }
}

/// Smallest cosine of the angle between directions that count as the same.
const SAME_DIRECTION: f64 = 0.7;

/// Whether two directions are of the same kind and nearly parallel.
fn same_direction(a: &DegenerateDirection, b: &DegenerateDirection) -> bool {
    a.motion == b.motion && a.in_lidar.dot(&b.in_lidar).abs() > SAME_DIRECTION
}

impl fmt::Display for TrajectoryVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Failed => "failed",
        })
    }
}

impl<T: fmt::Display> fmt::Display for ScanRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "scan {}: {}", self.first, self.worst)
        } else {
            let count = self.last - self.first + 1;
            let [first, last] = [self.first, self.last];
            write!(
                f,
                "scans {first} to {last} ({count}), at worst: {}",
                self.worst
            )
        }
    }
}
