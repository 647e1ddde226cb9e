//! Light transport method of a sweep.

use crate::transport::{PathSettings, TreeSettings};

/// Light transport method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightModel {
    /// Ray trees: exact reflection and refraction at mirrors and glass; light scattered by rough surfaces
    /// returns along the path on which it arrived.
    Tree(TreeSettings),
    /// Path tracing: includes light that several rough surfaces scattered.
    Paths(PathSettings),
}

impl Default for LightModel {
    fn default() -> Self {
        Self::Tree(TreeSettings::default())
    }
}

impl LightModel {
    /// Path tracing with a number of paths per ray.
    pub fn with_paths(paths: u32) -> Self {
        Self::Paths(PathSettings {
            paths,
            ..PathSettings::default()
        })
    }

    /// Limits of ray trees; the default ones for path tracing, which traces ambient light by ray trees.
    pub fn tree(&self) -> TreeSettings {
        match *self {
            Self::Tree(tree) => tree,
            Self::Paths(_) => TreeSettings::default(),
        }
    }
}
