//! The rays of the shots of a scan in the order in which they are cast, in the frame of the sensor.

use super::order::CastOrder;
use crate::lidar::shot::Shot;
use etendue_scene::RayTile;
use nalgebra::Isometry3;

/// Number of rays in a tile.
const LANES: usize = 16;

/// The axes of the shots of a scan in the order in which they are cast, sixteen in a tile.
#[derive(Debug)]
pub(in crate::lidar) struct ShotTiles(Vec<ShotTile>);

/// Axes of up to sixteen shots in the frame of the sensor, by axis and lane.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::lidar) struct ShotTile {
    origin: [[f64; 16]; 3],
    direction: [[f64; 16]; 3],
    time: [f64; 16],
    /// Places of the shots in their batch.
    places: [u16; 16],
    /// Index of the channel of each shot.
    channels: [u16; 16],
    /// Number of shots.
    used: usize,
}

impl ShotTiles {
    /// The tiles of the shots of a scan, whose batches of `per_batch` shots are cast one by one.
    ///
    /// Whole batches of the same channels are cast in the order of the first, whose columns they repeat.
    pub fn new(shots: &[Shot], per_batch: usize) -> Self {
        let model = shots.get(..per_batch).unwrap_or_default();
        let first = CastOrder::new(model);
        let channels = |shots: &[Shot]| shots.iter().map(|shot| shot.channel).collect::<Vec<_>>();
        let channels_of_first = channels(model);
        let mut tiles = Vec::with_capacity(shots.len().div_ceil(LANES));
        for batch in shots.chunks(per_batch) {
            let own;
            let order = if channels(batch) == channels_of_first {
                first.all()
            } else {
                own = CastOrder::new(batch);
                own.all()
            };
            let places = order.shots.chunks(LANES);
            tiles.extend(places.map(|places| ShotTile::new(batch, places)));
        }
        Self(tiles)
    }

    /// The tiles of the batch of `count` shots that begins with a shot, whose number is a multiple of sixteen.
    pub fn batch(&self, first: usize, count: usize) -> &[ShotTile] {
        &self.0[first / LANES..][..count.div_ceil(LANES)]
    }
}

impl ShotTile {
    /// The tile of the shots at some places of a batch.
    fn new(batch: &[Shot], places: &[usize]) -> Self {
        let mut tile = Self {
            origin: [[0.0; 16]; 3],
            direction: [[1.0; 16], [0.0; 16], [0.0; 16]],
            time: [0.0; 16],
            places: [0; 16],
            channels: [0; 16],
            used: places.len(),
        };
        for (lane, &place) in places.iter().enumerate() {
            let shot = &batch[place];
            let direction = shot.direction();
            for axis in 0..3 {
                tile.origin[axis][lane] = shot.origin[axis];
                tile.direction[axis][lane] = direction[axis];
            }
            tile.time[lane] = shot.time;
            tile.places[lane] = u16::try_from(place).expect("a batch has few shots");
            tile.channels[lane] = shot.channel;
        }
        tile
    }

    /// Places of the shots in their batch.
    #[inline]
    pub fn places(&self) -> &[u16] {
        &self.places[..self.used]
    }

    /// Index of the channel of each shot.
    #[inline]
    pub fn channels(&self) -> &[u16] {
        &self.channels[..self.used]
    }

    /// Writes the rays in the world.
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    pub fn aim(&self, world_from_sensor: &Isometry3<f64>, rays: &mut RayTile) {
        rays.origin = self.origin;
        rays.direction = self.direction;
        rays.time = self.time;
        rays.used = self.used;
        rays.transform(world_from_sensor);
    }
}
