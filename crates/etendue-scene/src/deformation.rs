//! Deforming meshes: key frames of vertex positions.

use etendue_raycast::{MeshError, check_vertices};
use nalgebra::Point3;
use thiserror::Error;

/// The vertex positions of a mesh at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexFrame {
    /// Time, s from the scene's epoch.
    pub time: f64,
    /// Vertex positions in the mesh's frame, m.
    pub vertices: Vec<Point3<f64>>,
}

/// The vertex positions of a mesh over time, linear between key frames. Before the first and after the
/// last key frame they are constant, or the key frames repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Deformation {
    frames: Vec<VertexFrame>,
    repeats: bool,
}

/// An error in key frames of vertices.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DeformationError {
    /// There is no key frame.
    #[error("there is no key frame")]
    Empty,
    /// A key frame has another number of vertices than the first.
    #[error("key frame {frame} has {vertices} vertices, the first has {first}")]
    VertexCount {
        /// The key frame's index.
        frame: usize,
        /// Number of its vertices.
        vertices: usize,
        /// Number of vertices of the first key frame.
        first: usize,
    },
    /// A vertex is not finite.
    #[error("key frame {frame}: {source}")]
    Vertex {
        /// The key frame's index.
        frame: usize,
        /// The vertex and its position.
        source: MeshError,
    },
    /// A time is not finite, or not later than the one before.
    #[error("key frame {frame} is at {time} s, it must be later than {before} s")]
    NotAscending {
        /// The key frame's index.
        frame: usize,
        /// The key frame's time, s.
        time: f64,
        /// Time of the key frame before it, s.
        before: f64,
    },
}

impl DeformationError {
    /// The index of the invalid key frame, if there is one.
    pub fn frame(&self) -> Option<usize> {
        match self {
            Self::Empty => None,
            Self::VertexCount { frame, .. }
            | Self::Vertex { frame, .. }
            | Self::NotAscending { frame, .. } => Some(*frame),
        }
    }
}

impl Deformation {
    /// A deformation through key frames in the order of time. With `repeats`, the last one is the first of
    /// the next cycle.
    ///
    /// ```
    /// use etendue_scene::{Deformation, VertexFrame};
    /// use nalgebra::Point3;
    /// let frame = |time, x| VertexFrame { time, vertices: vec![Point3::new(x, 0.0, 0.0)] };
    /// let there_and_back = vec![frame(0.0, 1.0), frame(0.5, 2.0), frame(1.0, 1.0)];
    /// let deformation = Deformation::new(there_and_back, true)?;
    /// assert_eq!(deformation.at(0.25)[0].x, 1.5);
    /// assert_eq!(deformation.at(7.75)[0].x, 1.5);
    /// # Ok::<(), etendue_scene::DeformationError>(())
    /// ```
    ///
    /// # Errors
    /// Where there is none, their vertices differ in number or are not finite, or their times do
    /// not ascend.
    pub fn new(frames: Vec<VertexFrame>, repeats: bool) -> Result<Self, DeformationError> {
        let first = frames.first().ok_or(DeformationError::Empty)?;
        let count = first.vertices.len();
        let mut before = f64::NEG_INFINITY;
        for (number, frame) in frames.iter().enumerate() {
            // Check the number of vertices.
            if frame.vertices.len() != count {
                return Err(DeformationError::VertexCount {
                    frame: number,
                    vertices: frame.vertices.len(),
                    first: count,
                });
            }
            // Check that they are finite.
            check_vertices(&frame.vertices).map_err(|source| DeformationError::Vertex {
                frame: number,
                source,
            })?;
            // Check that times ascend.
            if !(frame.time > before && frame.time.is_finite()) {
                return Err(DeformationError::NotAscending {
                    frame: number,
                    time: frame.time,
                    before,
                });
            }
            before = frame.time;
        }
        Ok(Self { frames, repeats })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.frames[0].vertices.len()
    }

    /// The vertex positions (m) at a time (s).
    pub fn at(&self, time: f64) -> Vec<Point3<f64>> {
        let (from, to, share) = self.between(time);
        let pairs = from.vertices.iter().zip(&to.vertices);
        pairs.map(|(a, b)| a + (b - a) * share).collect()
    }

    /// The position (m) of one vertex at a time (s).
    pub fn vertex_at(&self, vertex: usize, time: f64) -> Point3<f64> {
        let (from, to, share) = self.between(time);
        let a = from.vertices[vertex];
        let b = to.vertices[vertex];
        a + (b - a) * share
    }

    /// The key frames before and after a time, and the fraction of the interval between them.
    fn between(&self, time: f64) -> (&VertexFrame, &VertexFrame, f64) {
        let first = &self.frames[0];
        let last = &self.frames[self.frames.len() - 1];
        let round = last.time - first.time;
        let time = if self.repeats && round > 0.0 {
            first.time + (time - first.time).rem_euclid(round)
        } else {
            time.clamp(first.time, last.time)
        };
        let next = self.frames.partition_point(|frame| frame.time <= time);
        let to = &self.frames[next.min(self.frames.len() - 1)];
        let from = &self.frames[next.saturating_sub(1)];
        let length = to.time - from.time;
        let share = if length > 0.0 {
            (time - from.time) / length
        } else {
            0.0
        };
        (from, to, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time: f64, x: f64) -> VertexFrame {
        VertexFrame {
            time,
            vertices: vec![Point3::new(x, 0.0, 0.0); 3],
        }
    }

    #[test]
    fn key_frames_that_cannot_be_are_refused_by_number() {
        let refused = |frames| Deformation::new(frames, false).expect_err("refused");
        assert_eq!(refused(vec![]), DeformationError::Empty);
        let mut few = frame(1.0, 0.0);
        few.vertices.pop();
        for wrong in [
            frame(0.0, 0.0),
            frame(f64::NAN, 0.0),
            frame(1.0, f64::NAN),
            few,
        ] {
            let error = refused(vec![frame(0.0, 0.0), wrong]);
            assert_eq!(error.frame(), Some(1), "{error}");
        }
    }

    #[test]
    fn it_is_constant_outside_its_key_frames_or_repeats() {
        let frames = vec![frame(1.0, 0.0), frame(2.0, 4.0), frame(4.0, 0.0)];
        let x = |repeats, time| {
            let deformation = Deformation::new(frames.clone(), repeats).expect("fine");
            assert_eq!(deformation.at(time)[2], deformation.vertex_at(2, time));
            deformation.vertex_at(0, time).x
        };
        assert_eq!(
            [0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 9.0].map(|t| x(false, t)),
            [0.0, 0.0, 1.0, 4.0, 2.0, 0.0, 0.0]
        );
        assert_eq!(
            [0.0, 4.0, 4.25, 5.0, -0.5].map(|t| x(true, t)),
            [2.0, 0.0, 1.0, 4.0, 3.0]
        );
    }
}
