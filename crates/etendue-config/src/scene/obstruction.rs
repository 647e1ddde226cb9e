//! Warnings about sensors where no sensor can be.

use super::LoadedScene;
use etendue_scene::{ObjectId, Obstruction, ObstructionSearch};
use nalgebra::Point3;

/// Maximum number of positions of a moving sensor that are checked.
const POSITIONS: usize = 64;

/// Warning about the first of some positions (time in s, point in m) that is inside an object, at a surface, or outside
/// all rooms. Of many positions, 64 at even distances are checked.
///
/// The text begins with `sensor`, for instance its name, and has `stated`, the place where the user states the pose.
///
/// ```
/// use etendue_config::scene::{arena, obstruction_warning};
/// use nalgebra::Point3;
///
/// let far = (0.0, Point3::new(5.0, 0.0, 0.0));
/// let warning = obstruction_warning(&arena(), "the sensor", "--pose", &[far]).unwrap();
/// assert_eq!(
///     warning,
///     "the sensor at (5, 0, 0) m (--pose) is outside the room \"room\" (arena.toml:20): move it"
/// );
/// let middle = (0.0, Point3::origin());
/// assert_eq!(obstruction_warning(&arena(), "the sensor", "--pose", &[middle]), None);
/// ```
pub fn obstruction_warning(
    loaded: &LoadedScene,
    sensor: &str,
    stated: &str,
    positions: &[(f64, Point3<f64>)],
) -> Option<String> {
    let search = ObstructionSearch::new(&loaded.scene);
    let step = positions.len().div_ceil(POSITIONS).max(1);
    let objects = 0..loaded.scene.objects().len();
    let moves = objects
        .filter_map(|number| u32::try_from(number).ok())
        .any(|number| loaded.scene.motion(ObjectId(number)).is_some());
    // A sensor at rest among objects at rest is checked once
    let mut last = None;
    let is_new = |(_, point): &&(f64, Point3<f64>)| last.replace(*point) != Some(*point) || moves;
    let mut checked = positions.iter().step_by(step).filter(is_new);
    let (time, point, obstruction) = checked.find_map(|(time, point)| {
        let obstruction = search.at(point, *time)?;
        Some((*time, point, obstruction))
    })?;

    // Describe the sensor, then its place
    let [x, y, z] = [point.x, point.y, point.z].map(|number| (number * 1e3).round() / 1e3 + 0.0);
    let when = if time > 0.0 {
        format!(" after {time:.2} s")
    } else {
        String::new()
    };
    let place = match obstruction {
        Obstruction::Inside(object) => format!(
            "inside the object {}: move it, or give the object flip_normals = true if it is a room",
            named(loaded, object)
        ),
        Obstruction::Touching(object) => format!(
            "within 10 mm of the surface of {}: move it",
            named(loaded, object)
        ),
        Obstruction::OutsideRooms => {
            let rooms = search.rooms().map(|object| named(loaded, object));
            let rooms: Vec<String> = rooms.collect();
            let plural = if rooms.len() == 1 { "" } else { "s" };
            format!("outside the room{plural} {}: move it", rooms.join(", "))
        }
    };
    Some(format!(
        "{sensor} at ({x}, {y}, {z}) m{when} ({stated}) is {place}"
    ))
}

/// The name of an object, and its place in the scene file.
fn named(loaded: &LoadedScene, object: ObjectId) -> String {
    let number = object.0 as usize;
    let name = &loaded.scene.objects()[number].name;
    match loaded.places.of_object.get(number) {
        Some(place) => format!("\"{name}\" ({place})"),
        None => format!("\"{name}\""),
    }
}
