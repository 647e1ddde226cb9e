use etendue_estimate::manifold::{BoundedNumber, Manifold, Variable, VariableValue, se2, se3};
use etendue_physics::{Dual, DualParts, Purpose, Stream};
use nalgebra::{Isometry2, Isometry3, Vector2, Vector3, Vector6};
use std::f64::consts::PI;

fn draws(n: usize, scale: f64) -> Vec<f64> {
    let mut stream = Stream::new(1, 0, 0, 0, Purpose::Search);
    (0..n)
        .map(|_| scale * (2.0 * stream.uniform() - 1.0))
        .collect()
}

#[test]
fn planar_exp_and_log_are_inverse() {
    for twist in draws(300, PI * 0.999)
        .chunks_exact(3)
        .chain([&[0.3, -0.2, 1e-9][..]])
    {
        let twist = Vector3::from_column_slice(twist);
        let back = se2::log(&se2::exp(&twist));
        // Measured: at most 3e-15.
        assert!((back - twist).norm() < 1e-13, "{twist:?} -> {back:?}");
    }
}

#[test]
fn spatial_exp_and_log_are_inverse_up_to_half_a_turn() {
    for draw in draws(600, 1.0).chunks_exact(6) {
        let mut twist = Vector6::from_column_slice(draw);
        for angle in [1e-9, 1e-4, 3.1e-3, 3.2e-3, 1.0, PI - 1e-6] {
            let axis = twist.fixed_rows::<3>(3).normalize() * angle;
            twist.fixed_rows_mut::<3>(3).copy_from(&axis);
            let back = se3::log(&se3::exp(&twist));
            // Measured: at most 2e-9 within 1e-6 rad of pi, 1e-14 elsewhere.
            let tolerance = if angle > 3.0 { 1e-8 } else { 1e-12 };
            assert!((back - twist).norm() < tolerance, "{twist:?} -> {back:?}");
        }
    }
}

#[test]
fn a_planar_twist_and_the_same_twist_in_space_make_the_same_motion() {
    let flat = se2::exp(&Vector3::new(0.4, -1.1, 0.8));
    let solid = se3::exp(&Vector6::new(0.4, -1.1, 0.0, 0.0, 0.0, 0.8));
    let point = flat * nalgebra::Point2::new(0.3, 0.7);
    let same = solid * nalgebra::Point3::new(0.3, 0.7, 0.0);
    assert!((point.x - same.x).abs() + (point.y - same.y).abs() < 1e-14);
}

/// Derivative of log(exp(x) exp(d)) by d at zero, where every formula is singular.
#[test]
fn derivatives_at_the_identity_are_finite_and_the_identity() {
    let twist = Vector6::from_fn(|i, _| Dual::<6>::variable(0.0, i));
    let back = se3::log(&se3::exp(&twist));
    for i in 0..6 {
        for (j, d) in back[i].gradient().into_iter().enumerate() {
            assert_eq!(d, f64::from(u8::from(i == j)), "d{i}/d{j}");
        }
    }
}

#[test]
fn derivatives_of_the_spatial_exponential_equal_central_differences() {
    for draw in draws(60, 1.5).chunks_exact(6) {
        let dual = Vector6::from_fn(|i, _| Dual::<6>::variable(draw[i], i));
        let moved = se3::exp(&dual) * nalgebra::Point3::new(0.3, -0.4, 1.2).map(Dual::<6>::from);
        for parameter in 0..6 {
            let at = |h: f64| {
                let mut twist = Vector6::from_column_slice(draw);
                twist[parameter] += h;
                se3::exp(&twist) * nalgebra::Point3::new(0.3, -0.4, 1.2)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            for axis in 0..3 {
                let derivative = moved[axis].gradient()[parameter];
                // Measured: at most 6e-10.
                assert!((derivative - difference[axis]).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn retract_and_local_are_inverse_on_every_space() {
    let spatial = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.3, -0.5, 0.9));
    let planar = Isometry2::new(Vector2::new(0.5, -0.4), 2.0);
    let space = vec![
        Variable::Number(BoundedNumber::real(3.0)),
        Variable::Number(BoundedNumber::positive(0.2).expect("positive")),
        Variable::Number(BoundedNumber::interval(0.2, 0.0, 1.0).expect("inside")),
        Variable::Planar(planar),
        Variable::boxed(&planar, [0.0, -1.0], [1.0, 1.0]).expect("inside"),
        Variable::Spatial(spatial),
    ];
    let step = draws(space.dimension(), 0.7);
    assert_eq!(step.len(), 15);
    let back = space.local(&space.retract(&step));
    for (a, b) in step.iter().zip(&back) {
        assert!((a - b).abs() < 1e-12, "{a} became {b}");
    }
}

#[test]
fn the_right_jacobian_equals_central_differences() {
    let space = vec![
        Variable::Planar(Isometry2::identity()),
        Variable::Spatial(Isometry3::identity()),
        Variable::Number(BoundedNumber::real(0.0)),
    ];
    let tangent = draws(10, 0.9);
    let jacobian = space.right_jacobian(&tangent);
    let end = space.retract(&tangent);
    for column in 0..10 {
        let at = |h: f64| {
            let mut moved = tangent.clone();
            moved[column] += h;
            end.local(&space.retract(&moved))
        };
        for (row, (plus, minus)) in at(1e-6).iter().zip(at(-1e-6)).enumerate() {
            // Measured: at most 2e-10.
            assert!(((plus - minus) / 2e-6 - jacobian[(row, column)]).abs() < 1e-8);
        }
    }
}

#[test]
fn bounded_numbers_satisfy_their_bounds_after_any_step() {
    let chart = BoundedNumber::interval(0.5, 0.0, 1.0).expect("inside");
    let positive = BoundedNumber::positive(0.5).expect("positive");
    for step in [-30.0, -3.0, 3.0, 30.0] {
        assert!((0.0..=1.0).contains(&chart.retract(&[step]).value()));
        assert!(positive.retract(&[step]).value() > 0.0);
    }
    let outside = BoundedNumber::interval(1.5, 0.0, 1.0).expect_err("outside");
    assert!(outside.to_string().contains("1.5 is outside"), "{outside}");
}

#[test]
fn derivatives_of_a_bounded_number_are_finite_for_large_coordinates() {
    let chart = BoundedNumber::interval(0.3, 0.0, 1.0).expect("inside");
    for step in [-1e6, -400.0, -1.0, 0.0, 1.0, 20.0, 400.0, 1e6] {
        let moved = chart.moved(Dual::<1>::variable(step, 0));
        let slope = chart.retract(&[step]).slope();
        assert!(
            (moved.gradient()[0] - slope).abs() < 1e-15,
            "{step}: {moved:?} {slope}"
        );
    }
}

#[test]
fn a_moved_variable_is_the_retracted_one() {
    let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.3, -0.5, 0.9));
    let step = draws(6, 0.4);
    let variable = Variable::Spatial(pose);
    let VariableValue::Spatial(moved) = variable.moved::<f64>(&step) else {
        panic!("a spatial pose")
    };
    let VariableValue::Spatial(retracted) = variable.retract(&step).value() else {
        panic!("a spatial pose")
    };
    assert!((moved.to_homogeneous() - retracted.to_homogeneous()).norm() < 1e-14);
}
