//! Simulation of the beams of a recording from a profile.

use super::beams::{BeamOutcome, PanelBeam, PanelBeams};
use etendue_physics::profile::{BeamAddress, Profile};

/// The beams of a panel with outcomes drawn from the profile, as the simulator draws them for beams on
/// the panel.
pub fn replay(beams: &PanelBeams, profile: &Profile, seed: u64) -> PanelBeams {
    // Draw each beam from the profile, with the same address as its recording.
    let drawn = beams.beams.iter().map(|beam| {
        let address = BeamAddress {
            seed,
            sensor: 0,
            sweep: beam.scan,
            beam: beam.cell,
            stride: 1,
        };
        let found = profile.draw(beam.expected, beam.aspect(), &address);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "intensities are kept as f32"
        )]
        let intensity = found.and_then(|f| f.intensity).unwrap_or(0.0) as f32;
        PanelBeam {
            outcome: found.map_or(BeamOutcome::Dropped, |found| {
                BeamOutcome::Range(found.range)
            }),
            intensity,
            ..*beam
        }
    });
    // Beams on the same panel.
    PanelBeams {
        beams: drawn.collect(),
        strays: 0,
        distance: beams.distance,
    }
}
