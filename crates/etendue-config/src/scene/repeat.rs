//! Copies of an object in a grid.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use nalgebra::{Translation3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;

/// Maximum number of copies of one object.
const MAX_COPIES: u32 = 100_000;

/// Copies in a grid: `repeat = { count = [4, 2, 1], step_m = [1.2, 0.9, 0.0] }`. The first copy is at the
/// position of the object; the copies have the names `chair`, `chair 2`, `chair 3` ..., x fastest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepeatTable {
    /// Number of copies along the x, y and z axis of the scene, each at least 1.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub count: [u32; 3],
    /// Distance between copies along each axis.
    pub step_m: [f64; 3],
}

/// A copy of an object.
pub(super) struct Copy {
    /// Number of the copy, from 1.
    number: u32,
    /// Displacement from the first copy.
    pub offset: Translation3<f64>,
}

impl Default for Copy {
    fn default() -> Self {
        Self {
            number: 1,
            offset: Translation3::identity(),
        }
    }
}

impl Copy {
    /// Name of the copy of an object.
    pub fn name_of(&self, object: &str) -> String {
        match self.number {
            1 => object.to_owned(),
            number => format!("{object} {number}"),
        }
    }
}

impl RepeatTable {
    /// The copies, x fastest.
    pub(super) fn copies(
        &self,
        document: &Document,
        span: Range<usize>,
    ) -> Result<Vec<Copy>, DocumentError> {
        // Check the numbers
        let total = self
            .count
            .iter()
            .try_fold(1_u32, |total, count| total.checked_mul(*count));
        if total.is_none_or(|total| total > MAX_COPIES) {
            let problem = TomlProblem::value(
                "the copies are more than 100,000",
                "write for example repeat = { count = [4, 2, 1], step_m = [1.2, 0.9, 0.0] }",
            );
            return Err(document.error(span, problem));
        }

        let axes = self.count.iter().zip(&self.step_m).zip(["x", "y", "z"]);
        let mut coincident = axes.filter(|((count, step), _)| **count > 1 && **step == 0.0);
        if let Some(((count, _), axis)) = coincident.next() {
            let problem = TomlProblem::value(
                format!("the {count} copies along {axis} are at one place: their step_m is 0"),
                format!("give step_m a distance along {axis}, or count 1"),
            );
            return Err(document.error(span, problem));
        }

        // List the copies
        let [along_x, along_y, along_z] = self.count;
        let step = Vector3::from(self.step_m);
        let mut copies = Vec::new();
        for z in 0..along_z {
            for y in 0..along_y {
                for x in 0..along_x {
                    let index = Vector3::new(f64::from(x), f64::from(y), f64::from(z));
                    copies.push(Copy {
                        number: 1 + x + along_x * (y + along_y * z),
                        offset: index.component_mul(&step).into(),
                    });
                }
            }
        }
        Ok(copies)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::ConfigError;
    use crate::scene::{LoadedScene, parse};
    use crate::toml_file::Document;

    fn scene(repeat: &str) -> Result<LoadedScene, ConfigError> {
        let text = format!(
            "version = 1\n[[objects]]\nname = \"post\"\nmaterial = \"wood\"\nposition_m = [1, 2, 3]\n\
             shape.box = {{ size_m = [0.1, 0.1, 2] }}\nrepeat = {repeat}\n"
        );
        parse(&Document::new("posts.toml", text))
    }

    #[test]
    fn copies_share_the_mesh_and_are_displaced_by_the_steps() {
        let scene = scene("{ count = [3, 2, 1], step_m = [0.5, -1.0, 0.0] }")
            .unwrap()
            .scene;
        let objects = scene.objects();
        let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(
            names,
            ["post", "post 2", "post 3", "post 4", "post 5", "post 6"]
        );
        assert!(objects.iter().all(|object| object.mesh == objects[0].mesh));
        let last = objects[5].world_from_object.translation.vector;
        assert_eq!(last.as_slice(), [2.0, 1.0, 3.0]);
    }

    #[test]
    fn no_copies_too_many_and_infinite_steps_are_errors_with_their_position() {
        for (repeat, expected) in [
            (
                "{ count = [0, 1, 1], step_m = [1, 0, 0] }",
                "7:21: count is 0",
            ),
            (
                "{ count = [100000, 2, 1], step_m = [1, 0, 0] }",
                "7:10: the copies",
            ),
            (
                "{ count = [100000, 100000, 100000], step_m = [1, 0, 0] }",
                "7:10: the copies",
            ),
            (
                "{ count = [2, 1, 1], step_m = [inf, 0, 0] }",
                "7:41: step_m is inf m",
            ),
            (
                "{ count = [2, 3, 1], step_m = [0.5, 0, 0] }",
                "7:10: the 3 copies along y are at one place",
            ),
        ] {
            let error = scene(repeat).map(|_| ()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("posts.toml:{expected}")),
                "{error}"
            );
        }
    }
}
