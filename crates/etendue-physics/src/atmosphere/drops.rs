//! Returns of individual rain drops and snow flakes.

use super::{Overlap, Precipitation};
use crate::Stream;
use crate::beam::BeamWidth;
use crate::pulse::{PulseReturn, poisson};

/// Largest drop diameter considered for the distance at which drops are visible, m: larger drops
/// break up (Pruppacher, Klett 1997, chapter 10).
const LARGEST: f64 = 6e-3;

/// Step of the numerical integration of the beam's volume, m.
const STEP: f64 = 0.25;

/// Individual drops or flakes above a smallest diameter in a beam, with the constants that are common to
/// all beams.
#[derive(Clone, Debug)]
pub struct Drops {
    precipitation: Precipitation<f64>,
    smallest: f64,
    beam: BeamWidth,
    overlap: Overlap,
    /// Extinction coefficient of the air, 1/m.
    extinction: f64,
    /// Volume of the beam from the first visible range to each later step, m³.
    volume: Vec<f64>,
}

/// The constants of drops in a beam, for other processors.
///
/// The number of drops before a range is Poisson-distributed with the mean of `density` times the volume there, which is linear
/// between the entries of `volume`. The volume before a drop is uniform in that before the range, its diameter $D$ `smallest` plus
/// an exponential draw over `slope`, and its power
/// $$k\\,\frac{D^2}{A(r)\\,r^2}\\,o(r)\\,e^{-2\alpha r}$$
/// with $k$ = `power`, the area $A$ of the [beam](BeamWidth::area), the [overlap](Overlap::share) $o$ and the extinction $\alpha$.
/// [`Drops::add`] has the order of the draws.
///
/// ```
/// # use etendue_physics::atmosphere::{Drops, Overlap, Precipitation};
/// # use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
/// let rain = Precipitation::rain(20e-3 / 3600.0);
/// # let round = |width| Divergence { horizontal: width, vertical: width, at: DivergenceAt::Edge };
/// # let beam = BeamWidth { shape: BeamShape::TopHat, divergence: round(3e-3), exit: round(1e-2) };
/// # let overlap = Overlap { none_until: 1.0, full_from: 0.0 };
/// let drops = Drops::new(rain, 1e-3, &beam, overlap, 20.0, 0.0);
/// let form = drops.form();
/// assert!((form.power * 1e-6 - rain.drop_power(1e-3, 1.0, 1.0)).abs() < 1e-18);
/// assert_eq!((form.smallest, form.volume[0]), (1e-3, 0.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DropForm<'a> {
    /// Number of drops per cubic metre.
    pub density: f64,
    /// Smallest diameter, m.
    pub smallest: f64,
    /// Slope of the distribution of diameters, 1/m.
    pub slope: f64,
    /// Power of a drop of unit diameter in a beam of unit area at unit range, 1/(m² sr).
    pub power: f64,
    /// The beam.
    pub beam: BeamWidth,
    /// Extinction coefficient of the air, 1/m.
    pub extinction: f64,
    /// Volume of the beam from the first visible range to each later step, m³.
    pub volume: &'a [f64],
    /// Length of the steps, m.
    pub step: f64,
}

impl Drops {
    /// The constants, for other processors.
    pub fn form(&self) -> DropForm<'_> {
        DropForm {
            density: self.precipitation.number_above(self.smallest),
            smallest: self.smallest,
            slope: self.precipitation.slope,
            power: self.precipitation.drop_power(1.0, 1.0, 1.0),
            beam: self.beam,
            extinction: self.extinction,
            volume: &self.volume,
            step: STEP,
        }
    }

    /// Drops of at least the diameter `smallest` (m) in a beam out to `far` (m), in air with the
    /// extinction coefficient `extinction` (1/m).
    pub fn new(
        precipitation: Precipitation<f64>,
        smallest: f64,
        beam: &BeamWidth,
        overlap: Overlap,
        far: f64,
        extinction: f64,
    ) -> Self {
        // Tabulate the volume of the beam out to each step.
        let near = overlap.none_until;
        let mut volume = vec![0.0];
        let mut sum = 0.0;
        let mut from = near;
        while from < far {
            sum += beam.area(from + 0.5 * STEP) * STEP;
            volume.push(sum);
            from += STEP;
        }
        Self {
            precipitation,
            smallest,
            beam: *beam,
            overlap,
            extinction,
            volume,
        }
    }

    /// Largest distance from the sensor at which a drop or flake returns at least `power` (1/(m²
    /// sr)), m; at most `far`.
    pub fn visible_range(
        precipitation: &Precipitation<f64>,
        beam: &BeamWidth,
        overlap: &Overlap,
        power: f64,
        far: f64,
    ) -> f64 {
        let mut range = far;
        let returned = |range| precipitation.drop_power(LARGEST, beam.area(range), range);
        while range > overlap.none_until && returned(range) * overlap.share(range) < power {
            range -= STEP;
        }
        range.max(overlap.none_until)
    }

    /// Adds the returns of a Poisson-distributed number of drops before `far` (m), attenuated by
    /// the air.
    pub fn add(&self, far: f64, stream: &mut Stream, returns: &mut Vec<PulseReturn>) {
        let density = self.precipitation.number_above(self.smallest);
        let volume = self.volume_until(far);
        let mut remaining = poisson(density * volume, stream);
        while remaining > 0.0 {
            let range = self.range_of(volume * stream.uniform());
            let diameter = self.smallest - (1.0 - stream.uniform()).ln() / self.precipitation.slope;
            let area = self.beam.area(range);
            let unattenuated = self.precipitation.drop_power(diameter, area, range);
            let transmission = (-2.0 * self.extinction * range).exp();
            returns.push(PulseReturn {
                range,
                power: unattenuated * transmission * self.overlap.share(range),
            });
            remaining -= 1.0;
        }
    }

    /// Volume of the beam before a range (m), m³.
    fn volume_until(&self, far: f64) -> f64 {
        let steps = ((far - self.overlap.none_until) / STEP).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative, and saturating"
        )]
        let whole = steps.floor() as usize;
        match self.volume.get(whole..) {
            Some([from, to, ..]) => from + (to - from) * steps.fract(),
            _ => self.volume[self.volume.len() - 1],
        }
    }

    /// Range before which the beam has the given volume (m³), m.
    fn range_of(&self, volume: f64) -> f64 {
        let after = self.volume.partition_point(|until| *until <= volume);
        let after = after.clamp(1, self.volume.len() - 1);
        let from = self.volume[after - 1];
        let to = self.volume[after];
        let within = (volume - from) / (to - from);
        self.overlap.none_until + (after as f64 - 1.0 + within) * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;
    use crate::beam::{BeamShape, Divergence, DivergenceAt};

    const NEAR: f64 = 5.0;

    fn beam() -> BeamWidth {
        let round = |width| Divergence {
            horizontal: width,
            vertical: width,
            at: DivergenceAt::InverseESquared,
        };
        BeamWidth {
            shape: BeamShape::Gaussian,
            divergence: round(3e-3),
            exit: round(1e-2),
        }
    }

    fn overlap(full_from: f64) -> Overlap {
        Overlap {
            none_until: NEAR,
            full_from,
        }
    }

    fn returns(drops: &Drops, beam: u32, far: f64) -> Vec<PulseReturn> {
        let mut returns = Vec::new();
        let mut stream = Stream::new(2, 0, 0, beam, Purpose::Precipitation);
        drops.add(far, &mut stream, &mut returns);
        returns
    }

    /// 4,000 beams of 30 m in 20 mm/h: the mean power of the drops is within 4.5 standard errors of their
    /// fraction of $\int\beta/r^2\,dr$; with a partial overlap, of $\beta\,\Delta r/r_1^2$.
    #[test]
    fn the_mean_power_of_drops_is_that_of_the_backscatter_coefficient() {
        let rain = Precipitation::rain(20e-3 / 3600.0);
        let far = 35.0;
        let smallest = 0.7e-3;
        for (full_from, integral) in [(0.0, 1.0 / NEAR - 1.0 / far), (50.0, 30.0 / 2500.0)] {
            let drops = Drops::new(rain, smallest, &beam(), overlap(full_from), 60.0, 0.0);
            let sums: Vec<f64> = (0..4000)
                .map(|number| returns(&drops, number, far).iter().map(|r| r.power).sum())
                .collect();
            let mean = sums.iter().sum::<f64>() / 4000.0;
            let variance = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 4000.0;
            let backscatter = rain.extinction() / rain.lidar_ratio * rain.share_above(smallest);
            let expected = backscatter * integral;
            assert!(
                (mean - expected).abs() < 4.5 * (variance / 4000.0).sqrt(),
                "{full_from}: {mean} {expected}"
            );
        }
    }

    /// Drops are uniform in the beam's volume: the fraction of drops before 20 m equals the
    /// fraction of the volume before it, within 4.5 standard deviations of the binomial
    /// distribution.
    #[test]
    fn drops_are_uniform_in_the_volume_of_the_beam() {
        let rain = Precipitation::rain(20e-3 / 3600.0);
        let drops = Drops::new(rain, 0.5e-3, &beam(), overlap(0.0), 60.0, 0.0);
        let all: Vec<PulseReturn> = (0..300).flat_map(|n| returns(&drops, n, 35.0)).collect();
        assert!(all.iter().all(|one| (NEAR..=35.0).contains(&one.range)));
        let near = all.iter().filter(|one| one.range < 20.0).count() as f64;
        // The integral of (1e-2)^2 + (3e-3 r)^2.
        let volume = |far: f64| 1e-4 * (far - NEAR) + 3e-6 * (far.powi(3) - NEAR.powi(3));
        let share = volume(20.0) / volume(35.0);
        let count = all.len() as f64;
        assert!(count > 1000.0);
        let spread = (count * share * (1.0 - share)).sqrt();
        assert!(
            (near - count * share).abs() < 4.5 * spread,
            "{near} of {count}: {share}"
        );
    }

    #[test]
    fn the_same_stream_gives_the_same_drops() {
        let rain = Precipitation::rain(50e-3 / 3600.0);
        let drops = Drops::new(rain, 1e-3, &beam(), overlap(0.0), 50.0, 1e-3);
        assert!(!returns(&drops, 4, 50.0).is_empty());
        assert_eq!(returns(&drops, 4, 50.0), returns(&drops, 4, 50.0));
        assert_ne!(returns(&drops, 4, 50.0), returns(&drops, 5, 50.0));
    }

    #[test]
    fn the_visible_range_is_that_of_the_largest_drop() {
        let rain = Precipitation::rain(50e-3 / 3600.0);
        let beam = beam();
        let overlap = overlap(8.0);
        let until = Drops::visible_range(&rain, &beam, &overlap, 1e-8, 500.0);
        let power = |range: f64| rain.drop_power(LARGEST, beam.area(range), range);
        assert!(
            power(until) >= 1e-8 && power(until + STEP) < 1e-8,
            "{until}"
        );
        assert_eq!(
            Drops::visible_range(&rain, &beam, &overlap, 1.0, 500.0),
            NEAR
        );
    }
}
