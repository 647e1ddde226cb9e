//! Results of shots from another processor.

use crate::transport::LightReturn;
use etendue_physics::surface::{PreparedMaterial, Side};
use etendue_scene::{Hit, MaterialId, ObjectId};
use nalgebra::{Point3, Vector3};

/// The result of one shot of a [`DirectSweep`](super::DirectSweep).
#[derive(Clone, Debug, PartialEq)]
pub struct DirectShot {
    /// The first surface on the axis of the beam, with or without an echo; the host finds that of a [plain](DirectEcho::Plain) shot if there
    /// is none.
    pub surface: Option<DirectSurface>,
    /// The echo.
    pub echo: DirectEcho,
    /// The other reported echoes of a shot with a return, in the order of the report.
    pub further: Vec<DirectReturn>,
    /// All light of a shot of a phase receiver, with or without a range.
    pub light: DirectLight,
    /// Power of the ambient light, 1/(m² sr); 0 without any.
    pub ambient: f64,
}

/// All light of a shot of a phase receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectLight {
    /// Power, 1/(m² sr).
    pub power: f64,
    /// Number of separate surfaces that returned light, at most 8.
    pub surfaces: u16,
}

/// The first surface on a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectSurface {
    /// Its distance, m.
    pub distance: f64,
    /// The object.
    pub object: ObjectId,
    /// The material.
    pub material: MaterialId,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
}

/// The echo of a shot.
#[derive(Clone, Debug, PartialEq)]
pub enum DirectEcho {
    /// None within the range limits.
    None,
    /// One below the nearest range.
    TooNear,
    /// The device's code of the reason for a missing range.
    Error(u8),
    /// A return.
    Return(DirectReturn),
    /// To be simulated by the plain pipeline.
    Plain,
    /// The light of surfaces, to which the host applies the receiver.
    Light(Vec<DirectLightReturn>),
}

/// Light that returns from one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectLightReturn {
    /// The object.
    pub object: ObjectId,
    /// Index of the triangle in the object's mesh.
    pub triangle: u32,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
    /// Side of the surface.
    pub side: Side,
    /// Length of the one-way path, m.
    pub range: f64,
    /// Length of the one-way optical path, m.
    pub optical_range: f64,
    /// The ray's share of the power of the beam times the squared throughput of the one-way path.
    pub share: f64,
}

/// A reported echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectReturn {
    /// Reported range, m.
    pub range: f64,
    /// Reported intensity, counts.
    pub intensity: f64,
    /// Peak power, 1/(m² sr).
    pub power: f64,
    /// Width of the echo over that of a single return.
    pub stretch: f64,
    /// Radial velocity, m/s, of receivers that measure it.
    pub velocity: Option<f64>,
    /// The surface that contributed most of its light; `None` for none within the pulse's length.
    pub source: Option<DirectSurface>,
}

impl DirectLightReturn {
    /// The surface, as far as it is known.
    pub(super) fn hit(&self) -> Hit {
        Hit {
            distance: self.range,
            object: self.object,
            triangle: self.triangle,
            barycentric: [0.0; 2],
            normal: Vector3::zeros(),
        }
    }

    /// The light of the whole beam along a path without losses.
    pub(super) fn light_return(
        &self,
        id: MaterialId,
        material: &PreparedMaterial<f64>,
    ) -> LightReturn<f64> {
        let scattered = material.backscatter(self.cos_incidence, self.side) * self.cos_incidence;
        LightReturn {
            range: self.range,
            optical_range: self.optical_range,
            power: scattered / (self.range * self.range),
            throughput: 1.0,
            cos_incidence: self.cos_incidence,
            point: Point3::origin(),
            arrival: Vector3::zeros(),
            depth: 1,
            scatterings: 1,
            hit: self.hit(),
            material: id,
        }
    }
}
