//! Merging of returns that are too close to be resolved.

use super::pulse_return::{PulseReturn, RangedPower};
use crate::Scalar;

/// Moments of merged returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MergedReturns<S = f64> {
    /// Total power.
    pub power: S,
    /// Power-weighted mean range, m.
    pub range: S,
    /// Power-weighted variance of the range, m².
    pub variance: S,
}

/// Merged returns of sixteen shots, one group each.
///
/// ```
/// use etendue_physics::pulse::MergedLanes;
/// // Two returns of the first shot: 2 at 10.0 m and 1 at 10.3 m. The others have none.
/// let mut ranges = [[0.0; 16]; 2];
/// let mut powers = [[0.0; 16]; 2];
/// (ranges[0][0], powers[0][0]) = (10.0, 2.0);
/// (ranges[1][0], powers[1][0]) = (10.3, 1.0);
/// let merged = MergedLanes::new(ranges.iter().zip(&powers).map(|(range, power)| [range, power]));
/// assert_eq!((merged.power[0], merged.power[1]), (3.0, 0.0));
/// assert!((merged.range[0] - 10.1).abs() < 1e-12);
/// assert!((merged.variance[0] - 0.02).abs() < 1e-12);
/// assert!((merged.depth[0] - 0.3).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MergedLanes {
    /// Total power.
    pub power: [f64; 16],
    /// Power-weighted mean range, m; unspecified without power.
    pub range: [f64; 16],
    /// Power-weighted variance of the range, m²; unspecified without power.
    pub variance: [f64; 16],
    /// Range of the farthest return minus that of the nearest, m; negative without power.
    pub depth: [f64; 16],
}

#[expect(
    clippy::inline_always,
    clippy::needless_bitwise_bool,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]
impl MergedLanes {
    /// Merges the returns of sixteen shots. Each element of `returns` has the ranges (m) and the powers of one return of each
    /// shot, the power 0 where there is none. Lanes whose [depth](Self::depth) is less than the merging
    /// distance equal [`merge_returns`], bit for bit.
    #[inline(always)]
    pub fn new<'r>(returns: impl Iterator<Item = [&'r [f64; 16]; 2]> + Clone) -> Self {
        // Find the nearest and the farthest return.
        let mut nearest = [f64::INFINITY; 16];
        let mut farthest = [f64::NEG_INFINITY; 16];
        for [range, power] in returns.clone() {
            for i in 0..16 {
                let exists = power[i] > 0.0;
                nearest[i] = if exists & (range[i] < nearest[i]) {
                    range[i]
                } else {
                    nearest[i]
                };
                farthest[i] = if exists & (range[i] > farthest[i]) {
                    range[i]
                } else {
                    farthest[i]
                };
            }
        }
        // Sum the moments relative to the nearest return.
        let mut total = [0.0; 16];
        let mut first = [0.0; 16];
        let mut second = [0.0; 16];
        for [range, power] in returns {
            for i in 0..16 {
                let beyond = if power[i] > 0.0 {
                    range[i] - nearest[i]
                } else {
                    0.0
                };
                total[i] += power[i];
                first[i] += power[i] * beyond;
                second[i] += power[i] * beyond * beyond;
            }
        }
        // Divide by the total power.
        let mut merged = Self {
            power: total,
            range: nearest,
            variance: [0.0; 16],
            depth: [0.0; 16],
        };
        for i in 0..16 {
            let mean = first[i] / total[i];
            merged.range[i] += mean;
            merged.variance[i] = (second[i] / total[i] - mean * mean).max(0.0);
            merged.depth[i] = farthest[i] - nearest[i];
        }
        merged
    }

    /// Sixteen shots of a single return each.
    #[inline(always)]
    pub fn of_singles(ranges: &[f64; 16], powers: &[f64; 16]) -> Self {
        Self {
            power: *powers,
            range: *ranges,
            variance: [0.0; 16],
            depth: [0.0; 16],
        }
    }
}

/// Merges returns whose distance to the previous one is less than `length` (m), and calls `echo` with total power, mean
/// range (m) and range variance (m²) of each group, nearest first. Groups are selected on values. Several groups are
/// sorted in place by range.
pub fn merge_returns<S: Scalar>(
    returns: &mut [PulseReturn<S>],
    length: f64,
    mut echo: impl FnMut(S, S, S),
) {
    // All returns within one length are one group; their sums do not need an order.
    let Some(nearest) = nearest(returns) else {
        return;
    };
    let is_within = |one: &PulseReturn<S>| one.range.value() - nearest.value() < length;
    if returns.iter().all(is_within) {
        let all = moments(returns, nearest);
        return echo(all.power, all.range, all.variance);
    }
    // Divide other returns at the gaps.
    returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
    let mut from = 0;
    for i in 0..returns.len() {
        let ends = returns
            .get(i + 1)
            .is_none_or(|next| (next.range - returns[i].range).value() >= length);
        if ends {
            let group = moments(&returns[from..=i], returns[from].range);
            echo(group.power, group.range, group.variance);
            from = i + 1;
        }
    }
}

/// Groups returns by range: sorts them and calls `each` with every group of neighbours that merge, nearest
/// first. `merge` takes the ranges (m) of two neighbours, the nearer first. Groups are selected on values.
///
/// Returns of zero or negative power carry derivatives with respect to the motion of silhouette edges. They
/// neither form a group nor join two; they are appended to the group of the nearest return of positive
/// power, if they merge with it.
pub fn group_returns<R: RangedPower>(
    returns: &mut [R],
    merge: impl Fn(f64, f64) -> bool,
    mut each: impl FnMut(&[R]),
) {
    // Sort by range, returns of positive power first.
    let is_light = |one: &R| one.power().value() > 0.0;
    returns.sort_by(|a, b| {
        let order = a.range().value().total_cmp(&b.range().value());
        is_light(b).cmp(&is_light(a)).then(order)
    });
    let (light, changes) = returns.split_at(returns.partition_point(is_light));
    // Group neighbours.
    let near = |a: &R, b: &R| merge(a.range().value(), b.range().value());
    if changes.is_empty() {
        return light.chunk_by(near).for_each(each);
    }
    let mut groups: Vec<Vec<R>> = light.chunk_by(near).map(<[_]>::to_vec).collect();
    for change in changes {
        let at = change.range().value();
        // Find the nearest return of positive power.
        let after = light.partition_point(|one| one.range().value() <= at);
        let neighbours = [after.checked_sub(1), Some(after)].map(|i| light.get(i?));
        let distance = |one: &&R| (one.range().value() - at).abs();
        let nearest = neighbours
            .into_iter()
            .flatten()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(range) = nearest.map(|one| one.range().value()) else {
            return;
        };
        // Add the change to that return's group.
        let member = groups
            .iter_mut()
            .find(|group| group.iter().any(|one| one.range().value() == range));
        if let Some(group) = member.filter(|_| merge(range.min(at), range.max(at))) {
            group.push(*change);
        }
    }
    for group in &groups {
        each(group);
    }
}

/// [`merge_returns`] for returns of any sign of power ([`group_returns`]).
pub fn merge_changed<S: Scalar>(
    returns: &mut [PulseReturn<S>],
    length: f64,
    mut echo: impl FnMut(S, S, S),
) {
    if returns.iter().all(|one| one.power.value() > 0.0) {
        return merge_returns(returns, length, echo);
    }
    group_returns(
        returns,
        |near, far| far - near < length,
        |group| {
            let group = moments(group, group[0].range);
            echo(group.power, group.range, group.variance);
        },
    );
}

/// The range of the nearest return, m; `None` without returns.
fn nearest<S: Scalar>(returns: &[PulseReturn<S>]) -> Option<S> {
    let ranges = returns.iter().map(|one| one.range);
    ranges.reduce(|a, b| if b.value() < a.value() { b } else { a })
}

/// Total power, power-weighted mean and variance of the range of returns, one of which has the range `nearest` (m).
fn moments<S: Scalar>(returns: &[PulseReturn<S>], nearest: S) -> MergedReturns<S> {
    if let [one] = returns {
        return MergedReturns {
            power: one.power,
            range: one.range,
            variance: S::zero(),
        };
    }
    // Sum ranges relative to the nearest return, which avoids cancellation at long ranges.
    let mut power = S::zero();
    let mut first = S::zero();
    let mut second = S::zero();
    for one in returns {
        let beyond = one.range - nearest;
        power += one.power;
        first += one.power * beyond;
        second += one.power * beyond * beyond;
    }
    if power.value() <= 0.0 {
        return MergedReturns {
            power: S::zero(),
            range: nearest,
            variance: S::zero(),
        };
    }
    let mean = first / power;
    MergedReturns {
        power,
        range: nearest + mean,
        variance: (second / power - mean * mean).max(S::zero()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(returns: &[(f64, f64)]) -> Vec<Vec<f64>> {
        let mut returns: Vec<PulseReturn> = returns
            .iter()
            .map(|&(range, power)| PulseReturn { range, power })
            .collect();
        let mut groups = Vec::new();
        let near = |a: f64, b: f64| b - a < 1.0;
        group_returns(&mut returns, near, |group| {
            groups.push(group.iter().map(|one| one.range).collect());
        });
        groups
    }

    #[test]
    fn background_steps_neither_create_nor_join_groups() {
        let two = [(5.0, 0.2), (3.0, 0.1), (3.5, 0.3)];
        assert_eq!(groups(&two), [vec![3.0, 3.5], vec![5.0]]);
        // Between the two groups, beyond all, and below zero.
        let changed = [&two[..], &[(4.1, 0.0), (9.0, 0.0), (5.2, -0.1)]].concat();
        assert_eq!(groups(&changed), [vec![3.0, 3.5, 4.1], vec![5.0, 5.2]]);
        assert!(groups(&[(4.0, 0.0)]).is_empty());
    }

    /// Sixteen shots of seven returns, some of which have no power, in lanes and one by one: the same bits where they merge.
    #[test]
    fn lanes_have_the_bits_of_merged_returns() {
        let length = 0.7;
        let mut merging = 0;
        for trial in 0..200 {
            let mut stream = crate::Stream::new(3, 0, 0, trial, crate::Purpose::ReceiverNoise);
            let mut ranges = [[0.0; 16]; 7];
            let mut powers = [[0.0; 16]; 7];
            for (range, power) in ranges.iter_mut().zip(&mut powers) {
                for lane in 0..16 {
                    range[lane] = 40.0 + stream.uniform();
                    power[lane] = (stream.uniform() - 0.4).max(0.0);
                }
            }
            let merged = MergedLanes::new(ranges.iter().zip(&powers).map(|(r, p)| [r, p]));
            for lane in 0..16 {
                let one = |(range, power): (&[f64; 16], &[f64; 16])| PulseReturn {
                    range: range[lane],
                    power: power[lane],
                };
                let all = ranges.iter().zip(&powers).map(one);
                let mut returns: Vec<PulseReturn> = all.filter(|one| one.power > 0.0).collect();
                let mut groups = vec![];
                merge_returns(&mut returns, length, |power, range, variance| {
                    groups.push([power, range, variance]);
                });
                if groups.len() == 1 && merged.depth[lane] < length {
                    let own = [
                        merged.power[lane],
                        merged.range[lane],
                        merged.variance[lane],
                    ];
                    assert_eq!(groups[0], own);
                    merging += 1;
                }
                // Several groups are deeper than the merging distance.
                assert!(groups.len() < 2 || merged.depth[lane] >= length);
            }
        }
        assert!(merging > 500, "{merging}");
    }
}
