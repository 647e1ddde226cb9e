//! Quantisation of a device's ranges.

/// A quantisation step and the range from which it applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Least range that it applies to, m.
    pub from: f64,
    /// The step, m.
    pub step: f64,
}

/// Quantisation steps of the reported range by range: an RPLIDAR A1 has steps of 1, 2, 4 and 8 mm.
/// Without steps, ranges are not rounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps(Vec<Step>);

impl Steps {
    /// Creates the quantisation from steps in any order; the step with the least range applies from zero.
    pub fn new(mut steps: Vec<Step>) -> Self {
        steps.retain(|step| step.step > 0.0);
        steps.sort_by(|a, b| a.from.total_cmp(&b.from));
        Self(steps)
    }

    /// Quantisation with one step (m) at all ranges.
    pub fn even(step: f64) -> Self {
        Self::new(vec![Step { from: 0.0, step }])
    }

    /// The steps by ascending range.
    pub fn as_slice(&self) -> &[Step] {
        &self.0
    }

    /// The step, m, at a range (m); 0 if there are no steps.
    pub fn at(&self, range: f64) -> f64 {
        let holds = self.0.iter().rev().find(|step| range >= step.from);
        holds.or(self.0.first()).map_or(0.0, |step| step.step)
    }

    /// A range (m) rounded to its step, m.
    ///
    /// ```
    /// use etendue_physics::profile::{Step, Steps};
    /// let steps = Steps::new(vec![Step { from: 0.0, step: 1e-3 }, Step { from: 0.512, step: 2e-3 }]);
    /// assert_eq!(steps.round(0.3004), 0.3);
    /// assert_eq!(steps.round(0.6013), 0.602);
    /// ```
    pub fn round(&self, range: f64) -> f64 {
        let step = self.at(range);
        if step > 0.0 {
            // Division by the steps per metre gives the double that is nearest to 0.602
            let per_metre = step.recip();
            (range * per_metre).round() / per_metre
        } else {
            range
        }
    }

    /// The steps prepared for batches of ranges.
    pub(super) fn rounding(&self) -> Rounding {
        let ready = |step: &Step| [step.from, step.step.recip()];
        Rounding(self.0.iter().map(ready).collect())
    }
}

/// Quantisation steps prepared for batches: pairs of least range (m) and number of steps per metre.
#[derive(Clone, Debug)]
pub(super) struct Rounding(Vec<[f64; 2]>);

impl Rounding {
    /// Rounds a batch of ranges, bit-equal to [`Steps::round`].
    #[expect(
        clippy::inline_always,
        reason = "compiled for the caller's target features"
    )]
    #[inline(always)]
    pub fn round<const N: usize>(&self, ranges: &mut [f64; N]) {
        let Some((first, others)) = self.0.split_first() else {
            return;
        };
        let mut per_metre = [first[1]; N];
        for [from, steps] in others {
            for i in 0..N {
                if ranges[i] >= *from {
                    per_metre[i] = *steps;
                }
            }
        }
        for i in 0..N {
            ranges[i] = (ranges[i] * per_metre[i]).round() / per_metre[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_rounded_as_single_ranges() {
        let step = |from, step| Step { from, step };
        let widening = vec![step(0.0, 1e-3), step(0.512, 2e-3), step(2.048, 4e-3)];
        for steps in [Steps::default(), Steps::even(1e-3), Steps::new(widening)] {
            for start in (0..3000).step_by(4) {
                let ranges = [0, 1, 2, 3].map(|i| 1.003e-3 * f64::from(start + i));
                let mut rounded = ranges;
                steps.rounding().round(&mut rounded);
                assert_eq!(rounded, ranges.map(|range| steps.round(range)));
            }
        }
    }
}
