//! Contents of the pictures of an experiment.

use super::localise::{LocaliseRow, LocaliseSettings};
use super::table::FigureLine;
use super::track_mirror::{MirrorRow, TrackSettings};
use etendue_estimate::fit::FitProblem;
use etendue_estimate::model::upright;
use etendue_scene::SceneBuilder;
use nalgebra::{Isometry2, Isometry3};

/// Start, iterations and result in the scene from above.
#[derive(Clone, Debug)]
pub struct ArenaView {
    /// Name of the file.
    pub name: String,
    /// Heading.
    pub title: String,
    /// Line below the heading.
    pub subtitle: String,
    /// Scene at the start and with the result.
    pub parts: [SceneBuilder; 2],
    /// Poses of the sensor at the start and with the result.
    pub sensors: [Vec<Isometry3<f64>>; 2],
    /// Measured points in the world by the poses of the start and of the result, m.
    pub points: [Vec<[f64; 2]>; 2],
    /// Positions of the estimated pose after each iteration, m.
    pub tracks: Vec<Vec<[f64; 2]>>,
}

/// Lines over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFigure {
    /// Name of the file.
    pub name: String,
    /// Heading.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x: String,
    /// Label of the y axis with its unit.
    pub y: String,
    /// Whether points are joined.
    pub joined: bool,
    /// Lines.
    pub lines: Vec<FigureLine>,
}

impl ArenaView {
    /// View of a localisation (figures 6 and 7 of the paper).
    pub(super) fn of_localise(
        settings: &LocaliseSettings,
        problem: &FitProblem,
        row: &LocaliseRow,
    ) -> Self {
        let sensors = [&row.start, &row.found].map(|pose| vec![upright(pose)]);
        Self {
            name: "scene".into(),
            title: "Localising the sensor".into(),
            subtitle: format!(
                "{} iterations, error {:.1e} (m and rad together), noise {:.0} mm",
                row.errors.len(),
                row.error,
                1e3 * settings.sigma
            ),
            parts: [problem.model.parts().clone(), problem.model.parts().clone()],
            points: [0, 1].map(|side: usize| problem.points(&sensors[side])),
            sensors,
            tracks: vec![track(&row.start, &row.path)],
        }
    }

    /// View of the tracking of a mirror (figure 8).
    pub(super) fn of_mirror(
        settings: &TrackSettings,
        problem: &FitProblem,
        row: &MirrorRow,
    ) -> Self {
        let sensor = vec![Isometry3::identity()];
        Self {
            name: "scene".into(),
            title: "Tracking a mirror".into(),
            subtitle: format!(
                "{} iterations, error {:.2} mm along the normal, {:.2} mm along the mirror, \
                 {:.2} mrad, noise {:.0} mm",
                row.iterations,
                1e3 * row.error.normal,
                1e3 * row.error.tangential,
                1e3 * row.error.yaw,
                1e3 * settings.sigma
            ),
            parts: [&row.start, &row.found].map(|pose| settings.parts(pose)),
            points: [Vec::new(), problem.points(&sensor)],
            sensors: [sensor.clone(), sensor],
            tracks: vec![track(&row.start, &row.path)],
        }
    }
}

fn track(start: &Isometry2<f64>, path: &[Isometry2<f64>]) -> Vec<[f64; 2]> {
    let poses = std::iter::once(start).chain(path);
    poses
        .map(|pose| [pose.translation.x, pose.translation.y])
        .collect()
}
