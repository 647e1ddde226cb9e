//! Offsets of the azimuth, elevation and range of beams and channels.

use super::family::{DerivativeSeed, FitParameter};
use crate::manifold::VariableValue;
use crate::model::{BeamGroup, Model, SimulatorInputs};
use etendue_physics::Scalar;
use std::ops::Range;

/// Offset of the beams of a group.
///
/// Paths: `sensor.beams.N.KIND` of one beam and `sensor.channels.N.KIND` of all beams of a channel,
/// with the kinds `azimuth_offset` (rad), `elevation_offset` (rad) and `range_offset` (m); `*`
/// matches all beams or channels. N is the number of the beam in the complete scan, also in a model
/// whose scans are thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BeamOffset {
    /// Beams with the offset.
    pub group: BeamGroup,
    /// Quantity that the offset is added to.
    pub kind: OffsetKind,
}

/// Quantity that an offset is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetKind {
    /// Azimuth, rad.
    Azimuth,
    /// Elevation, rad.
    Elevation,
    /// Reported range, m.
    Range,
}

/// Kinds of offset by their name in paths.
const KINDS: [(&str, OffsetKind); 3] = [
    ("azimuth_offset", OffsetKind::Azimuth),
    ("elevation_offset", OffsetKind::Elevation),
    ("range_offset", OffsetKind::Range),
];

/// Constructor of a group of beams from its index.
type GroupOf = fn(usize) -> BeamGroup;

/// Groups of beams by their name in paths.
const GROUPS: [(&str, GroupOf); 2] = [("beams", BeamGroup::Beam), ("channels", BeamGroup::Channel)];

/// Number of groups of a kind in a model.
fn count(model: &Model, group: GroupOf) -> usize {
    match group(0) {
        BeamGroup::Beam(_) => model.most_complete_beams(),
        BeamGroup::Channel(_) => model.lidar().channels.len(),
    }
}

impl FitParameter for BeamOffset {
    fn paths(_: &Model) -> Vec<String> {
        let of_group = |(groups, _)| KINDS.map(|(name, _)| format!("sensor.{groups}.*.{name}"));
        GROUPS.into_iter().flat_map(of_group).collect()
    }

    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        let (groups, inner) = path.strip_prefix("sensor.")?.split_once('.')?;
        let (index, name) = inner.rsplit_once('.')?;
        let &(_, group) = GROUPS.iter().find(|(known, _)| *known == groups)?;
        let &(_, kind) = KINDS.iter().find(|(known, _)| *known == name)?;
        let named = |number| {
            let path = format!("sensor.{groups}.{number}.{name}");
            let group = group(number);
            (path, Self { group, kind })
        };
        let indices = indices(index, count(model, group))?;
        Some(indices.map(named).collect())
    }

    fn value(&self, _: &Model) -> VariableValue<f64> {
        VariableValue::Number(0.0)
    }

    /// Adds the offset without derivatives, which follow from those by the pose of the sensor.
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
        for sweep in &mut inputs.sensor.sweeps {
            match self.kind {
                OffsetKind::Azimuth => sweep.rotate(self.group, offset, 0.0),
                OffsetKind::Elevation => sweep.rotate(self.group, 0.0, offset),
                OffsetKind::Range => sweep.offset_ranges(self.group, offset),
            }
        }
    }

    fn seed(&self) -> DerivativeSeed {
        match self.kind {
            OffsetKind::Azimuth => DerivativeSeed::Azimuth(self.group),
            OffsetKind::Elevation => DerivativeSeed::Elevation(self.group),
            OffsetKind::Range => DerivativeSeed::Range(self.group),
        }
    }
}

/// Indices below `count` of an element of a path: one index, or all for `*`.
pub(super) fn indices(element: &str, count: usize) -> Option<Range<usize>> {
    if element == "*" {
        return Some(0..count);
    }
    let index: usize = element.parse().ok().filter(|n| *n < count)?;
    Some(index..index + 1)
}
