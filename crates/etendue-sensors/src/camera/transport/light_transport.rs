//! Settings of light transport.

/// Light transport of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightTransport {
    /// Direct light: over one rough surface, with mirrors and glass between it and the camera (Whitted's
    /// ray tree, as for lidars).
    Direct {
        /// Maximum number of mirrors and panes on a path.
        depth: u32,
    },
    /// Path tracing (Kajiya 1986, doi:10.1145/15886.15902) with next-event estimation towards every light
    /// at each rough surface.
    Paths {
        /// Maximum number of rough surfaces on a path.
        scatterings: u32,
        /// Maximum number of surfaces on a path.
        depth: u32,
    },
}

impl Default for LightTransport {
    /// Direct light with up to 6 mirrors and panes.
    fn default() -> Self {
        Self::Direct { depth: 6 }
    }
}

impl LightTransport {
    /// Paths of up to 8 rough surfaces and 24 surfaces in total.
    pub fn paths() -> Self {
        Self::Paths {
            scatterings: 8,
            depth: 24,
        }
    }
}
