//! One unknown of a problem: a pose or a number.

use super::bounded_number::{BoundedNumber, OutOfBounds};
use super::space::Manifold;
use super::{se2, se3};
use etendue_physics::Scalar;
use nalgebra::{
    Complex, DMatrix, Isometry2, Isometry3, Quaternion, UnitComplex, UnitQuaternion, Vector2,
    Vector3, Vector6,
};

/// One unknown: what kind of thing it is, and where it stands now.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// A number, bounded or not.
    Number(BoundedNumber),
    /// A pose in the plane; steps are body-fixed twists (m, m, rad).
    Planar(Isometry2<f64>),
    /// A pose in the plane whose position stays in a box; steps are the two chart coordinates of
    /// the position and the yaw (1, 1, rad).
    Boxed {
        /// Position along x and y, m.
        position: [BoundedNumber; 2],
        /// Yaw, rad.
        yaw: f64,
    },
    /// A pose in space; steps are body-fixed twists (m, rad).
    Spatial(Isometry3<f64>),
}

/// What a [`Variable`] stands for, in a scalar that may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VariableValue<S: Scalar> {
    /// A number.
    Number(S),
    /// A pose in the plane.
    Planar(Isometry2<S>),
    /// A pose in space.
    Spatial(Isometry3<S>),
}

impl Variable {
    /// A pose in the plane whose position stays in the box from `lower` to `upper` (m).
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

    /// Where the unknown stands.
    pub fn value(&self) -> VariableValue<f64> {
        self.moved(&[0.0; 6][..self.dimension()])
    }

    /// Where a step leads, with its derivatives.
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

    /// What the components of a step mean, for people: ("x along its own axis", "m") and so on.
    pub fn components(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Number(_) => &[("", "")],
            Self::Planar(_) => &[("own x", "m"), ("own y", "m"), ("yaw", "rad")],
            Self::Boxed { .. } => &[("x", "m"), ("y", "m"), ("yaw", "rad")],
            Self::Spatial(_) => &[
                ("own x", "m"),
                ("own y", "m"),
                ("own z", "m"),
                ("turn about own x", "rad"),
                ("turn about own y", "rad"),
                ("turn about own z", "rad"),
            ],
        }
    }

    /// How fast each component's quantity moves with the step: 1 where steps are in the
    /// component's own unit, $dx/du$ where a bounded number is moved through its chart.
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

    /// The pose in the plane, if it is one.
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

    /// Between two variables of different kinds there is no step: all components are NaN.
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

/// A pose without derivatives in the scalar `S`.
fn lift2<S: Scalar>(pose: &Isometry2<f64>) -> Isometry2<S> {
    let rotation = UnitComplex::new_unchecked(Complex::new(
        S::from(pose.rotation.re),
        S::from(pose.rotation.im),
    ));
    Isometry2::from_parts(pose.translation.vector.map(S::from).into(), rotation)
}

/// A pose without derivatives in the scalar `S`.
pub(crate) fn lift3<S: Scalar>(pose: &Isometry3<f64>) -> Isometry3<S> {
    let rotation =
        UnitQuaternion::new_unchecked(Quaternion::from(pose.rotation.coords.map(S::from)));
    Isometry3::from_parts(pose.translation.vector.map(S::from).into(), rotation)
}

/// Total dimension of several unknowns.
pub(crate) fn dimension(state: &[Variable]) -> usize {
    state.iter().map(Variable::dimension).sum()
}
