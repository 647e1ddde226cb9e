//! Detection of the quantisation steps of reported ranges.

use etendue_physics::profile::{Step, Steps};

/// Unit of the search, m.
const GRAIN: f64 = 1e-4;

/// Candidate steps in grains, coarse to fine.
const CANDIDATES: [i64; 14] = [1000, 500, 200, 160, 100, 80, 50, 40, 20, 10, 8, 5, 4, 2];

/// Number of successive distinct values that determine a step.
const WINDOW: usize = 24;

/// Quantisation steps of ranges (m), which may widen with the range.
///
/// The distinct values are sorted. For every window of 24 successive values, the step is the coarsest
/// candidate that divides them; windows with the same step are joined. Ranges that are not on a grid of
/// 0.1 mm or more have no steps.
pub fn detect_steps(ranges: impl IntoIterator<Item = f64>) -> Steps {
    let Some(values) = on_grid(ranges) else {
        return Steps::default();
    };
    let width = WINDOW.min(values.len());
    if width < 8 {
        return Steps::default();
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut before = 0;
    for at in 0..=values.len() - width {
        let step = common_step(&values[at..at + width]);
        if step > before {
            // The first window on a coarser grid begins a step
            let from = if before == 0 {
                0.0
            } else {
                edge(&values, at, step)
            };
            steps.push(Step {
                from,
                step: step as f64 * GRAIN,
            });
            before = step;
        }
    }
    if before <= 1 {
        return Steps::default();
    }
    Steps::new(steps)
}

/// Distinct values in grains, sorted; `None` if more than 2 % are off the grid.
fn on_grid(ranges: impl IntoIterator<Item = f64>) -> Option<Vec<i64>> {
    let mut values = Vec::new();
    let mut off = 0;
    let mut total = 0;
    for range in ranges {
        let grains = range / GRAIN;
        // Ranges are stored as f32: relative rounding of 1e-7
        total += 1;
        off += usize::from((grains - grains.round()).abs() > 0.02 + 3e-7 * grains);
        #[expect(clippy::cast_possible_truncation, reason = "ranges are below 1e14 m")]
        values.push(grains.round() as i64);
    }
    if off * 50 > total {
        return None;
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// The coarsest candidate that divides all but one of the values.
fn common_step(values: &[i64]) -> i64 {
    let divides = |step: &&i64| values.iter().filter(|v| *v % **step != 0).count() <= 1;
    CANDIDATES.iter().find(divides).copied().unwrap_or(1)
}

/// Range at which a coarser step begins, m: after the last value off its grid. With few values, some
/// values before it can be on the grid by chance: a power of two in millimetres is preferred up to the third
/// next value.
fn edge(values: &[i64], at: usize, step: i64) -> f64 {
    let middle = at + WINDOW.min(values.len()) / 2;
    let is_off = |(_, value): &(usize, &i64)| *value % step != 0;
    let mut offs = values[..middle].iter().enumerate().filter(is_off).rev();
    // One value off the coarser grid is allowed after the edge
    let last = offs.next();
    let before = offs.next();
    let off = before.or(last).map(|(index, _)| index);
    let next = off.map_or(0, |off| off + 1);
    let last_off = off.map_or(0.0, |off| values[off] as f64 * GRAIN);
    let reach = values[(next + 3).min(values.len() - 1)] as f64 * GRAIN;
    let power = (0..14).map(|n| f64::from(1_u32 << n) * 1e-3);
    power
        .into_iter()
        .find(|power| *power > last_off && *power <= reach)
        .unwrap_or(values[next.min(values.len() - 1)] as f64 * GRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_steps_are_found() {
        let one = (150..512).map(|mm| f64::from(mm) * 1e-3);
        let two = (512..2048).step_by(2).map(|mm| f64::from(mm) * 1e-3);
        let four = (2048..4096).step_by(4).map(|mm| f64::from(mm) * 1e-3);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "logs hold single precision"
        )]
        let single = |r: f64| f64::from(r as f32);
        let steps = detect_steps(one.chain(two).chain(four).map(single));
        let found: Vec<_> = steps.as_slice().iter().map(|s| (s.from, s.step)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        for ((from, step), expected) in
            found
                .iter()
                .zip([(0.0, 1e-3), (0.512, 2e-3), (2.048, 4e-3)])
        {
            assert!(
                (from - expected.0).abs() < 1e-6 && (step - expected.1).abs() < 1e-9,
                "{found:?}"
            );
        }
    }

    #[test]
    fn ranges_without_steps_have_none() {
        let ranges = (0..500).map(|i| 0.3 + f64::from(i) * 0.001_234_567);
        assert_eq!(detect_steps(ranges), Steps::default());
    }
}
