//! Inertia of rigid bodies.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use thiserror::Error;

/// Mass, centre of mass and inertia tensor of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in the body's frame, m.
    pub centre: Point3<f64>,
    /// Inertia about the centre of mass along the body's axes, kg m².
    pub tensor: Matrix3<f64>,
}

/// Error of an inertia that is not physical.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InertiaError {
    /// The mass is not above zero.
    #[error("its mass is {mass} kg, it must be above zero")]
    Mass {
        /// The mass, kg.
        mass: f64,
    },
    /// A principal moment is not above zero.
    #[error("its principal moment of inertia {moment:.3e} kg m² is not above zero")]
    Moment {
        /// The moment, kg m².
        moment: f64,
    },
    /// One principal moment is more than the sum of the others.
    #[error(
        "its principal moments of inertia are {} kg m²: one is more than the sum of the others, \
         which is not physical", moments.map(|moment| format!("{moment:.3e}")).join(", ")
    )]
    Triangle {
        /// The moments, kg m², ascending.
        moments: [f64; 3],
    },
}

/// Least principal moment, as a fraction of the largest: below it is rounding.
const LEAST_MOMENT: f64 = 1e-12;
/// Relative tolerance of the triangle inequality, for moments rounded in files.
const ROUNDING: f64 = 1e-3;

impl Inertia {
    /// Homogeneous cuboid about its centre; mass in kg, sides in m.
    pub fn of_cuboid(mass: f64, size: [f64; 3]) -> Self {
        let [x, y, z] = size.map(|side| side * side);
        Self::diagonal(mass, Vector3::new(y + z, x + z, x + y) * (mass / 12.0))
    }

    /// Homogeneous ellipsoid about its centre; mass in kg, half axes in m. Equal half axes give a
    /// sphere.
    pub fn of_ellipsoid(mass: f64, half_axes: [f64; 3]) -> Self {
        let [x, y, z] = half_axes.map(|axis| axis * axis);
        Self::diagonal(mass, Vector3::new(y + z, x + z, x + y) * (mass / 5.0))
    }

    /// Homogeneous cylinder along z about its centre; mass in kg, lengths in m.
    pub fn of_cylinder(mass: f64, radius: f64, length: f64) -> Self {
        let square = radius * radius;
        let across = mass * (3.0 * square + length * length) / 12.0;
        Self::diagonal(mass, Vector3::new(across, across, 0.5 * mass * square))
    }

    /// Homogeneous capsule along z about its centre: a cylinder with hemispheres on its ends; mass
    /// in kg, lengths in m.
    pub fn of_capsule(mass: f64, radius: f64, length: f64) -> Self {
        // Distribute the mass by volume, per cross-section.
        let sphere_length = 4.0 / 3.0 * radius;
        let cylinder_mass = mass * length / (length + sphere_length);
        let sphere_mass = mass * sphere_length / (length + sphere_length);
        let cylinder = Self::of_cylinder(cylinder_mass, radius, length).tensor;

        // Hemispheres: inertia about the centre of the sphere, shifted to the ends.
        let half = 0.5 * length;
        let square = radius * radius;
        let across = sphere_mass * (0.4 * square + half * half + 0.75 * half * radius);
        let caps = Vector3::new(across, across, 0.4 * sphere_mass * square);
        Self {
            mass,
            centre: Point3::origin(),
            tensor: cylinder + Matrix3::from_diagonal(&caps),
        }
    }

    /// Inertia about the origin with principal moments along the axes.
    fn diagonal(mass: f64, moments: Vector3<f64>) -> Self {
        Self {
            mass,
            centre: Point3::origin(),
            tensor: Matrix3::from_diagonal(&moments),
        }
    }

    /// Inertia of the same body in another frame.
    #[must_use]
    pub fn transformed(&self, new_from_old: &Isometry3<f64>) -> Self {
        let rotation = new_from_old.rotation.to_rotation_matrix();
        Self {
            mass: self.mass,
            centre: new_from_old * self.centre,
            tensor: rotation * self.tensor * rotation.inverse(),
        }
    }

    /// Combined inertia of two bodies, by the parallel axis theorem.
    #[must_use]
    pub fn combined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let sum = self.centre.coords * self.mass + other.centre.coords * other.mass;
        let centre = Point3::from(sum / mass);
        let about = |part: &Self| {
            let arm = part.centre - centre;
            let square = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            part.tensor + square * part.mass
        };
        Self {
            mass,
            centre,
            tensor: about(self) + about(other),
        }
    }

    /// Checks that the inertia is physical.
    ///
    /// # Errors
    /// If the mass or a principal moment is not above zero, or one moment is more than the sum
    /// of the others.
    pub fn check(&self) -> Result<(), InertiaError> {
        let mass = self.mass;
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(InertiaError::Mass { mass });
        }
        let moments = self.tensor.symmetric_eigenvalues();
        let mut moments: [f64; 3] = moments.into();
        moments.sort_by(f64::total_cmp);
        let [least, middle, most] = moments;
        // A rotation leaves rounding errors in place of zeros.
        if !(least > LEAST_MOMENT * most && most.is_finite()) {
            return Err(InertiaError::Moment { moment: least });
        }
        if most > (least + middle) * (1.0 + ROUNDING) {
            return Err(InertiaError::Triangle { moments });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_combine_to_the_inertia_of_the_whole() {
        let half = Inertia::of_cuboid(1.0, [1.0, 0.4, 0.6]);
        let [left, right] =
            [-0.5, 0.5].map(|x| half.transformed(&Isometry3::translation(x + 3.0, 0.0, 0.0)));
        let both = left.combined(&right);
        let whole = Inertia::of_cuboid(2.0, [2.0, 0.4, 0.6]);
        assert!(
            (both.tensor - whole.tensor).norm() < 1e-12,
            "{}",
            both.tensor
        );
        assert!((both.centre.x - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_capsule_without_length_is_a_sphere_and_without_radius_a_rod() {
        let ball = Inertia::of_capsule(2.0, 0.5, 0.0).tensor;
        let expected = Inertia::of_ellipsoid(2.0, [0.5; 3]).tensor;
        assert!((ball - expected).norm() < 1e-12);
        let rod = Inertia::of_capsule(2.0, 1e-9, 0.6).tensor;
        assert!((rod[(0, 0)] - 2.0 * 0.36 / 12.0).abs() < 1e-8);
        // The centre of mass of a hemisphere is 3/8 of the radius from its base.
        let capsule = Inertia::of_capsule(1.0, 0.3, 0.8);
        let cap = 0.4 / 1.2 / 2.0;
        let own = cap * 0.09 * (0.4 - 9.0 / 64.0);
        let arm = 0.4 + 3.0 / 8.0 * 0.3;
        let tube = Inertia::of_cylinder(0.8 / 1.2, 0.3, 0.8).tensor[(0, 0)];
        let across = tube + 2.0 * (own + cap * arm * arm);
        assert!((capsule.tensor[(0, 0)] - across).abs() < 1e-12, "{across}");
    }

    #[test]
    fn unphysical_inertias_are_refused() {
        let with = |mass, moments: [f64; 3]| Inertia {
            mass,
            centre: Point3::origin(),
            tensor: Matrix3::from_diagonal(&moments.into()),
        };
        assert!(matches!(
            with(0.0, [1.0; 3]).check(),
            Err(InertiaError::Mass { .. })
        ));
        let flat = with(1.0, [0.0, 1.0, 1.0]).check();
        assert!(matches!(flat, Err(InertiaError::Moment { .. })));
        let turned = with(1.0, [0.0, 1.0, 1.0])
            .transformed(&Isometry3::rotation(Vector3::new(0.3, 0.7, 1.1)));
        assert!(matches!(turned.check(), Err(InertiaError::Moment { .. })));
        let odd = with(1.0, [1.0, 1.0, 2.5]).check();
        assert!(matches!(odd, Err(InertiaError::Triangle { .. })));
        assert_eq!(with(1.0, [1.0, 1.0, 2.0]).check(), Ok(()));
    }
}
