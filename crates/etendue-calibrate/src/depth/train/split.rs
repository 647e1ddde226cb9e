//! Splits of sub-sequences into training, validation and test.

use crate::depth::error::DepthError;

/// Indices of the sub-sequences for training, validation and test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceSplit {
    /// Half of them, for minimisation of the loss.
    pub train: Vec<usize>,
    /// A quarter, for selection of the iteration.
    pub validation: Vec<usize>,
    /// A quarter, for evaluation.
    pub test: Vec<usize>,
}

impl SequenceSplit {
    /// Four rotated splits 4 : 2 : 2, so that every sub-sequence is tested once.
    ///
    /// ```
    /// use etendue_calibrate::depth::train::SequenceSplit;
    /// let splits = SequenceSplit::rotations(8)?;
    /// assert_eq!(splits[1].train, [2, 3, 4, 5]);
    /// assert_eq!(splits[1].validation, [6, 7]);
    /// assert_eq!(splits[1].test, [0, 1]);
    /// # Ok::<(), etendue_calibrate::depth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// If `count` is not a multiple of four, or zero.
    pub fn rotations(count: usize) -> Result<[Self; 4], DepthError> {
        if count == 0 || !count.is_multiple_of(4) {
            return Err(DepthError::SplitCount { count });
        }
        let quarter = count / 4;
        let part = |first: usize, length: usize| -> Vec<usize> {
            (first..first + length).map(|i| i % count).collect()
        };
        Ok([0, 1, 2, 3].map(|rotation| {
            let first = rotation * quarter;
            Self {
                train: part(first, 2 * quarter),
                validation: part(first + 2 * quarter, quarter),
                test: part(first + 3 * quarter, quarter),
            }
        }))
    }
}
