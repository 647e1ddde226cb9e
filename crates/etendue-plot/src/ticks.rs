//! Round tick values of an axis.

/// At most about `most` tick values within the limits, at multiples of 1, 2 or 5 times a power of
/// ten, with the number of decimals that distinguishes them.
pub fn ticks([min, max]: [f64; 2], most: usize) -> (Vec<f64>, usize) {
    let step = step(max - min, most);
    let first = (min / step - 1e-9).ceil() as i64;
    let last = (max / step + 1e-9).floor() as i64;
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
    fn there_are_never_many_more_than_wanted() {
        for i in 1..200 {
            let span = 0.0137 * f64::from(i);
            let (values, _) = ticks([-0.3, -0.3 + span], 7);
            assert!((2..=8).contains(&values.len()), "{span}: {values:?}");
        }
    }
}
