//! Declared properties of a panel, and criteria of the search.

/// Declared properties of a panel: hints for the search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelHint {
    /// Distance, m.
    pub distance: Option<f64>,
    /// Width, m: separates dropped beams on the panel from beams beyond its edge.
    pub width: Option<f64>,
    /// Bearing of the middle of the panel, anticlockwise from x, rad.
    pub bearing: Option<f64>,
    /// Azimuths between which the panel is, anticlockwise from the first to the second, rad: beams
    /// outside are ignored.
    pub sector: Option<[f64; 2]>,
}

/// Criteria of a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelSearch {
    /// Least number of directions.
    pub directions: usize,
    /// Least angular extent, rad.
    pub span: f64,
    /// Distance relative to the nearest panel beyond which other panels are background.
    pub background: f64,
}

impl Default for PanelSearch {
    fn default() -> Self {
        Self {
            directions: 8,
            span: 8.0_f64.to_radians(),
            background: 2.0,
        }
    }
}
