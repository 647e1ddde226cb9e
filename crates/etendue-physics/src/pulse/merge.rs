//! Returns that are too close to be told apart.

use super::Return;
use crate::Scalar;

/// Returns that have merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Merged<S = f64> {
    pub power: S,
    /// Mean range by power, m.
    pub range: S,
    /// Variance of the range by power, m².
    pub variance: S,
}

/// Merges returns (sorted by range here) whose distance to the one before is less than `length`
/// (m), and calls `echo` with total power, mean range (m) and range variance (m²) of each group,
/// nearest first. Which returns merge is chosen on values.
pub fn merge_returns<S: Scalar>(
    returns: &mut [Return<S>],
    length: f64,
    mut echo: impl FnMut(S, S, S),
) {
    if let [only] = returns {
        return echo(only.power, only.range, S::zero());
    }
    returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
    let mut from = 0;
    for i in 0..returns.len() {
        let ends = returns
            .get(i + 1)
            .is_none_or(|next| (next.range - returns[i].range).value() >= length);
        if ends {
            let group = moments(&returns[from..=i]);
            echo(group.power, group.range, group.variance);
            from = i + 1;
        }
    }
}

fn moments<S: Scalar>(returns: &[Return<S>]) -> Merged<S> {
    if let [one] = returns {
        return Merged {
            power: one.power,
            range: one.range,
            variance: S::zero(),
        };
    }
    // From the nearest on: no cancellation at long ranges.
    let nearest = returns[0].range;
    let (mut power, mut first, mut second) = (S::zero(), S::zero(), S::zero());
    for one in returns {
        let beyond = one.range - nearest;
        power += one.power;
        first += one.power * beyond;
        second += one.power * beyond * beyond;
    }
    if power.value() <= 0.0 {
        return Merged {
            power: S::zero(),
            range: nearest,
            variance: S::zero(),
        };
    }
    let mean = first / power;
    Merged {
        power,
        range: nearest + mean,
        variance: (second / power - mean * mean).max(S::zero()),
    }
}
