//! Stop-and-go drive through a corridor.

mod bias_evaluation;
mod drive;
mod losses;
mod settings;
mod splits;
mod verdicts;

pub use bias_evaluation::{BiasBin, bias_by_incidence};
pub use drive::{CorridorDrive, TrueReading, drive};
pub use losses::{LearningPoses, LossRow, STOPS_OF_LOSSES, curve_rms, losses};
pub use settings::{CorridorBias, CorridorSettings, ExperimentError};
pub use splits::{AS_BUILT, MeanDrift, ROWS, SplitRow, as_built, models, splits};
pub use verdicts::{DriveBias, VerdictCase, VerdictRow, verdict_cases, verdicts};
