//! Counts of outcomes, and coverage of the stated intervals.

use super::outcome::{Outcome, RecordingOutcome};
use super::setup::RecordingKind;
use etendue_calibrate::noise::truth::Quantity;
use std::fmt::Write as _;

/// Counts of the outcomes of one kind of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// The kind.
    pub kind: RecordingKind,
    /// Good and right.
    pub right: usize,
    /// Doubtful.
    pub doubtful: usize,
    /// Refused.
    pub refused: usize,
    /// Good but wrong.
    pub wrong: usize,
}

/// Coverage of the 95 % intervals of a quantity over the good recordings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The quantity.
    pub quantity: Quantity,
    /// Number of figures.
    pub figures: usize,
    /// Fraction of the figures whose 95 % interval contains the truth.
    pub covered: f64,
}

/// Outcomes of many recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationTable {
    /// Counts by kind.
    pub rows: Vec<KindRow>,
    /// Coverage by quantity.
    pub coverage: Vec<Coverage>,
}

/// Half width of a 95 % interval in standard errors.
const HALF_95: f64 = 1.96;

impl CalibrationTable {
    /// Table of outcomes.
    pub fn of(outcomes: &[RecordingOutcome]) -> Self {
        let row = |kind: RecordingKind| {
            let count = |outcome: Outcome| {
                let of_kind = outcomes.iter().filter(|one| one.kind == kind);
                of_kind.filter(|one| one.outcome == outcome).count()
            };
            KindRow {
                kind,
                right: count(Outcome::Right),
                doubtful: count(Outcome::Doubtful),
                refused: count(Outcome::Refused),
                wrong: count(Outcome::Wrong),
            }
        };
        let is_good =
            |one: &&RecordingOutcome| matches!(one.outcome, Outcome::Right | Outcome::Wrong);
        let good = outcomes.iter().filter(is_good);
        let coverage = |quantity: Quantity| {
            let figures = good.clone().flat_map(|one| &one.figures);
            let of_quantity = figures.filter(|figure| figure.quantity == quantity);
            let all = of_quantity.clone().count();
            let covered = of_quantity.filter(|figure| figure.normalised().abs() <= HALF_95);
            Coverage {
                quantity,
                figures: all,
                covered: covered.count() as f64 / all.max(1) as f64,
            }
        };
        let quantities = [
            Quantity::Distance,
            Quantity::Bias,
            Quantity::Spread,
            Quantity::DropOut,
        ];
        Self {
            rows: RecordingKind::ALL.map(row).to_vec(),
            coverage: quantities.map(coverage).to_vec(),
        }
    }

    /// Number of recordings with an outcome.
    pub fn total(&self, outcome: Outcome) -> usize {
        let of = |row: &KindRow| match outcome {
            Outcome::Right => row.right,
            Outcome::Doubtful => row.doubtful,
            Outcome::Refused => row.refused,
            Outcome::Wrong => row.wrong,
        };
        self.rows.iter().map(of).sum()
    }

    /// Fraction of the good recordings that are wrong.
    pub fn wrong_fraction(&self) -> f64 {
        let wrong = self.total(Outcome::Wrong);
        wrong as f64 / (wrong + self.total(Outcome::Right)).max(1) as f64
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| recordings | right | doubtful | refused | wrong but good |\n|---|---|---|---|---|\n",
        );
        for row in &self.rows {
            let name = row.kind.name();
            let [a, b, c, d] = [row.right, row.doubtful, row.refused, row.wrong];
            _ = writeln!(text, "| {name} | {a} | {b} | {c} | {d} |");
        }
        let all = [
            Outcome::Right,
            Outcome::Doubtful,
            Outcome::Refused,
            Outcome::Wrong,
        ];
        let [a, b, c, d] = all.map(|outcome| self.total(outcome));
        _ = writeln!(text, "| all | {a} | {b} | {c} | {d} |");
        _ = writeln!(
            text,
            "\n| 95 % interval of | figures | covered |\n|---|---|---|"
        );
        for coverage in &self.coverage {
            let name = match coverage.quantity {
                Quantity::Distance => "distance",
                Quantity::Bias => "bias",
                Quantity::Spread => "spread",
                Quantity::DropOut => "drop-out",
            };
            let covered = 1e2 * coverage.covered;
            _ = writeln!(text, "| {name} | {} | {covered:.1} % |", coverage.figures);
        }
        text
    }
}
