//! A recorded panel beside draws of a noise profile.

use crate::session::RecordedPanel;
use etendue::calibrate::noise::statistics::{
    BandQuantity, IncidenceBin, band_differences, bins, wide_bins,
};
use etendue::calibrate::noise::{PanelBeams, replay};
use etendue::physics::profile::{IntensityKind, Profile};
use serde::Serialize;

/// Factor between the standard error and half the 95 % interval of a normal distribution.
const NORMAL_95: f64 = 1.96;

/// Width of the bins of the points, degrees; those of the spread are three times as wide, as in `etendue calibrate`.
const BIN_DEG: f64 = 1.0;

/// Width of the bands that are compared with their neighbours, degrees.
const BAND_DEG: f64 = 5.0;

/// The panel of the recording, its statistics, and those of beams that are drawn from the profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelAnswer {
    scans: usize,
    distance: f64,
    bearing_deg: f64,
    beams: usize,
    returned: usize,
    strays: usize,
    warnings: Vec<String>,
    quantities: Vec<PanelQuantity>,
}

/// A quantity over incidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PanelQuantity {
    name: &'static str,
    recorded: Points,
    /// The same beams, drawn from the profile.
    drawn: Points,
    /// The profile at the distance of the panel.
    expected: Curve,
    /// Incidence of the boundaries at which adjacent recorded bands differ significantly, degrees.
    changes_deg: Vec<f64>,
}

/// Values of bins with their 95 % intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Points {
    incidence_deg: Vec<f64>,
    values: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

/// A curve over incidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Curve {
    incidence_deg: Vec<f64>,
    values: Vec<f64>,
}

/// A quantity of the plots.
struct Quantity {
    name: &'static str,
    of: BandQuantity,
}

/// The quantities in the order of the curves of a profile.
const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "bias",
        of: BandQuantity::Bias,
    },
    Quantity {
        name: "spread",
        of: BandQuantity::Spread,
    },
    Quantity {
        name: "drop-out",
        of: BandQuantity::DropOut,
    },
    Quantity {
        name: "intensity",
        of: BandQuantity::Intensity,
    },
];

/// Statistics of a recorded panel and of one draw of a profile with a seed.
pub fn panel(recorded: &RecordedPanel, profile: &Profile, seed: u64) -> PanelAnswer {
    let drawn = replay(&recorded.beams, profile, seed);
    let width = BAND_DEG.to_radians();
    let quantities = QUANTITIES.iter().map(|quantity| {
        let differences = band_differences(&recorded.beams, width, quantity.of);
        let significant = differences.iter().filter(|one| one.is_significant);
        PanelQuantity {
            name: quantity.name,
            recorded: quantity.points(&recorded.beams, profile),
            drawn: quantity.points(&drawn, profile),
            expected: quantity.curve(profile, recorded.panel.plane.distance),
            changes_deg: significant.map(|one| one.incidence.to_degrees()).collect(),
        }
    });
    PanelAnswer {
        quantities: quantities.collect(),
        scans: recorded.scans,
        distance: recorded.panel.plane.distance,
        bearing_deg: recorded.panel.bearing().to_degrees(),
        beams: recorded.beams.beams.len(),
        returned: recorded.beams.returned(),
        strays: recorded.beams.strays,
        warnings: recorded.panel.warnings.clone(),
    }
}

impl Quantity {
    fn points(&self, beams: &PanelBeams, profile: &Profile) -> Points {
        let width = BIN_DEG.to_radians();
        let bins = match self.of {
            BandQuantity::Spread => wide_bins(beams, &profile.steps, 3.0 * width),
            _ => bins(beams, &profile.steps, width),
        };
        let mut points = Points::default();
        for bin in &bins {
            if let Some([value, low, high]) = self.of_bin(bin, profile) {
                points.incidence_deg.push(bin.incidence.to_degrees());
                points.values.push(value);
                points.low.push(low);
                points.high.push(high);
            }
        }
        points
    }

    /// The profile at a distance (m), up to its last knot.
    fn curve(&self, profile: &Profile, distance: f64) -> Curve {
        let end = profile.knots.last().map_or(0.0, |knot| knot.incidence);
        let halves = (0_u8..180).map(|half| 0.5 * f64::from(half));
        let incidence_deg: Vec<f64> = halves
            .take_while(|degrees| degrees.to_radians() <= end)
            .collect();
        let value = |degrees: &f64| {
            let incidence = degrees.to_radians();
            let expected = profile.at(incidence, distance / incidence.cos());
            match self.of {
                BandQuantity::Bias => 1e3 * expected.bias,
                BandQuantity::Spread => 1e3 * expected.spread,
                BandQuantity::DropOut => expected.drop_out,
                BandQuantity::Intensity => expected.intensity,
            }
        };
        Curve {
            values: incidence_deg.iter().map(value).collect(),
            incidence_deg,
        }
    }

    /// Value of a bin with its 95 % interval, in the units of a profile file.
    fn of_bin(&self, bin: &IncidenceBin, profile: &Profile) -> Option<[f64; 3]> {
        let with_interval = |[value, error]: [f64; 2]| {
            [value, value - NORMAL_95 * error, value + NORMAL_95 * error].map(|length| 1e3 * length)
        };
        match self.of {
            BandQuantity::Bias => bin.bias().map(with_interval),
            BandQuantity::Spread => bin.spread().map(with_interval),
            BandQuantity::DropOut => {
                let [low, high] = bin.drop_out_interval(profile.correlation.fixed_pattern_drop());
                Some([bin.drop_out(), low, high])
            }
            BandQuantity::Intensity => {
                let mean = match profile.intensity {
                    // A profile has the fraction of the higher value
                    IntensityKind::TwoValued { low, high } => {
                        (bin.intensity[0] - low) / (high - low)
                    }
                    _ => bin.intensity[0],
                };
                (bin.returned > 0.0).then_some([mean; 3])
            }
        }
    }
}
