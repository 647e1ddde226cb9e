//! Stability of bias and drop-out over the recording.

use super::Check;
use crate::noise::panel_report::PanelReport;
use etendue_physics::profile::Profile;

/// Number of blocks of successive scans in each half of a recording.
const BLOCKS: usize = 4;

/// Student's t of a difference of the halves by chance in one of a thousand bands, with the six degrees of
/// freedom of eight blocks.
const LARGEST_T: f64 = 5.96;

/// Least number of scans.
const LEAST_SCANS: usize = 8;

/// Width of the bands of incidence, degrees.
const BAND_DEG: f64 = 10.0;

/// Number of bands.
const BANDS: usize = 9;

/// Least number of values of a block.
const LEAST_VALUES: f64 = 5.0;

/// Limits of the change of the bias, in units of the spread and a quarter of a step: doubtful, refused.
const BIAS: [f64; 2] = [1.0, 6.0];

/// Limits of the change of the drop-out: doubtful, refused.
const DROP_OUT: [f64; 2] = [0.15, 0.8];

/// Checks of the changes of bias and drop-out between the first and the second half of a recording: the
/// largest significant changes of a band of ten degrees.
///
/// The means of eight blocks of successive scans are compared, so that the correlation of successive scans
/// is part of the standard error.
pub(super) fn stability_checks(
    report: &PanelReport,
    profile: &Profile,
    scans: usize,
) -> Vec<Check> {
    if scans < LEAST_SCANS {
        return vec![Check {
            name: "scans that are missing for a test of stability",
            value: (LEAST_SCANS - scans) as f64,
            limits: [0.0, f64::INFINITY],
            finding: format!(
                "{}: {scans} scans are too few to test whether the recording is stable; {LEAST_SCANS} are needed",
                report.recording
            ),
        }];
    }
    let bands = Bands::of(report, scans);
    let [mut bias, mut drop_out] = [[0.0_f64; 2]; 2];
    for band in 0..BANDS {
        let incidence = (BAND_DEG * (band as f64 + 0.5)).to_radians();
        let range = report.distance() / incidence.cos();
        let unit = profile.at(incidence, range).spread + 0.25 * profile.steps.at(range);
        let change = bands.change(band, &|sums| sums.errors);
        if change.abs() / unit > bias[0] {
            bias = [change.abs() / unit, incidence.to_degrees()];
        }
        let change = bands.change(band, &|sums| sums.dropped);
        if change.abs() > drop_out[0] {
            drop_out = [change.abs(), incidence.to_degrees()];
        }
    }
    let name = &report.recording;
    vec![
        Check {
            name: "change of the bias between the halves of the recording over the spread",
            value: bias[0],
            limits: BIAS,
            finding: format!(
                "{name}: the bias at {:.0} degrees changes by {:.1} times the spread between the halves of the recording",
                bias[1], bias[0]
            ),
        },
        Check {
            name: "change of the drop-out between the halves of the recording",
            value: drop_out[0],
            limits: DROP_OUT,
            finding: format!(
                "{name}: the drop-out at {:.0} degrees changes by {:.0} % between the halves of the recording",
                drop_out[1],
                1e2 * drop_out[0]
            ),
        },
    ]
}

/// Sum and number of values.
type Sum = [f64; 2];

/// Sums of a band in a block.
#[derive(Clone, Copy, Default)]
struct BlockSums {
    errors: Sum,
    dropped: Sum,
}

/// Sums of bands of incidence in blocks of scans.
struct Bands(Vec<[BlockSums; 2 * BLOCKS]>);

impl Bands {
    fn of(report: &PanelReport, scans: usize) -> Self {
        let mut bands = vec![[BlockSums::default(); 2 * BLOCKS]; BANDS];
        for beam in &report.beams.beams {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "incidence is within a quarter turn"
            )]
            let band = (beam.incidence.to_degrees() / BAND_DEG) as usize;
            let block = beam.scan as usize * 2 * BLOCKS / scans;
            let sums = &mut bands[band.min(BANDS - 1)][block.min(2 * BLOCKS - 1)];
            if let Some(error) = beam.error() {
                sums.errors[0] += error;
                sums.errors[1] += 1.0;
            }
            sums.dropped[0] += f64::from(u8::from(!beam.returned()));
            sums.dropped[1] += 1.0;
        }
        Self(bands)
    }

    /// Significant change of a mean of a band between the halves; zero if it is not significant.
    fn change(&self, band: usize, sum: &dyn Fn(&BlockSums) -> Sum) -> f64 {
        let halves = self.0[band].chunks(BLOCKS).map(|blocks| {
            let sums = blocks
                .iter()
                .map(sum)
                .filter(|[_, count]| *count >= LEAST_VALUES);
            sums.map(|[sum, count]| sum / count).collect::<Vec<f64>>()
        });
        let halves: Vec<Vec<f64>> = halves.collect();
        if halves.iter().any(|means| means.len() < BLOCKS) {
            return 0.0;
        }
        let mean = |means: &[f64]| means.iter().sum::<f64>() / means.len() as f64;
        let variance = |means: &[f64]| {
            let middle = mean(means);
            let squares = means.iter().map(|m| (m - middle).powi(2)).sum::<f64>();
            squares / (means.len() - 1) as f64 / means.len() as f64
        };
        let change = mean(&halves[1]) - mean(&halves[0]);
        let error = (variance(&halves[0]) + variance(&halves[1])).sqrt();
        if change.abs() > LARGEST_T * error {
            change
        } else {
            0.0
        }
    }
}
