//! Lights in a camera's bands.

use super::bands::Bands;
use super::error::CameraWorldError;
use super::model::Band;
use etendue_physics::Spectrum;
use etendue_physics::light::{SkyDome, colour_at};
use etendue_scene::lighting::{AreaLamp, Environment, EnvironmentMap, Light, Lighting, SpotLamp};
use nalgebra::{Point3, Vector3};
use std::f64::consts::{PI, TAU};

/// A light with its power in each band.
#[derive(Clone, Debug)]
pub(super) enum Lamp<const N: usize> {
    Sun {
        to_sun: Vector3<f64>,
        irradiance: Bands<N>,
        half_angle: f64,
    },
    Point {
        position: Point3<f64>,
        intensity: Bands<N>,
        spot: Option<SpotLamp>,
    },
    Area {
        lamp: AreaLamp,
        radiance: Bands<N>,
    },
}

/// What is seen where there is no surface, in each band.
#[derive(Clone, Debug)]
pub(super) enum Backdrop<const N: usize> {
    Dark,
    Uniform(Bands<N>),
    Sky {
        dome: SkyDome,
        irradiance: Bands<N>,
        ground: Bands<N>,
    },
    Map {
        map: std::sync::Arc<EnvironmentMap>,
        bands: [Band; N],
    },
}

/// Light that arrives at a point from a direction, were nothing in its way.
pub(super) struct Arriving<const N: usize> {
    /// Unit, from the point.
    pub towards: Vector3<f64>,
    /// How far away its source is, m.
    pub distance: f64,
    /// Irradiance on a surface that faces it; for a source of directions, radiance over the
    /// density that the direction was drawn with.
    pub irradiance: Bands<N>,
}

fn in_bands<const N: usize>(
    what: &'static str,
    spectrum: &Spectrum,
    bands: &[Band; N],
) -> Result<Bands<N>, CameraWorldError> {
    let mut values = Bands::<N>::zeros();
    for (value, band) in values.iter_mut().zip(bands) {
        let density = spectrum
            .at(band.wavelength)
            .map_err(|source| CameraWorldError::Light {
                light: what,
                source,
            })?;
        *value = density * band.width;
    }
    Ok(values)
}

impl<const N: usize> Lamp<N> {
    pub fn all(lighting: &Lighting, bands: &[Band; N]) -> Result<Vec<Self>, CameraWorldError> {
        lighting
            .lights
            .iter()
            .map(|light| Self::new(light, bands))
            .collect()
    }

    fn new(light: &Light, bands: &[Band; N]) -> Result<Self, CameraWorldError> {
        Ok(match light {
            Light::Sun(sun) => Self::Sun {
                to_sun: sun.to_sun,
                irradiance: in_bands("sun", &sun.irradiance, bands)?,
                half_angle: sun.half_angle,
            },
            Light::Point(lamp) => Self::Point {
                position: lamp.position,
                intensity: in_bands("point lamp", &lamp.intensity, bands)?,
                spot: None,
            },
            Light::Spot(lamp) => Self::Point {
                position: lamp.position,
                intensity: in_bands("spot lamp", &lamp.intensity, bands)?,
                spot: Some(lamp.clone()),
            },
            Light::Area(lamp) => Self::Area {
                lamp: lamp.clone(),
                radiance: in_bands("area lamp", &lamp.radiance, bands)?,
            },
        })
    }

    /// Whether its light arrives from more than one direction.
    pub fn is_wide(&self) -> bool {
        match self {
            Self::Sun { half_angle, .. } => *half_angle > 0.0,
            Self::Point { .. } => false,
            Self::Area { .. } => true,
        }
    }

    /// Light that arrives at `point`, given two uniform numbers; `None` where there is none.
    pub fn arriving(&self, point: &Point3<f64>, uniform: [f64; 2]) -> Option<Arriving<N>> {
        match self {
            Self::Sun {
                to_sun,
                irradiance,
                half_angle,
            } => Some(Arriving {
                towards: in_cone(to_sun, *half_angle, uniform),
                distance: f64::INFINITY,
                irradiance: *irradiance,
            }),
            Self::Point {
                position,
                intensity,
                spot,
            } => {
                let away = position - point;
                let distance = away.norm();
                let towards = away / distance;
                let share = spot.as_ref().map_or(1.0, |spot| spot.share(&-towards));
                (share > 0.0).then(|| Arriving {
                    towards,
                    distance,
                    irradiance: intensity * (share / (distance * distance)),
                })
            }
            Self::Area { lamp, radiance } => {
                let away = lamp.point(uniform) - point;
                let distance = away.norm();
                let towards = away / distance;
                let cos = -towards.dot(&lamp.normal());
                (cos > 0.0).then(|| Arriving {
                    towards,
                    distance,
                    irradiance: radiance * (lamp.area() * cos / (distance * distance)),
                })
            }
        }
    }

    /// Radiance of the lamp itself along a ray, nearer than `far`.
    pub fn seen(&self, origin: &Point3<f64>, direction: &Vector3<f64>, far: f64) -> Bands<N> {
        match self {
            Self::Area { lamp, radiance } => match lamp.meet(origin, direction) {
                Some(distance) if distance < far => *radiance,
                _ => Bands::zeros(),
            },
            _ => Bands::zeros(),
        }
    }

    /// About how much light it gives, for the white balance: the colour counts alone.
    fn white(&self) -> Bands<N> {
        match self {
            Self::Sun { irradiance, .. } => *irradiance,
            Self::Point { intensity, .. } => *intensity,
            Self::Area { lamp, radiance } => radiance * lamp.area(),
        }
    }
}

impl<const N: usize> Backdrop<N> {
    pub fn new(environment: &Environment, bands: &[Band; N]) -> Result<Self, CameraWorldError> {
        Ok(match environment {
            Environment::Dark => Self::Dark,
            Environment::Uniform(radiance) => {
                Self::Uniform(in_bands("environment", radiance, bands)?)
            }
            Environment::Sky(sky) => Self::Sky {
                dome: sky.dome,
                irradiance: in_bands("sky", &sky.irradiance, bands)?,
                ground: in_bands("ground below the sky", &sky.ground, bands)?,
            },
            Environment::Map(map) => Self::Map {
                map: map.clone(),
                bands: *bands,
            },
        })
    }

    pub fn is_dark(&self) -> bool {
        matches!(self, Self::Dark)
    }

    /// Whether [`Backdrop::arriving`] draws directions.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Self::Map { .. })
    }

    /// Radiance from a unit direction.
    pub fn radiance(&self, direction: &Vector3<f64>) -> Bands<N> {
        match self {
            Self::Dark => Bands::zeros(),
            Self::Uniform(radiance) => *radiance,
            Self::Sky {
                irradiance,
                ground,
                dome,
            } => {
                if direction.z > 0.0 {
                    irradiance * dome.radiance(direction)
                } else {
                    *ground
                }
            }
            Self::Map { map, bands } => {
                let colour = map.radiance(direction);
                Bands::from_fn(|i, _| colour_at(colour, bands[i].wavelength) * bands[i].width)
            }
        }
    }

    /// A direction drawn for its brightness, with its density; `None` where directions are better
    /// drawn for the surface.
    pub fn arriving(&self, uniform: [f64; 2]) -> Option<(Arriving<N>, f64)> {
        let Self::Map { map, .. } = self else {
            return None;
        };
        let towards = map.sample(uniform);
        let pdf = map.pdf(&towards);
        let irradiance = self.radiance(&towards) / pdf;
        Some((
            Arriving {
                towards,
                distance: f64::INFINITY,
                irradiance,
            },
            pdf,
        ))
    }

    /// Density with which [`Backdrop::arriving`] draws a direction; 0 where it draws none.
    pub fn pdf(&self, direction: &Vector3<f64>) -> f64 {
        match self {
            Self::Map { map, .. } => map.pdf(direction),
            _ => 0.0,
        }
    }

    fn white(&self) -> Bands<N> {
        match self {
            Self::Dark => Bands::zeros(),
            Self::Uniform(radiance) => radiance * PI,
            Self::Sky { irradiance, .. } => *irradiance,
            Self::Map { .. } => {
                let up = [0.2, 0.5, 0.8].map(|z: f64| Vector3::new((1.0 - z * z).sqrt(), 0.0, z));
                up.iter().map(|d| self.radiance(d)).sum::<Bands<N>>()
            }
        }
    }
}

/// Irradiance, about, of a surface that faces every light: its colour is the light's.
pub(super) fn white<const N: usize>(lamps: &[Lamp<N>], backdrop: &Backdrop<N>) -> Bands<N> {
    lamps.iter().map(Lamp::white).sum::<Bands<N>>() + backdrop.white()
}

/// A direction within `half_angle` of an axis.
fn in_cone(axis: &Vector3<f64>, half_angle: f64, [u, v]: [f64; 2]) -> Vector3<f64> {
    if half_angle <= 0.0 {
        return *axis;
    }
    let cos = 1.0 - u * (1.0 - half_angle.cos());
    let (sin, azimuth) = ((1.0 - cos * cos).max(0.0).sqrt(), TAU * v);
    let local = Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
    (crate::transport::shading_frame(axis) * local).normalize()
}
