//! Tables of the experiments on depth correction.

use etendue_experiments::arena::{ResultCell, ResultTable};
use etendue_experiments::depth::board::BoardErrorRow;
use etendue_experiments::depth::corridor::{
    BiasBin, LearningPoses, LossRow, MeanDrift, STOPS_OF_LOSSES, SplitRow, VerdictRow,
};

/// Coefficients of the known bias over the second and fourth power of the incidence.
pub const KNOWN_BIAS: [f64; 2] = [0.004, 0.008];
/// Sweeps at each angle of the board.
pub const SWEEPS: u32 = 4;

/// Losses before and after learning a known bias.
pub fn loss_table(rows: &[LossRow]) -> ResultTable {
    let mut table = ResultTable::new(
        format!(
            "A known bias {} g^2 + {} g^4 with 1 cm of noise, from {STOPS_OF_LOSSES} stops",
            KNOWN_BIAS[0], KNOWN_BIAS[1]
        ),
        &["loss", "poses", "loss fell by, %", "bias curve rms, mm"],
    );
    for row in rows {
        let poses = match row.poses {
            LearningPoses::True => "true",
            LearningPoses::Noisy => "noisy, fixed",
            LearningPoses::Learnt => "noisy, estimated",
        };
        table.push(vec![
            format!("{:?}", row.loss).as_str().into(),
            poses.into(),
            (row.reduction * 1e2).into(),
            (row.curve_rms * 1e3).into(),
        ]);
    }
    table
}

/// Results of every split.
pub fn split_table(rows: &[SplitRow]) -> ResultTable {
    // Columns
    let mut table = ResultTable::new(
        "Bias of the receiver: four splits",
        &[
            "split",
            "correction",
            "remaining bias, mm",
            "held-out map rms, mm",
            "held-out SLAM, deg",
            "held-out SLAM, mm",
            "whole corridor, deg",
            "whole corridor, mm",
        ],
    );

    // One row per split and correction
    for row in rows {
        table.push(vec![
            row.split.into(),
            row.name.into(),
            (row.residual_bias * 1e3).into(),
            (row.map_rms * 1e3).into(),
            row.held_out.rotation.to_degrees().into(),
            (row.held_out.translation * 1e3).into(),
            row.whole.rotation.to_degrees().into(),
            (row.whole.translation * 1e3).into(),
        ]);
    }
    table
}

/// Mean of a column over the splits.
pub fn mean(rows: &[SplitRow], name: &str, column: impl Fn(&SplitRow) -> f64) -> f64 {
    let of_name = rows.iter().filter(|row| row.name == name).map(column);
    let (sum, count) = of_name.fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    sum / count
}

/// Names of the rows of one split.
pub fn names(rows: &[SplitRow]) -> Vec<&'static str> {
    rows.iter()
        .filter(|row| row.split == 0)
        .map(|row| row.name)
        .collect()
}

/// Means over the splits by correction, with the drift of SLAM.
pub fn mean_table(
    rows: &[SplitRow],
    title: &str,
    of: impl Fn(&SplitRow) -> MeanDrift,
) -> ResultTable {
    // Columns
    let mut table = ResultTable::new(
        title,
        &[
            "correction",
            "remaining bias, mm",
            "held-out map rms, mm",
            "rotation, deg",
            "translation, mm",
            "rotation improvement, %",
            "translation improvement, %",
        ],
    );

    // One row per correction
    let rotation = |row: &SplitRow| of(row).rotation;
    let translation = |row: &SplitRow| of(row).translation;
    for name in names(rows) {
        table.push(vec![
            name.into(),
            (mean(rows, name, |r| r.residual_bias) * 1e3).into(),
            (mean(rows, name, |r| r.map_rms) * 1e3).into(),
            mean(rows, name, rotation).to_degrees().into(),
            (mean(rows, name, translation) * 1e3).into(),
            improvement(rows, name, rotation).into(),
            improvement(rows, name, translation).into(),
        ]);
    }
    table
}

/// Improvement of the mean of a column over that without correction, %.
fn improvement(rows: &[SplitRow], name: &str, column: impl Fn(&SplitRow) -> f64) -> f64 {
    100.0 * (1.0 - mean(rows, name, &column) / mean(rows, "none", &column))
}

/// Rows of the first split.
pub fn first_split(rows: &[SplitRow]) -> impl Iterator<Item = &SplitRow> {
    rows.iter().filter(|row| row.split == 0)
}

/// Smallest number of measurements of a printed bin.
pub const FEWEST_READINGS: usize = 50;

/// Bias by incidence, true and of the models of the first split.
pub fn bias_table(bins: &[BiasBin], rows: &[SplitRow]) -> ResultTable {
    let learnt = first_split(rows).filter(|row| row.model.is_some());
    let mut columns = vec!["incidence, deg", "measurements", "true bias, mm"];
    columns.extend(learnt.map(|row| row.name));
    let mut table = ResultTable::new(
        "Bias of the receiver by incidence: means over measurements of planes, and corrections by the \
         models of the first split, mm",
        &columns,
    );
    for bin in bins.iter().filter(|bin| bin.readings >= FEWEST_READINGS) {
        let mut cells: Vec<ResultCell> = vec![
            bin.incidence.to_degrees().into(),
            bin.readings.into(),
            (bin.truth * 1e3).into(),
        ];
        cells.extend(
            bin.corrections
                .iter()
                .map(|correction| ResultCell::from(correction * 1e3)),
        );
        table.push(cells);
    }
    table
}

/// Depth errors of the board.
pub fn board_table(lidar: &str, rows: &[BoardErrorRow]) -> ResultTable {
    // Columns
    let mut table = ResultTable::new(
        format!("{lidar}: a board of 0.5 x 1.15 m, {SWEEPS} sweeps per angle"),
        &[
            "side",
            "distance, m",
            "incidence, deg",
            "points",
            "behind the face, mm",
            "depth error, mm",
            "corrected, mm",
        ],
    );

    // One row per side and angle of the board
    for row in rows {
        table.push(vec![
            row.side.into(),
            row.distance.into(),
            row.angle.to_degrees().round().into(),
            row.points.into(),
            (row.offset * 1e3).into(),
            (row.depth_error * 1e3).into(),
            row.corrected
                .map_or(ResultCell::Text("-".into()), |c| (c * 1e3).into()),
        ]);
    }
    table
}

/// Last cell of a model that is usable and worse than no correction.
pub const MISLEADING: &str = "misleading";

/// Verdicts compared with the truth, one row per model of a drive.
pub fn verdict_table(rows: &[VerdictRow]) -> ResultTable {
    // Columns
    let mut table = ResultTable::new(
        "Verdicts: held-out blocks of the training, and the truth at other stops",
        &[
            "seed",
            "bias",
            "pose noise, mm",
            "model",
            "verdict",
            "held-out loss, %",
            "missed, %",
            "thickness, mm",
            "map rms, mm",
            "remaining bias, mm",
            "first reason",
            "truth",
        ],
    );

    // One row per model
    let pair = |values: [f64; 2]| format!("{:.2} -> {:.2}", values[0] * 1e3, values[1] * 1e3);
    for row in rows {
        let tested = &row.tested;
        let held_out = tested.hold_out.as_ref().map_or(String::new(), |h| {
            format!(
                "{:+.1} +- {:.1}",
                -h.improvement() * 1e2,
                h.improvement_sd * 1e2
            )
        });
        let missed = tested.hold_out.as_ref().and_then(|h| {
            let missed = h.missed()?;
            Some(format!("{:.0} +- {:.0}", missed * 1e2, h.missed_sd * 1e2))
        });
        let missed = missed.unwrap_or_default();
        let reason = tested.verdict.reasons().first();
        let reason = reason.map_or(String::new(), ToString::to_string);
        let verdict = if tested.verdict.is_usable() {
            "usable"
        } else {
            "not determined"
        };
        let truth = match (row.is_misleading(), row.is_worse()) {
            (true, _) => MISLEADING,
            (false, true) => "worse",
            (false, false) => "better",
        };
        table.push(vec![
            format!("{}", row.case.seed).as_str().into(),
            format!("{:?}", row.case.bias).as_str().into(),
            (row.case.pose_noise[0] * 1e3).into(),
            row.model.into(),
            verdict.into(),
            held_out.as_str().into(),
            missed.as_str().into(),
            pair(row.thickness).as_str().into(),
            pair(row.map).as_str().into(),
            pair(row.bias).as_str().into(),
            reason.as_str().into(),
            truth.into(),
        ]);
    }
    table
}
