//! Return modes: the selection of reported echoes.

use super::Echo;
use crate::Scalar;

/// Return mode: the selection of reported echoes, after merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnMode {
    /// The echo with the highest peak.
    Strongest,
    /// The nearest echo.
    First,
    /// The farthest echo.
    Last,
    /// Two echoes, as the vendor defines them.
    Dual(DualPair),
    /// All echoes, nearest first.
    All,
}

/// Pair of echoes reported by a dual-return mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPair {
    /// The last and the strongest, in this order; if they are the same echo, the second strongest replaces
    /// the strongest (Velodyne VLP-16 user manual 63-9243, chapter 6; Hesai `PandarXT` user
    /// manual, section 3.1).
    LastAndStrongest,
    /// The strongest and the second strongest (Ouster).
    TwoStrongest,
    /// The nearest and the farthest (SICK).
    FirstAndLast,
    /// The two nearest (Livox).
    TwoFirst,
}

impl ReturnMode {
    /// Indices in `echoes` (nearest first) of the reported echoes, in the order of the report.
    ///
    /// ```
    /// use etendue_physics::pulse::{DualPair, Echo, ReturnMode};
    /// let echo = |range, power| Echo { range, power, width: 4e-9 };
    /// let echoes = [echo(3.0, 0.2), echo(5.0, 0.1), echo(9.0, 0.7)];
    /// assert_eq!(ReturnMode::First.choose(&echoes), [0]);
    /// assert_eq!(ReturnMode::Strongest.choose(&echoes), [2]);
    /// // The last is the strongest here, so the second strongest comes with it.
    /// assert_eq!(ReturnMode::Dual(DualPair::LastAndStrongest).choose(&echoes), [2, 0]);
    /// ```
    pub fn choose<S: Scalar>(&self, echoes: &[Echo<S>]) -> Vec<usize> {
        let Some(last) = echoes.len().checked_sub(1) else {
            return Vec::new();
        };
        match self {
            Self::First => vec![0],
            Self::Last => vec![last],
            Self::Strongest => strongest(echoes, None).into_iter().collect(),
            Self::All => (0..=last).collect(),
            Self::Dual(pair) => pair.choose(echoes, last),
        }
    }

    /// Largest number of echoes per beam; `None` without a limit.
    pub fn limit(&self) -> Option<usize> {
        match self {
            Self::Strongest | Self::First | Self::Last => Some(1),
            Self::Dual(_) => Some(2),
            Self::All => None,
        }
    }
}

impl DualPair {
    fn choose<S: Scalar>(self, echoes: &[Echo<S>], last: usize) -> Vec<usize> {
        let top = strongest(echoes, None);
        let (one, other) = match self {
            Self::LastAndStrongest if top == Some(last) => {
                (Some(last), strongest(echoes, Some(last)))
            }
            Self::LastAndStrongest => (Some(last), top),
            Self::TwoStrongest => (top, strongest(echoes, top)),
            Self::FirstAndLast => (Some(0), (last > 0).then_some(last)),
            Self::TwoFirst => (Some(0), (last > 0).then_some(1)),
        };
        one.into_iter().chain(other).collect()
    }
}

/// Index of the strongest echo other than `except`; of equals, the nearest.
fn strongest<S: Scalar>(echoes: &[Echo<S>], except: Option<usize>) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (i, echo) in echoes
        .iter()
        .enumerate()
        .filter(|(i, _)| Some(*i) != except)
    {
        if best.is_none_or(|b| echo.power.value() > echoes[b].power.value()) {
            best = Some(i);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echoes(powers: &[f64]) -> Vec<Echo> {
        let echo = |(i, power): (usize, &f64)| Echo {
            range: 1.0 + i as f64,
            power: *power,
            width: 4e-9,
        };
        powers.iter().enumerate().map(echo).collect()
    }

    #[test]
    fn every_mode_returns_no_echo_without_returns() {
        let modes = [
            ReturnMode::Strongest,
            ReturnMode::First,
            ReturnMode::Last,
            ReturnMode::All,
        ];
        assert!(modes.iter().all(|mode| mode.choose::<f64>(&[]).is_empty()));
        assert!(
            ReturnMode::Dual(DualPair::TwoFirst)
                .choose::<f64>(&[])
                .is_empty()
        );
    }

    #[test]
    fn dual_return_modes_report_two_echoes_if_detected() {
        let dual = |pair, powers: &[f64]| ReturnMode::Dual(pair).choose(&echoes(powers));
        assert_eq!(dual(DualPair::LastAndStrongest, &[0.3, 0.9, 0.1]), [2, 1]);
        assert_eq!(dual(DualPair::LastAndStrongest, &[0.3, 0.2, 0.9]), [2, 0]);
        assert_eq!(dual(DualPair::LastAndStrongest, &[0.9]), [0]);
        assert_eq!(dual(DualPair::TwoStrongest, &[0.3, 0.2, 0.9]), [2, 0]);
        assert_eq!(dual(DualPair::FirstAndLast, &[0.3, 0.2, 0.9]), [0, 2]);
        assert_eq!(dual(DualPair::TwoFirst, &[0.3, 0.2, 0.9]), [0, 1]);
        assert_eq!(dual(DualPair::TwoFirst, &[0.3]), [0]);
    }
}
