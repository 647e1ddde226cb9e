//! Proprioceptive sensors on a robot: inertial measurement unit, magnetometer, barometer and wheel
//! encoder. Their equations are in `etendue-physics`.

mod barometer;
mod imu;
mod magnetometer;
mod wheel_encoder;

pub(crate) use barometer::BarometerInstrument;
pub(crate) use imu::ImuInstrument;
pub(crate) use magnetometer::MagnetometerInstrument;
pub(crate) use wheel_encoder::WheelEncoderInstrument;
