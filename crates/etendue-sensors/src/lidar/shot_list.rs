//! The shots of a scan that is predicted many times.

use super::fast::ShotTiles;
use super::shot::Shot;
use std::ops::Deref;
use std::sync::OnceLock;

/// The shots of a scan that is predicted many times. The first prediction arranges the rays of the shots in the order in
/// which they are cast.
///
/// ```
/// use etendue_sensors::lidar::ShotList;
/// let none = ShotList::from(vec![]);
/// assert_eq!(none.len(), 0);
/// ```
#[derive(Debug, Default)]
pub struct ShotList {
    shots: Vec<Shot>,
    pub(super) tiles: OnceLock<ShotTiles>,
}

impl ShotList {
    /// The shots, to be changed.
    pub fn shots_mut(&mut self) -> &mut [Shot] {
        self.tiles = OnceLock::new();
        &mut self.shots
    }
}

impl From<Vec<Shot>> for ShotList {
    fn from(shots: Vec<Shot>) -> Self {
        Self {
            shots,
            tiles: OnceLock::new(),
        }
    }
}

impl Clone for ShotList {
    fn clone(&self) -> Self {
        Self::from(self.shots.clone())
    }
}

impl Deref for ShotList {
    type Target = [Shot];

    fn deref(&self) -> &[Shot] {
        &self.shots
    }
}
