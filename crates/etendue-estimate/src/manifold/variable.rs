//! Unknown of a problem: a number or a pose.

use super::bounded_number::{BoundedNumber, OutOfBounds};
use super::space::Manifold;
use super::{se2, se3};
use etendue_physics::Scalar;
use nalgebra::{
    Complex, DMatrix, Isometry2, Isometry3, Quaternion, UnitComplex, UnitQuaternion, Vector2,
    Vector3, Vector6,
};

/// Unknown with its current value: a number or a pose.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// Number, with or without bounds.
    Number(BoundedNumber),
    /// Planar pose; steps are body-fixed twists (m, m, rad).
    Planar(Isometry2<f64>),
    /// Planar pose with its position in a box; steps are those of the two coordinates of the position
    /// ([`BoundedNumber`]) and of the yaw (1, 1, rad).
    Boxed {
        /// Position along x and y, m.
        position: [BoundedNumber; 2],
        /// Yaw, rad.
        yaw: f64,
    },
    /// Spatial pose; steps are body-fixed twists (m, rad).
    Spatial(Isometry3<f64>),
}

/// Value of a [`Variable`], in a scalar that may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VariableValue<S: Scalar> {
    /// Number.
    Number(S),
    /// Planar pose.
    Planar(Isometry2<S>),
    /// Spatial pose.
    Spatial(Isometry3<S>),
}

impl Variable {
    /// Planar pose with its position in the box from `lower` to `upper`, m.
    ///
    /// # Errors
    /// Where the position is outside the box.
    pub fn boxed(
        pose: &Isometry2<f64>,
        lower: [f64; 2],
        upper: [f64; 2],
    ) -> Result<Self, OutOfBounds> {
        let at = pose.translation.vector;
        Ok(Self::Boxed {
            position: [
                BoundedNumber::interval(at.x, lower[0], upper[0])?,
                BoundedNumber::interval(at.y, lower[1], upper[1])?,
            ],
            yaw: pose.rotation.angle(),
        })
    }

    /// Current value.
    pub fn value(&self) -> VariableValue<f64> {
        self.moved(&[0.0; 6][..self.dimension()])
    }

    /// Value after a step, with the derivatives of the step.
    pub fn moved<S: Scalar>(&self, step: &[S]) -> VariableValue<S> {
        match self {
            Self::Number(chart) => VariableValue::Number(chart.moved(step[0])),
            Self::Planar(pose) => {
                VariableValue::Planar(lift2(pose) * se2::exp(&Vector3::from_column_slice(step)))
            }
            Self::Boxed { position, yaw } => VariableValue::Planar(Isometry2::new(
                Vector2::new(position[0].moved(step[0]), position[1].moved(step[1])),
                step[2] + *yaw,
            )),
            Self::Spatial(pose) => {
                VariableValue::Spatial(lift3(pose) * se3::exp(&Vector6::from_column_slice(step)))
            }
        }
    }

    /// Name and unit of each component of a step; "body x" is the x axis of the pose.
    pub fn components(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Number(_) => &[("", "")],
            Self::Planar(_) => &[("body x", "m"), ("body y", "m"), ("yaw", "rad")],
            Self::Boxed { .. } => &[("x", "m"), ("y", "m"), ("yaw", "rad")],
            Self::Spatial(_) => &[
                ("body x", "m"),
                ("body y", "m"),
                ("body z", "m"),
                ("rotation about body x", "rad"),
                ("rotation about body y", "rad"),
                ("rotation about body z", "rad"),
            ],
        }
    }

    /// Derivative of the quantity of each component by the step: $dx/du$ for bounded numbers, 1 for all
    /// other components.
    pub fn slopes(&self) -> Vec<f64> {
        match self {
            Self::Number(chart) => vec![chart.slope()],
            Self::Planar(_) => vec![1.0; 3],
            Self::Boxed { position, .. } => vec![position[0].slope(), position[1].slope(), 1.0],
            Self::Spatial(_) => vec![1.0; 6],
        }
    }
}

impl VariableValue<f64> {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The planar pose, if it is one.
    pub fn planar(&self) -> Option<Isometry2<f64>> {
        match self {
            Self::Planar(pose) => Some(*pose),
            _ => None,
        }
    }
}

impl Manifold for Variable {
    fn dimension(&self) -> usize {
        match self {
            Self::Number(_) => 1,
            Self::Planar(_) | Self::Boxed { .. } => 3,
            Self::Spatial(_) => 6,
        }
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        match self {
            Self::Number(chart) => Self::Number(chart.retract(tangent)),
            Self::Planar(pose) => Self::Planar(pose.retract(tangent)),
            Self::Boxed { position, yaw } => Self::Boxed {
                position: [
                    position[0].retract(&tangent[..1]),
                    position[1].retract(&tangent[1..2]),
                ],
                yaw: yaw + tangent[2],
            },
            Self::Spatial(pose) => Self::Spatial(pose.retract(tangent)),
        }
    }

    /// The step to `other`; all components are NaN where the variants differ.
    fn local(&self, other: &Self) -> Vec<f64> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.local(b),
            (Self::Planar(a), Self::Planar(b)) => a.local(b),
            (Self::Spatial(a), Self::Spatial(b)) => a.local(b),
            (
                Self::Boxed { position, yaw },
                Self::Boxed {
                    position: other_position,
                    yaw: other_yaw,
                },
            ) => vec![
                position[0].local(&other_position[0])[0],
                position[1].local(&other_position[1])[0],
                other_yaw - yaw,
            ],
            _ => vec![f64::NAN; self.dimension()],
        }
    }

    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        match self {
            Self::Planar(pose) => pose.right_jacobian(tangent),
            Self::Spatial(pose) => pose.right_jacobian(tangent),
            Self::Number(_) | Self::Boxed { .. } => DMatrix::identity(tangent.len(), tangent.len()),
        }
    }
}

/// Planar pose in the scalar `S`, with zero derivatives.
fn lift2<S: Scalar>(pose: &Isometry2<f64>) -> Isometry2<S> {
    let rotation = UnitComplex::new_unchecked(Complex::new(
        S::from(pose.rotation.re),
        S::from(pose.rotation.im),
    ));
    Isometry2::from_parts(pose.translation.vector.map(S::from).into(), rotation)
}

/// Spatial pose in the scalar `S`, with zero derivatives.
pub(crate) fn lift3<S: Scalar>(pose: &Isometry3<f64>) -> Isometry3<S> {
    let rotation =
        UnitQuaternion::new_unchecked(Quaternion::from(pose.rotation.coords.map(S::from)));
    Isometry3::from_parts(pose.translation.vector.map(S::from).into(), rotation)
}

/// Sum of the dimensions of several unknowns.
pub(crate) fn dimension(state: &[Variable]) -> usize {
    state.iter().map(Variable::dimension).sum()
}
