//! Round tick values of an axis.

/// At most about `most` tick values within the limits, but at least two, at multiples of 1, 2 or 5 times a power of
/// ten, with the number of decimals that distinguishes them.
pub fn ticks([min, max]: [f64; 2], most: usize) -> (Vec<f64>, usize) {
    let range = |step: f64| {
        let first = (min / step - 1e-9).ceil() as i64;
        let last = (max / step + 1e-9).floor() as i64;
        (first, last)
    };
    // Of five intervals of a round step, at least two have both ends within the limits
    let mut steps = (most..most + 5).map(|most| step(max - min, most));
    let has_two = |step: &f64| {
        let (first, last) = range(*step);
        last > first
    };
    let step = steps.find(has_two).unwrap_or_else(|| step(max - min, most));
    let (first, last) = range(step);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    ((first..=last).map(|i| i as f64 * step).collect(), decimals)
}

/// Round step that divides `span` into at most `most` intervals.
pub fn step(span: f64, most: usize) -> f64 {
    let rough = span.max(f64::MIN_POSITIVE) / most.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let (values, decimals) = ticks([-0.03, 1.87], 6);
        assert_eq!(values, [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(decimals, 1);
        let (values, decimals) = ticks([0.0, 56.0], 6);
        assert_eq!(values, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(decimals, 0);
    }

    #[test]
    fn an_axis_has_at_least_two_ticks() {
        for (limits, expected) in [
            ([-2.4, 2.4], vec![-2.0, 0.0, 2.0]),
            ([0.3, 5.2], vec![2.0, 4.0]),
        ] {
            assert_eq!(ticks(limits, 1).0, expected, "{limits:?}");
        }
        for i in 1..500 {
            let low = 0.37 * f64::from(i) - 50.0;
            let limits = [low, low + 0.0173 * f64::from(i)];
            assert!(ticks(limits, 1).0.len() >= 2, "{limits:?}");
        }
    }

    #[test]
    fn there_are_never_many_more_than_wanted() {
        for i in 1..200 {
            let span = 0.0137 * f64::from(i);
            let (values, _) = ticks([-0.3, -0.3 + span], 7);
            assert!((2..=8).contains(&values.len()), "{span}: {values:?}");
        }
    }
}
