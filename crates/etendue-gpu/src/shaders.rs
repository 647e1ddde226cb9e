//! The sources of the shaders.

const DOUBLE_SINGLE: &str = include_str!("shaders/double_single.wgsl");
const ROTATION: &str = include_str!("shaders/rotation.wgsl");
const RANDOM: &str = include_str!("shaders/random.wgsl");
const NOISE: &str = include_str!("shaders/noise.wgsl");
const FUNCTIONS: &str = include_str!("shaders/functions.wgsl");

const MATERIALS: &str = include_str!("shaders/materials.wgsl");
const LINKS: &str = include_str!("shaders/links.wgsl");

/// Entries of tables over the incidence: of the backscatter, of mirrors and glass, and of a noise profile beyond its knots.
pub(crate) const TABLE: usize = 4096;
pub(crate) const SHARES: usize = 16384;
pub(crate) const FALLS: usize = 1024;

/// What a scene has besides surfaces at which light paths end and whose noise is that of the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Mirrors and glass.
    pub trees: bool,
    /// Materials with noise profiles.
    pub profiles: bool,
}

/// Casts rays, with a stack of a size. It may keep the surfaces, for paths that continue there and for noise profiles.
pub(crate) fn trace(stack: usize, keeps_surfaces: bool) -> String {
    let constants = format!("const STACK: u32 = {stack}u;");
    let own = include_str!("shaders/trace.wgsl");
    let surfaces = if keeps_surfaces {
        include_str!("shaders/surfaces.wgsl")
    } else {
        include_str!("shaders/no_surfaces.wgsl")
    };
    [&constants, own, surfaces, ROTATION, DOUBLE_SINGLE].join("\n")
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detector {
    /// Pulses and triangulation, of which one echo is reported.
    Echo,
    /// Pulses of which several echoes are reported.
    Echoes,
    /// Pulses of sampled waveforms, with light of the air or false alarms, of which one echo is reported.
    SampledEcho,
    /// Those of which several echoes are reported.
    SampledEchoes,
    /// Frequency-modulated continuous waves.
    Fmcw,
    /// Phase of modulated light.
    Phase,
    /// Receivers that the host applies.
    Light,
}

/// Continues paths at mirrors and glass.
pub(crate) fn branch() -> String {
    let constants = format!("const SHARES: u32 = {SHARES}u;");
    let own = include_str!("shaders/branch.wgsl");
    [&constants, own, MATERIALS, LINKS, DOUBLE_SINGLE].join("\n")
}

/// Most cut cells and drops of a shot with light of the air.
const MOST_OF_AIR: usize = 49;

/// Detects the echoes of beams with a number of rays.
pub(crate) fn receive(detector: Detector, rays: usize, extras: Extras) -> String {
    let is_sampled = matches!(detector, Detector::SampledEcho | Detector::SampledEchoes);
    let most_of_air = if is_sampled { MOST_OF_AIR } else { 0 };
    let constants = format!(
        "const TABLE: u32 = {TABLE}u;\nconst FALLS: u32 = {FALLS}u;\nconst MOST_BEAM_RAYS: u32 = {MOST_BEAM_RAYS}u;\n\
         const RAYS: u32 = {rays}u;\nconst MOST_OF_AIR: u32 = {most_of_air}u;"
    );
    let shared = include_str!("shaders/receive.wgsl");
    let ranged = include_str!("shaders/ranged.wgsl");
    let pulses = include_str!("shaders/echoes.wgsl");
    let closed_form = include_str!("shaders/closed_form.wgsl");
    let simple = include_str!("shaders/not_sampled.wgsl");
    let cells = include_str!("shaders/cells.wgsl");
    let sampled = [
        include_str!("shaders/sampled.wgsl"),
        include_str!("shaders/air.wgsl"),
        include_str!("shaders/streams.wgsl"),
    ]
    .join("\n");
    let one = include_str!("shaders/one_echo.wgsl");
    let several = include_str!("shaders/several_echoes.wgsl");
    let own = match detector {
        Detector::Echo => &[pulses, closed_form, simple, ranged, one][..],
        Detector::Echoes => &[pulses, closed_form, simple, ranged, several],
        Detector::SampledEcho => &[&sampled, closed_form, cells, ranged, one],
        Detector::SampledEchoes => &[&sampled, closed_form, cells, ranged, several],
        Detector::Fmcw => &[include_str!("shaders/fmcw.wgsl"), simple, ranged, several],
        Detector::Phase => &[include_str!("shaders/phase.wgsl"), cells],
        Detector::Light => &[include_str!("shaders/light.wgsl")],
    };
    let trees = trees(extras.trees);
    let profiles = if extras.profiles {
        include_str!("shaders/profiles.wgsl")
    } else {
        include_str!("shaders/no_profiles.wgsl")
    };
    let parts = [trees, profiles, MATERIALS, LINKS, NOISE, FUNCTIONS, RANDOM];
    [&[&constants, shared], own, &parts, &[DOUBLE_SINGLE]]
        .concat()
        .join("\n")
}

/// The branches of paths, if there are any.
fn trees(has_branches: bool) -> &'static str {
    if has_branches {
        include_str!("shaders/trees.wgsl")
    } else {
        include_str!("shaders/no_trees.wgsl")
    }
}

/// The velocities of the surfaces that beams with a number of rays hit.
pub(crate) fn velocities(rays: usize, has_branches: bool) -> String {
    let constants = format!("const RAYS: u32 = {rays}u;");
    let own = include_str!("shaders/velocities.wgsl");
    let trees = trees(has_branches);
    [&constants, own, trees, LINKS, DOUBLE_SINGLE].join("\n")
}

/// The ambient light of beams with a number of rays.
pub(crate) fn ambient(rays: usize, has_branches: bool) -> String {
    let constants = format!(
        "const MOST_BEAM_RAYS: u32 = {MOST_BEAM_RAYS}u;\nconst RAYS: u32 = {rays}u;\nconst SHARES: u32 = {SHARES}u;"
    );
    let own = include_str!("shaders/ambient.wgsl");
    let lobes = include_str!("shaders/lobes.wgsl");
    let trees = trees(has_branches);
    let parts = [
        own,
        lobes,
        trees,
        MATERIALS,
        LINKS,
        FUNCTIONS,
        DOUBLE_SINGLE,
    ];
    [&[&*constants][..], &parts].concat().join("\n")
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
        use super::Detector::{Echo, Echoes, Fmcw, Light, Phase, SampledEcho, SampledEchoes};
        let extras = |trees, profiles| super::Extras { trees, profiles };
        let receive = |detector, rays, [trees, profiles]: [bool; 2]| {
            super::receive(detector, rays, extras(trees, profiles))
        };
        for (name, source, entry_points) in [
            ("trace", super::trace(64, false), 1),
            ("trace with surfaces", super::trace(64, true), 1),
            ("aim", super::aim(), 1),
            ("branch", super::branch(), 1),
            ("an echo", receive(Echo, 7, [false, false]), 2),
            ("an echo of trees", receive(Echo, 7, [true, false]), 2),
            ("an echo of profiles", receive(Echo, 7, [false, true]), 2),
            ("an echo of all", receive(Echo, 1, [true, true]), 2),
            ("echoes", receive(Echoes, 7, [false, false]), 2),
            ("echoes of all", receive(Echoes, 1, [true, true]), 2),
            ("a sampled echo", receive(SampledEcho, 7, [false, false]), 2),
            (
                "sampled echoes",
                receive(SampledEchoes, 7, [false, false]),
                2,
            ),
            (
                "sampled echoes of all",
                receive(SampledEchoes, 1, [true, true]),
                2,
            ),
            ("FMCW", receive(Fmcw, 7, [false, false]), 2),
            ("FMCW of all", receive(Fmcw, 1, [true, true]), 2),
            ("velocities", super::velocities(7, false), 1),
            ("velocities of trees", super::velocities(7, true), 1),
            ("ambient light", super::ambient(7, false), 3),
            ("ambient light of trees", super::ambient(7, true), 3),
            ("light", receive(Light, 7, [false, false]), 2),
            ("light of trees", receive(Light, 7, [true, false]), 2),
            ("phase", receive(Phase, 3, [false, false]), 2),
            ("phase of all", receive(Phase, 3, [true, true]), 2),
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
