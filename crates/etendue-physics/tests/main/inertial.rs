//! Inertial units: noise that comes back, gravity, lever arms, and motions that return.

use etendue_physics::inertial::{
    AllanFit, BiasProcess, Imu, ImuReading, ImuRun, MotionState, STANDARD_GRAVITY, Triad,
    allan_deviation, allan_times,
};
use nalgebra::{Isometry3, Rotation3, Translation3, UnitQuaternion, Vector3};

fn gravity() -> Vector3<f64> {
    Vector3::z() * -STANDARD_GRAVITY
}

fn noisy(density: f64, instability: f64) -> Triad {
    Triad {
        density,
        drift: vec![BiasProcess::Flicker {
            instability,
            shortest: 0.5,
            longest: 5000.0,
        }],
        ..Triad::default()
    }
}

/// Three hours at 50 Hz of a consumer unit (0.005 °/s/√Hz and 10 °/h; 100 µg/√Hz and 60 µg), fits
/// averaged over the three axes. Required within 10 %. Measured: densities within 0.5 %,
/// instabilities within 6.3 %. (Of better gyroscopes three hours do not show the instability so
/// well: their curves are flat at averaging times of which the record holds a few only.)
#[test]
fn three_hours_at_rest_recover_noise_density_and_bias_instability() {
    let degree = 1.0_f64.to_radians();
    let micro_g = STANDARD_GRAVITY * 1e-6;
    let imu = Imu {
        gyroscope: noisy(0.005 * degree, 10.0 * degree / 3600.0),
        accelerometer: noisy(100.0 * micro_g, 60.0 * micro_g),
        ..Imu::default()
    };
    let dt = 0.02;
    let rest = ImuReading::ideal(&MotionState::at_rest(Isometry3::identity()), &gravity());
    let mut run = ImuRun::new(&imu, 11, 0);
    let readings: Vec<ImuReading> = (0..540_000).map(|_| run.read(&rest, dt)).collect();
    let check = |name: &str, of: &dyn Fn(&ImuReading) -> Vector3<f64>, triad: [f64; 2]| {
        let fits = [0, 1, 2].map(|axis| {
            let samples: Vec<f64> = readings.iter().map(|reading| of(reading)[axis]).collect();
            let times = allan_times(samples.len(), dt);
            AllanFit::of(&allan_deviation(&samples, dt, &times)).expect("a long record")
        });
        let mean = |of: &dyn Fn(&AllanFit) -> f64| fits.iter().map(of).sum::<f64>() / 3.0;
        let [density, instability] = [mean(&|fit| fit.density), mean(&|fit| fit.instability)];
        assert!((density / triad[0] - 1.0).abs() < 0.1, "{name}: {fits:?}");
        assert!(
            (instability / triad[1] - 1.0).abs() < 0.1,
            "{name}: {fits:?}"
        );
    };
    let gyroscope = [0.005 * degree, 10.0 * degree / 3600.0];
    check("gyroscope", &|r| r.angular_velocity, gyroscope);
    let accelerometer = [100.0 * micro_g, 60.0 * micro_g];
    check("accelerometer", &|r| r.specific_force, accelerometer);
}

/// Rolled to the right by 30 degrees, the right side is down: y reads half of g, z 0.87 g.
#[test]
fn a_stationary_tilted_unit_measures_gravity_in_the_correct_axes() {
    let tilted = |roll: f64, pitch: f64| {
        let turn = UnitQuaternion::from_euler_angles(roll, pitch, 0.7);
        let state = MotionState::at_rest(Isometry3::from_parts(Translation3::identity(), turn));
        ImuReading::ideal(&state, &gravity()).specific_force / STANDARD_GRAVITY
    };
    let third = 30.0_f64.to_radians();
    let (half, most) = (third.sin(), third.cos());
    assert!((tilted(0.0, 0.0) - Vector3::z()).norm() < 1e-15);
    assert!((tilted(third, 0.0) - Vector3::new(0.0, half, most)).norm() < 1e-15);
    // Pitch is positive nose down: x looks down and reads minus.
    assert!((tilted(0.0, third) - Vector3::new(-half, 0.0, most)).norm() < 1e-15);
}

/// A unit that looks outwards 0.3 m from the axis of a table that speeds up.
#[test]
fn a_lever_arm_on_a_rotating_table_measures_the_centripetal_acceleration() {
    let table = MotionState {
        angular_velocity: Vector3::z() * 4.0,
        angular_acceleration: Vector3::z() * 2.0,
        ..MotionState::at_rest(Isometry3::rotation(Vector3::z() * 1.1))
    };
    let unit = table.mounted(&Isometry3::translation(0.3, 0.0, 0.0));
    let reading = ImuReading::ideal(&unit, &gravity());
    let expected = Vector3::new(-16.0 * 0.3, 2.0 * 0.3, STANDARD_GRAVITY);
    assert!(
        (reading.specific_force - expected).norm() < 1e-12,
        "{reading:?}"
    );
    assert!((reading.angular_velocity - Vector3::z() * 4.0).norm() < 1e-15);
}

/// A tumbling motion with known derivatives.
fn tumbling(t: f64) -> MotionState {
    let (sin, cos) = (1.3 * t).sin_cos();
    let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.8 * t)
        * Rotation3::from_axis_angle(&Vector3::y_axis(), 0.5 * sin);
    // In the body: the nod about y, the turn about z seen from the nodded body.
    let nod = Rotation3::from_axis_angle(&Vector3::y_axis(), 0.5 * sin);
    let rate = Vector3::y() * (0.65 * cos) + nod.inverse() * (Vector3::z() * 0.8);
    MotionState {
        world_from_body: Isometry3::from_parts(
            Translation3::new(2.0 * sin, t, 0.3 * cos),
            UnitQuaternion::from_rotation_matrix(&turn),
        ),
        velocity: Vector3::new(2.6 * cos, 1.0, -0.39 * sin),
        acceleration: Vector3::new(-3.38 * sin, 0.0, -0.507 * cos),
        angular_velocity: rate,
        angular_acceleration: Vector3::zeros(),
    }
}

/// Strapdown integration of 20 s at 200 Hz: 5e-6 m and 4e-15 rad off measured.
#[test]
fn integrated_readings_recover_a_known_motion() {
    let dt = 0.005;
    let start = tumbling(0.0);
    let mut pose = start.world_from_body;
    let mut velocity = start.velocity;
    for k in 0..4000 {
        let [from, to] = [k, k + 1].map(|k| tumbling(f64::from(k) * dt));
        let reading = ImuReading::gathered(&from, &to, dt, &gravity());
        let turn = reading.angular_velocity * dt;
        let middle = pose.rotation * UnitQuaternion::from_scaled_axis(turn * 0.5);
        let change = (middle * reading.specific_force + gravity()) * dt;
        pose.translation.vector += (velocity + change * 0.5) * dt;
        velocity += change;
        pose.rotation *= UnitQuaternion::from_scaled_axis(turn);
    }
    let end = tumbling(20.0).world_from_body;
    let off = (pose.translation.vector - end.translation.vector).norm();
    let angle = pose.rotation.angle_to(&end.rotation);
    assert!(off < 1e-4, "{off} m");
    assert!(angle < 1e-12, "{angle} rad");
}

/// Readings over a window agree with those at its middle: 4e-6 rad/s, 2e-5 m/s² measured.
#[test]
fn readings_over_a_window_equal_those_at_its_middle() {
    let window = 0.005;
    for k in 0..200 {
        let t = f64::from(k) * 0.037;
        let gathered =
            ImuReading::gathered(&tumbling(t), &tumbling(t + window), window, &gravity());
        let middle = ImuReading::ideal(&tumbling(t + 0.5 * window), &gravity());
        assert!((gathered.angular_velocity - middle.angular_velocity).norm() < 2e-5);
        assert!((gathered.specific_force - middle.specific_force).norm() < 2e-4);
    }
}
