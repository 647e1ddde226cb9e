//! The experiments of Heiden et al. 2019, section IV (arXiv:1912.01652), next to registration
//! baselines: functions that return tables.
//!
//! The arena is 1.85 x 0.92 m with walls 0.28 m high and reflectance 0.8; the lidar is a Hokuyo
//! URG-04LX with 682 beams and three rays per beam. Errors of a pose are SE(2) distances
//! $\sqrt{\Delta x^2 + \Delta y^2 + \Delta\psi^2}$ with the yaw in rad.

mod baselines;
mod checkerboard;
mod localise;
mod measurements;
mod run;
mod scene;
mod starts;
mod table;
mod track_mirror;
mod view;

pub use baselines::{BaselineRow, run_baselines, scan_points};
pub use checkerboard::{BoardEstimate, BoardReport, BoardSettings, checkerboard};
pub use localise::{
    LocaliseRow, LocaliseSettings, NoiseRow, localise, localise_anywhere, localise_many,
    localise_noise,
};
pub use measurements::{first_pose, pose_error, readings};
pub use run::{ArenaExperiment, ExperimentEffort, ExperimentResults};
pub use scene::{Furniture, arena, upright_board, urg_04lx};
pub use starts::{
    NamedSolver, StartCounts, arena_settings, arena_starts, count_arena_ends, count_mirrors_found,
    default_solvers, starts_tables,
};
pub use table::{FigureLine, ResultCell, ResultTable};
pub use track_mirror::{MirrorError, MirrorRow, TrackSettings, track_mirror, track_mirror_many};
pub use view::{ArenaView, LineFigure};
