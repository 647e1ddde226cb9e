//! Pictures of depth models and of the maps that they are learnt from.

use super::bias_chart::BiasChart;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::view::layers::{LayerPanels, PanelLayer};
use etendue::calibrate::depth::features::MaskOutcome;
use etendue::calibrate::depth::train::TrainingResult;
use etendue::calibrate::depth::{DepthMap, DepthModel};
use etendue::config::depth_model::LearntModel;
use etendue_plot::{Color, palette};
use nalgebra::{DVector, Point3, Vector3};

/// Adds the bias curve with its interval and the incidences of its data.
pub fn add_curve(folder: &mut Folder, learnt: &LearntModel) -> Result<(), Failure> {
    let depth = learnt.learnt.as_ref().map_or(5.0, |l| l.depth);
    let point = |degree: i32| {
        let incidence = f64::from(degree).to_radians();
        let bias = learnt.model.bias(depth, incidence) * 1e3;
        [
            f64::from(degree),
            bias,
            deviation(learnt, depth, incidence) * 1e3,
        ]
    };
    let of_learnt = learnt.learnt.as_ref();
    let chart = BiasChart {
        title: &format!("Bias at a depth of {depth:.1} m"),
        subtitle: of_learnt.map_or("", |l| &l.verdict),
        curve: (0..=85).map(point).collect(),
        seen: of_learnt.map(|l| l.seen.map(f64::to_degrees)),
        counts: of_learnt.map_or(&[], |l| &l.incidences),
    };
    folder.picture("bias-curve", &chart.draw())
}

/// Standard deviation of the bias, m; infinite for a model that was not learnt.
fn deviation(learnt: &LearntModel, depth: f64, incidence: f64) -> f64 {
    let Some(of) = &learnt.learnt else {
        return f64::INFINITY;
    };
    let mut slopes = vec![0.0; learnt.model.weight_count()];
    learnt
        .model
        .correct_with_slopes(depth, incidence, &mut slopes);
    let slopes = DVector::from_vec(slopes);
    slopes.dot(&(&of.covariance * &slopes)).max(0.0).sqrt()
}

/// Adds the map by the masks of its neighbourhoods, and from the side before and after correction.
pub fn add_map(
    folder: &mut Folder,
    map: &DepthMap,
    trained: &TrainingResult,
) -> Result<(), Failure> {
    let points = map.measured_points();
    folder.picture("masks", &masks(map, &points))?;
    let before: Vec<_> = points.iter().map(|p| [p.x, p.z]).collect();
    let after = corrected(map, &trained.model, trained);
    let after = after.iter().map(|p| [p.x, p.z]).collect();
    folder.picture("side", &side(before, after))
}

fn corrected(map: &DepthMap, model: &DepthModel, trained: &TrainingResult) -> Vec<Vector3<f64>> {
    let world_point = |m: &etendue::calibrate::depth::DepthMeasurement| {
        let point = m.origin + m.direction * model.correct(m.depth, m.incidence);
        (trained.world_from_lidar[m.pose] * Point3::from(point)).coords
    };
    map.measurements().iter().map(world_point).collect()
}

const VERDICTS: [(MaskOutcome, &str, Color); 6] = [
    (MaskOutcome::Few, "too few neighbours", Color::hex(0xD0021B)),
    (MaskOutcome::Thick, "not flat", Color::hex(0xE69F00)),
    (MaskOutcome::Long, "a line", Color::hex(0xB8A800)),
    (MaskOutcome::Bent, "normals disagree", Color::hex(0xCC79A7)),
    (
        MaskOutcome::OneSided,
        "seen from one position",
        Color::hex(0x56B4E9),
    ),
    (MaskOutcome::Kept, "used", Color::hex(0x4B0082)),
];

/// Centres of neighbourhoods from above, by the first mask that excludes them.
pub fn masks(map: &DepthMap, points: &[Vector3<f64>]) -> etendue_plot::Drawing {
    let layer = |(verdict, name, color): (MaskOutcome, &str, Color)| {
        let both = points.iter().zip(map.mask_outcomes());
        let of_it = both.filter(|(_, found)| **found == Some(verdict));
        let points = of_it.map(|(p, _)| [p.x, p.y]).collect();
        PanelLayer::points(name, color, points)
    };
    LayerPanels {
        title: "Neighbourhoods by mask",
        subtitle: "centres of neighbourhoods from above, by the first mask that excludes them",
        axes: ["x, m", "y, m"],
        to_scale: true,
        panels: vec![(String::new(), VERDICTS.map(layer).to_vec())],
    }
    .draw()
}

fn side(before: Vec<[f64; 2]>, after: Vec<[f64; 2]>) -> etendue_plot::Drawing {
    LayerPanels {
        title: "The map from the side",
        subtitle: "vertical scale exaggerated",
        axes: ["x, m", "z, m"],
        to_scale: false,
        panels: vec![
            (
                "as measured".into(),
                vec![PanelLayer::points("measured", palette::ALERT, before)],
            ),
            (
                "corrected".into(),
                vec![PanelLayer::points("corrected", Color::hex(0x0072B2), after)],
            ),
        ],
    }
    .draw()
}
