//! Comparison of two scans beam by beam: ranges, intensities and drop-outs.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Return of a scan in sensor coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamReturn {
    /// Ring of the beam, or any other number that identifies its elevation in both scans.
    pub ring: i64,
    /// Azimuth of the beam, rad.
    pub azimuth: f64,
    /// Range, m.
    pub range: f64,
    /// Intensity, counts, if known.
    pub intensity: Option<f64>,
    /// Angle of incidence at the surface, rad, if known.
    pub incidence: Option<f64>,
}

/// Statistics of the differences of a quantity between two scans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorStatistics {
    /// Number of pairs.
    pub count: usize,
    /// Mean of the second minus the first.
    pub mean: f64,
    /// Root mean square of the differences.
    pub root_mean_square: f64,
    /// Median of the absolute differences.
    pub median_absolute: f64,
}

/// Agreement of the cells without returns of two scans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropOuts {
    /// Number of cells without a return in the first scan.
    pub first: usize,
    /// Number of cells without a return in the second scan.
    pub second: usize,
    /// Number of cells without a return in both scans.
    pub both: usize,
    /// Fraction of the drop-outs of the second scan that are drop-outs of the first; `None` without any.
    pub precision: Option<f64>,
    /// Fraction of the drop-outs of the first scan that are drop-outs of the second; `None` without any.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall; `None` without one of them.
    pub f1: Option<f64>,
}

/// Errors of the cells in an interval of range or of angle of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSpan {
    /// Lower bound, m or rad.
    pub from: f64,
    /// Upper bound, m or rad.
    pub to: f64,
    /// Errors of the range, m; `None` where no cell has returns in both scans.
    pub range: Option<ErrorStatistics>,
    /// Errors of the intensity, counts; `None` where it is not known in both scans.
    pub intensity: Option<ErrorStatistics>,
    /// Fraction of the cells in which the other scan has no return.
    pub missed: f64,
}

/// Comparison of two scans in cells of one ring and an interval of azimuth.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamComparison {
    /// Number of cells.
    pub cells: usize,
    /// Errors of the range, m; `None` where no cell has returns in both scans.
    pub range: Option<ErrorStatistics>,
    /// Errors of the intensity, counts; `None` where it is not known in both scans.
    pub intensity: Option<ErrorStatistics>,
    /// Agreement of the cells without returns.
    pub drop_outs: DropOuts,
    /// Errors by the range of the first scan.
    pub by_range: Vec<ErrorSpan>,
    /// Errors by the angle of incidence of the second scan.
    pub by_incidence: Vec<ErrorSpan>,
}

/// Bounds of the intervals of range, m.
const RANGES: [f64; 9] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0];

/// Width of an interval of the angle of incidence, degrees.
const INCIDENCE_STEP: f64 = 15.0;

/// Returns of one cell in the first and the second scan.
type Cell = [Option<BeamReturn>; 2];

/// Compares two scans in cells of one ring and `width` (rad) of azimuth.
///
/// The cells cover all rings of either scan and the azimuths from the least to the greatest of both; a
/// cell is represented by its return of median range. `None` where a scan has no return or the width is
/// not positive. Wide cells (several beams) tolerate different firing azimuths; narrow cells resolve
/// edges.
///
/// ```
/// use etendue_estimate::compare::{BeamReturn, compare_beams};
/// let wall = |shift: f64| -> Vec<BeamReturn> {
///     (0..100)
///         .map(|i| BeamReturn {
///             ring: 0,
///             azimuth: 0.01 * f64::from(i) + 0.005,
///             range: 5.0 + shift,
///             intensity: None,
///             incidence: None,
///         })
///         .collect()
/// };
/// let mut seen = wall(0.02);
/// seen.truncate(80);
/// let found = compare_beams(&wall(0.0), &seen, 0.01).unwrap();
/// assert!((found.range.unwrap().root_mean_square - 0.02).abs() < 1e-12);
/// assert_eq!((found.drop_outs.second, found.drop_outs.first), (20, 0));
/// ```
pub fn compare_beams(
    first: &[BeamReturn],
    second: &[BeamReturn],
    width: f64,
) -> Option<BeamComparison> {
    if first.is_empty() || second.is_empty() || width.is_nan() || width <= 0.0 {
        return None;
    }
    // Assign the returns to cells.
    let cells = cells([first, second], width);
    let all: Vec<Cell> = cells.into_values().collect();
    // Errors by range.
    let by_range = RANGES.windows(2).map(|bounds| {
        let within = all
            .iter()
            .filter(|cell| cell[0].is_some_and(|own| (bounds[0]..bounds[1]).contains(&own.range)));
        span(
            [bounds[0], bounds[1]],
            &within.copied().collect::<Vec<_>>(),
            1,
        )
    });
    // Errors by angle of incidence.
    let steps = (0..6).map(|i| f64::from(i) * INCIDENCE_STEP.to_radians());
    let by_incidence = steps.map(|from| {
        let to = from + INCIDENCE_STEP.to_radians();
        let incidence = |cell: &&Cell| cell[1].and_then(|own| own.incidence);
        let within = all
            .iter()
            .filter(|cell| incidence(cell).is_some_and(|i| (from..to).contains(&i)));
        span([from, to], &within.copied().collect::<Vec<_>>(), 0)
    });
    // Errors of all cells.
    Some(BeamComparison {
        cells: all.len(),
        range: errors(&all, |own| Some(own.range)),
        intensity: errors(&all, |own| own.intensity),
        drop_outs: drop_outs(&all),
        by_range: by_range.flatten().collect(),
        by_incidence: by_incidence.flatten().collect(),
    })
}

/// All cells, each with its return of median range in both scans.
fn cells(scans: [&[BeamReturn]; 2], width: f64) -> BTreeMap<(i64, i64), Cell> {
    #[expect(clippy::cast_possible_truncation, reason = "a turn has few cells")]
    let column = |azimuth: f64| (azimuth.rem_euclid(TAU) / width).floor() as i64;
    // Group the returns by ring and azimuth.
    let mut returns: BTreeMap<(i64, i64), [Vec<BeamReturn>; 2]> = BTreeMap::new();
    for (scan, own) in scans.iter().enumerate() {
        for one in *own {
            let key = (one.ring, column(one.azimuth));
            returns.entry(key).or_default()[scan].push(*one);
        }
    }
    // Add the cells without returns.
    let mut rings: Vec<i64> = returns.keys().map(|key| key.0).collect();
    rings.dedup();
    let columns = returns.keys().map(|key| key.1);
    let (least, most) = columns.fold((i64::MAX, i64::MIN), |(a, b), c| (a.min(c), b.max(c)));
    for ring in rings {
        for column in least..=most {
            returns.entry((ring, column)).or_default();
        }
    }
    // Reduce every cell to its median.
    let middle = |(key, scans): ((i64, i64), [Vec<BeamReturn>; 2])| (key, scans.map(median));
    returns.into_iter().map(middle).collect()
}

/// Return of median range.
fn median(mut returns: Vec<BeamReturn>) -> Option<BeamReturn> {
    returns.sort_by(|a, b| a.range.total_cmp(&b.range));
    returns.get(returns.len() / 2).copied()
}

/// Statistics of the differences of a quantity over the cells with returns in both scans.
fn errors(cells: &[Cell], of: impl Fn(&BeamReturn) -> Option<f64>) -> Option<ErrorStatistics> {
    let pairs = cells
        .iter()
        .filter_map(|[a, b]| Some((a.as_ref()?, b.as_ref()?)));
    let differences: Vec<f64> = pairs.filter_map(|(a, b)| Some(of(b)? - of(a)?)).collect();
    let count = differences.len();
    let mean = |of: fn(f64) -> f64| differences.iter().map(|d| of(*d)).sum::<f64>() / count as f64;
    let mut absolute: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    absolute.sort_by(f64::total_cmp);
    Some(ErrorStatistics {
        count,
        median_absolute: absolute.get(count / 2).copied()?,
        mean: mean(|d| d),
        root_mean_square: mean(|d| d * d).sqrt(),
    })
}

/// Errors of the cells in an interval of a quantity of one scan; `other` is the index of the other
/// scan.
fn span([from, to]: [f64; 2], cells: &[Cell], other: usize) -> Option<ErrorSpan> {
    let missed = cells.iter().filter(|cell| cell[other].is_none()).count();
    (!cells.is_empty()).then(|| ErrorSpan {
        from,
        to,
        range: errors(cells, |own| Some(own.range)),
        intensity: errors(cells, |own| own.intensity),
        missed: missed as f64 / cells.len() as f64,
    })
}

/// Agreement of the cells without returns.
fn drop_outs(cells: &[Cell]) -> DropOuts {
    // Count the drop-outs of each scan.
    let count = |is: fn(&Cell) -> bool| cells.iter().filter(|cell| is(cell)).count();
    let first = count(|cell| cell[0].is_none());
    let second = count(|cell| cell[1].is_none());
    let both = count(|cell| cell[0].is_none() && cell[1].is_none());
    // Precision and recall of the second scan.
    let share = |of: usize| (of > 0).then(|| both as f64 / of as f64);
    let precision = share(second);
    let recall = share(first);
    let harmonic_mean = |(a, b): (f64, f64)| if both > 0 { 2.0 * a * b / (a + b) } else { 0.0 };
    DropOuts {
        first,
        second,
        both,
        precision,
        recall,
        f1: precision.zip(recall).map(harmonic_mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(range: impl Fn(i32) -> Option<f64>) -> Vec<BeamReturn> {
        let one = |i: i32| {
            Some(BeamReturn {
                ring: i64::from(i % 4),
                azimuth: f64::from(i / 4).to_radians() + 1e-3,
                range: range(i)?,
                intensity: Some(f64::from(i)),
                incidence: Some(f64::from(i % 90).to_radians()),
            })
        };
        (0..1440).filter_map(one).collect()
    }

    /// 1440 cells; the first lacks every 10th, the second every 20th and one in 15 others.
    #[test]
    fn drop_outs_are_counted_cell_by_cell() {
        let first = scan(|i| (i % 10 != 0).then_some(3.0));
        let second = scan(|i| (i % 20 != 0 && i % 15 != 1).then_some(3.0));
        let found = compare_beams(&first, &second, 1_f64.to_radians()).expect("cells");
        assert_eq!(found.cells, 1440);
        let drop_outs = found.drop_outs;
        assert_eq!(
            [drop_outs.first, drop_outs.second, drop_outs.both],
            [144, 168, 72]
        );
        let precision = drop_outs.precision.expect("drop-outs of the second");
        assert!((precision - 72.0 / 168.0).abs() < 1e-12);
        assert!((drop_outs.recall.expect("drop-outs of the first") - 0.5).abs() < 1e-12);
        assert_eq!(found.range.expect("pairs").root_mean_square, 0.0);
    }

    #[test]
    fn a_scan_without_drop_outs_predicts_none() {
        let first = scan(|i| (i % 10 != 0).then_some(3.0));
        let second = scan(|_| Some(3.0));
        let found = compare_beams(&first, &second, 1_f64.to_radians()).expect("cells");
        let drop_outs = found.drop_outs;
        assert_eq!((drop_outs.precision, drop_outs.f1), (None, None));
        assert_eq!(drop_outs.recall, Some(0.0));
    }

    #[test]
    fn errors_are_in_the_span_of_their_range_and_incidence() {
        let first = scan(|i| Some(if i % 2 == 0 { 3.0 } else { 30.0 }));
        let second = scan(|i| Some(if i % 2 == 0 { 3.0 } else { 30.3 }));
        let found = compare_beams(&first, &second, 1_f64.to_radians()).expect("cells");
        assert_eq!(found.by_range.len(), 2);
        let errors = found
            .by_range
            .iter()
            .map(|span| span.range.expect("pairs").mean);
        let errors: Vec<f64> = errors.collect();
        assert!(
            errors[0].abs() < 1e-12 && (errors[1] - 0.3).abs() < 1e-12,
            "{errors:?}"
        );
        assert_eq!(found.by_incidence.len(), 6);
        let all = found.range.expect("pairs");
        assert!((all.root_mean_square - 0.3 * 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn empty_scans_are_not_compared() {
        assert_eq!(compare_beams(&[], &scan(|_| Some(1.0)), 0.1), None);
        assert_eq!(
            compare_beams(&scan(|_| Some(1.0)), &scan(|_| None), 0.1),
            None
        );
    }
}
