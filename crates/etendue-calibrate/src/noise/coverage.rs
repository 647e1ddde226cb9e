//! Incidences at which a panel was recorded.

use super::beams::PanelBeams;

/// Number of bands of incidence, of 10 degrees each.
pub const BANDS: usize = 9;

/// Number of beams that a band needs: it determines a drop-out rate of 5 % to within about 2 % (95 % interval of a
/// binomial distribution).
pub const BEAMS_PER_BAND: usize = 400;

/// Numbers of beams in bands of 10 degrees of incidence.
///
/// ```
/// use etendue_calibrate::noise::IncidenceCoverage;
///
/// let coverage = IncidenceCoverage { beams: [900, 120, 0, 0, 0, 0, 0, 0, 0] };
/// assert_eq!(coverage.sparse().collect::<Vec<_>>(), [(1, 120)]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidenceCoverage {
    /// Number of beams of each band, beginning at normal incidence.
    pub beams: [usize; BANDS],
}

impl IncidenceCoverage {
    /// The incidences of beams.
    pub fn of(beams: &PanelBeams) -> Self {
        let mut coverage = Self::default();
        for beam in &beams.beams {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "incidence is within a quarter turn"
            )]
            let band = (beam.incidence.to_degrees() / 10.0) as usize;
            coverage.beams[band.min(BANDS - 1)] += 1;
        }
        coverage
    }

    /// Adds the beams of another part of the recording.
    pub fn add(&mut self, other: &Self) {
        for (own, more) in self.beams.iter_mut().zip(other.beams) {
            *own += more;
        }
    }

    /// The bands with some beams and too few of them: number of the band and of its beams.
    pub fn sparse(&self) -> impl Iterator<Item = (usize, usize)> {
        let bands = self.beams.into_iter().enumerate();
        bands.filter(|(_, beams)| (1..BEAMS_PER_BAND).contains(beams))
    }
}
