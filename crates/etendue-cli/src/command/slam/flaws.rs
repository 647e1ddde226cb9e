//! Flaws of scans as text: one line for each kind.

use crate::output::counted;
use etendue::estimate::odometry::{
    DegenerateDirection, DegenerateMotion, ScanFlaw, ScanRange, TrajectoryQuality,
};
use nalgebra::Vector3;

/// Number of ranges of scans that a line lists.
const RANGES: usize = 3;

/// Standard deviation from which nothing is known of an angle, degrees.
const UNKNOWN_DEG: f64 = 180.0;

/// A flaw of one scan.
pub fn of_scan(flaw: &ScanFlaw) -> String {
    format!("{}: {}", kind(flaw), value(flaw))
}

/// A standard deviation of an angle (rad) in degrees.
pub fn angle(sd: f64, decimals: usize) -> String {
    let degrees = sd.to_degrees();
    if degrees < UNKNOWN_DEG {
        format!("{degrees:.decimals$} degrees")
    } else {
        "unknown".into()
    }
}

/// Reasons of a verdict: the scans of each kind of flaw, with the worst.
pub fn reasons(quality: &TrajectoryQuality) -> Vec<String> {
    let mut kinds: Vec<&'static str> = Vec::new();
    for range in &quality.flaws {
        if !kinds.contains(&kind(&range.worst)) {
            kinds.push(kind(&range.worst));
        }
    }
    let line = |name: &&'static str| {
        let own = quality.flaws.iter();
        let own: Vec<_> = own.filter(|range| kind(&range.worst) == *name).collect();
        let worst = own.iter().copied().reduce(|old, new| {
            if new.worst.is_worse_than(&old.worst) {
                new
            } else {
                old
            }
        });
        group(name, &own, worst.map(|range| value(&range.worst)))
    };
    kinds.iter().map(line).collect()
}

/// Degenerate directions within the limits: a line for positions, and one for rotations.
pub fn within_limits(quality: &TrajectoryQuality) -> Vec<String> {
    let beyond = |range: &ScanRange<DegenerateDirection>| {
        let is_flaw = |flaw: &ScanRange<ScanFlaw>| {
            flaw.worst == ScanFlaw::Degenerate(range.worst) && flaw.last == range.last
        };
        quality.flaws.iter().any(is_flaw)
    };
    let within = quality.degenerate.iter().filter(|range| !beyond(range));
    let within: Vec<_> = within.collect();
    let line = |motion: DegenerateMotion| {
        let own = within.iter().copied();
        let own: Vec<_> = own.filter(|range| range.worst.motion == motion).collect();
        let worst = own
            .iter()
            .copied()
            .max_by(|a, b| a.worst.sd.total_cmp(&b.worst.sd))?;
        let flaw = ScanFlaw::Degenerate(worst.worst);
        Some(group(kind(&flaw), &own, Some(value(&flaw))))
    };
    let motions = [DegenerateMotion::Translation, DegenerateMotion::Rotation];
    motions.into_iter().filter_map(line).collect()
}

/// A line about scans with a property.
fn group<T>(name: &str, ranges: &[&ScanRange<T>], worst: Option<String>) -> String {
    // Consecutive scans; a scan can have several
    let mut spans: Vec<[usize; 2]> = Vec::new();
    for range in ranges {
        match spans.last_mut() {
            Some(span) if range.first <= span[1] => span[1] = span[1].max(range.last),
            _ => spans.push([range.first, range.last]),
        }
    }
    let scans: usize = spans.iter().map(|[first, last]| last - first + 1).sum();
    let listed = spans.iter().take(RANGES).map(|[first, last]| {
        if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        }
    });
    let mut places = listed.collect::<Vec<_>>().join(", ");
    if let Some([_, last]) = spans.last().filter(|_| spans.len() > RANGES) {
        places = format!("{places} ... {last}");
    }
    // The worst of several
    let worst = worst.filter(|worst| !worst.is_empty());
    let worst = worst.map(|worst| match scans {
        1 => format!(": {worst}"),
        _ => format!(", at worst {worst}"),
    });
    format!(
        "{name} ({}: {places}){}",
        counted(scans, "scan"),
        worst.unwrap_or_default()
    )
}

/// Name of the kind of a flaw.
fn kind(flaw: &ScanFlaw) -> &'static str {
    match flaw {
        ScanFlaw::FewPoints { .. } => "too few samples on planes",
        ScanFlaw::Overlap(_) => "small overlap",
        ScanFlaw::Residual(_) => "large residual",
        ScanFlaw::NotConverged => "not converged",
        ScanFlaw::Degenerate(direction) => match direction.motion {
            DegenerateMotion::Translation => "position not determined",
            DegenerateMotion::Rotation => "rotation not determined",
        },
        ScanFlaw::Position(_) => "position uncertain since the first scan",
        ScanFlaw::Rotation(_) => "rotation uncertain since the first scan",
        _ => "another flaw",
    }
}

/// Value of a flaw; empty where it has none.
fn value(flaw: &ScanFlaw) -> String {
    match flaw {
        ScanFlaw::FewPoints { samples, needed } => format!("{samples} of {needed}"),
        ScanFlaw::Overlap(share) => format!("{:.0} %", share * 100.0),
        ScanFlaw::Residual(ratio) => format!("{ratio:.1} times the expected one"),
        ScanFlaw::NotConverged => String::new(),
        ScanFlaw::Degenerate(direction) => {
            let [world, lidar] = [direction.in_world, direction.in_lidar].map(axis);
            let deviation = match direction.motion {
                DegenerateMotion::Translation => format!("{:.3} m", direction.sd),
                DegenerateMotion::Rotation => angle(direction.sd, 2),
            };
            format!(
                "standard deviation {deviation}, {world} in the world, {lidar} in the lidar frame"
            )
        }
        ScanFlaw::Position(along) => format!(
            "standard deviation {:.3} m, {} in the world",
            along.sd,
            axis(along.axis)
        ),
        ScanFlaw::Rotation(about) => format!(
            "standard deviation {}, {} in the world",
            angle(about.sd, 2),
            axis(about.axis)
        ),
        other => other.to_string(),
    }
}

/// An axis, without negative zeros.
fn axis(vector: Vector3<f64>) -> String {
    let [x, y, z] = vector.map(|x| (x * 100.0).round() / 100.0 + 0.0).into();
    format!("({x:.2}, {y:.2}, {z:.2})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue::estimate::odometry::{AxisDeviation, TrajectoryVerdict};

    /// Fifty scans with two kinds of flaws are two lines, with the worst of each; an angle of half a turn is unknown.
    #[test]
    fn flaws_of_one_kind_are_one_line() {
        let about = |sd: f64| {
            let axis = Vector3::new(-1e-4, 0.0, 1.0);
            ScanFlaw::Rotation(AxisDeviation { axis, sd })
        };
        let range = |first, last, worst| ScanRange { first, last, worst };
        let mut flaws: Vec<_> = (0..25)
            .map(|n| range(4 * n, 4 * n + 1, ScanFlaw::Overlap(0.3)))
            .collect();
        flaws[7].worst = ScanFlaw::Overlap(0.1);
        flaws.push(range(120, 120, about(5.4e4)));
        let quality = TrajectoryQuality {
            verdict: TrajectoryVerdict::Failed,
            lost: 0,
            flaws,
            degenerate: Vec::new(),
        };
        assert_eq!(
            reasons(&quality),
            [
                "small overlap (50 scans: 0 to 1, 4 to 5, 8 to 9 ... 97), at worst 10 %",
                "rotation uncertain since the first scan (1 scan: 120): standard deviation unknown, \
                 (0.00, 0.00, 1.00) in the world",
            ]
        );
    }
}
