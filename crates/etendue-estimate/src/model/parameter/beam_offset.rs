//! Offsets of single beams or channels.

use super::family::{DerivativeSeed, FitParameter};
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use crate::sensor::SensorInputs;
use etendue_physics::Scalar;
use std::ops::Range;

/// `sensor.beams.N.KIND`, or `sensor.channels.N.KIND` of a scanner, with the kinds `azimuth_offset`
/// (rad), `elevation_offset` (rad) and `range_offset` (m); `*` names all beams or channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamOffset {
    /// Number of the beam or channel.
    pub line: usize,
    /// Quantity that the offset is added to.
    pub kind: OffsetKind,
}

/// Quantity that an offset is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetKind {
    /// Azimuth, rad.
    Azimuth,
    /// Elevation, rad.
    Elevation,
    /// Reported range, m.
    Range,
}

const KINDS: [(&str, OffsetKind); 3] = [
    ("azimuth_offset", OffsetKind::Azimuth),
    ("elevation_offset", OffsetKind::Elevation),
    ("range_offset", OffsetKind::Range),
];

impl FitParameter for BeamOffset {
    fn paths(model: &Model) -> Vec<String> {
        let lines = model.sensor().lines_name();
        KINDS
            .map(|(name, _)| format!("sensor.{lines}.*.{name}"))
            .into()
    }

    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        let lines = model.sensor().lines_name();
        let inner = path.strip_prefix("sensor.")?.strip_prefix(lines)?;
        let (index, name) = inner.strip_prefix('.')?.rsplit_once('.')?;
        let &(_, kind) = KINDS.iter().find(|(known, _)| *known == name)?;
        let named = |line| {
            let path = format!("sensor.{lines}.{line}.{name}");
            (path, Self { line, kind })
        };
        let indices = indices(index, model.sensor().lines())?;
        Some(indices.map(named).collect())
    }

    fn value(&self, _: &Model) -> VariableValue<f64> {
        VariableValue::Number(0.0)
    }

    /// Adds the offset as a plain number: its derivatives follow from those of the pose.
    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let VariableValue::Number(number) = value else {
            return;
        };
        let offset = number.value();
        match (self.kind, &mut inputs.sensor) {
            (OffsetKind::Azimuth, sensor) => sensor.rotate_line(self.line, offset, 0.0),
            (OffsetKind::Elevation, sensor) => sensor.rotate_line(self.line, 0.0, offset),
            (OffsetKind::Range, SensorInputs::Scanner(scanner)) => {
                scanner.range_offsets[self.line] += offset;
            }
            (OffsetKind::Range, SensorInputs::ContinuousWave(_)) => {
                inputs.range_offsets.push((self.line, offset));
            }
        }
    }

    fn seed(&self) -> DerivativeSeed {
        match self.kind {
            OffsetKind::Azimuth => DerivativeSeed::LineAzimuth(self.line),
            OffsetKind::Elevation => DerivativeSeed::LineElevation(self.line),
            OffsetKind::Range => DerivativeSeed::LineRange(self.line),
        }
    }
}

/// Indices below `count` that an element of a path names: one, or all where it is `*`.
pub(super) fn indices(element: &str, count: usize) -> Option<Range<usize>> {
    if element == "*" {
        return Some(0..count);
    }
    let index: usize = element.parse().ok().filter(|n| *n < count)?;
    Some(index..index + 1)
}
