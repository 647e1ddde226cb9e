//! The sources of the shaders.

const DOUBLE_SINGLE: &str = include_str!("shaders/double_single.wgsl");
const ROTATION: &str = include_str!("shaders/rotation.wgsl");
const RANDOM: &str = include_str!("shaders/random.wgsl");
const NOISE: &str = include_str!("shaders/noise.wgsl");

/// Entries of the table of a material's backscatter.
pub(crate) const TABLE: usize = 4096;

/// Casts rays, with a stack of a size.
pub(crate) fn trace(stack: usize) -> String {
    let constants = format!("const STACK: u32 = {stack}u;");
    let own = include_str!("shaders/trace.wgsl");
    [&constants, own, ROTATION, DOUBLE_SINGLE].join("\n")
}

/// Most rays of a beam.
pub(crate) const MOST_BEAM_RAYS: usize = 64;

/// Aims shots.
pub(crate) fn aim() -> String {
    let constants = format!("const MOST_BEAM_RAYS: u32 = {MOST_BEAM_RAYS}u;");
    let own = include_str!("shaders/aim.wgsl");
    [&constants, own, NOISE, RANDOM, ROTATION, DOUBLE_SINGLE].join("\n")
}

/// Receivers with a shader of their own.
#[derive(Clone, Copy)]
pub(crate) enum Detector {
    /// Pulses and triangulation.
    Echoes,
    /// Phase of modulated light.
    Phase,
}

/// Detects the echoes of beams with a number of rays.
pub(crate) fn receive(detector: Detector, rays: usize) -> String {
    let constants = format!(
        "const TABLE: u32 = {TABLE}u;\nconst MOST_BEAM_RAYS: u32 = {MOST_BEAM_RAYS}u;\nconst RAYS: u32 = {rays}u;"
    );
    let shared = include_str!("shaders/receive.wgsl");
    let own = match detector {
        Detector::Echoes => include_str!("shaders/echoes.wgsl"),
        Detector::Phase => include_str!("shaders/phase.wgsl"),
    };
    [&constants, shared, own, NOISE, RANDOM, DOUBLE_SINGLE].join("\n")
}

/// Looks from the lens of a lidar that triangulates.
pub(crate) fn sight() -> String {
    let own = include_str!("shaders/sight.wgsl");
    [own, ROTATION, DOUBLE_SINGLE].join("\n")
}

/// Most lamps of a scene.
pub(crate) const MOST_LAMPS: usize = 16;

/// Aims and shades the pixels of cameras.
pub(crate) fn camera() -> String {
    let constants = format!("const MOST_LAMPS: u32 = {MOST_LAMPS}u;");
    let own = include_str!("shaders/camera.wgsl");
    [&constants, own, RANDOM, DOUBLE_SINGLE].join("\n")
}

#[cfg(test)]
mod tests {
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    /// Every shader is valid WGSL without any capability beyond WebGPU's.
    #[test]
    fn shaders_are_valid() {
        for (name, source, entry_points) in [
            ("trace", super::trace(64), 1),
            ("aim", super::aim(), 1),
            ("echoes", super::receive(super::Detector::Echoes, 7), 2),
            ("phase", super::receive(super::Detector::Phase, 3), 2),
            ("camera", super::camera(), 2),
            ("sight", super::sight(), 2),
        ] {
            let parsed = naga::front::wgsl::parse_str(&source);
            let module = parsed.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&source)));
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            if let Err(error) = validator.validate(&module) {
                panic!("{name}: {}", error.emit_to_string(&source));
            }
            assert_eq!(module.entry_points.len(), entry_points, "{name}");
        }
    }
}
