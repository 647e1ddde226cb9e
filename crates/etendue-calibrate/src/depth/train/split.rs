//! Which sub-sequences are trained on, chosen by, and tested on.

use crate::depth::DepthError;

/// Numbers of sub-sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceSplit {
    /// Half of them: the loss is minimised on these.
    pub train: Vec<usize>,
    /// A quarter: these choose the iteration.
    pub validation: Vec<usize>,
    /// A quarter: these judge.
    pub test: Vec<usize>,
}

impl SequenceSplit {
    /// The four rotations of 4 : 2 : 2, so that every sub-sequence is tested on once.
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
    /// Where `count` is not a multiple of four, or zero.
    pub fn rotations(count: usize) -> Result<[Self; 4], DepthError> {
        if count == 0 || !count.is_multiple_of(4) {
            return Err(DepthError::SplitCount { count });
        }
        let quarter = count / 4;
        let part = |first: usize, length: usize| -> Vec<usize> {
            (first..first + length).map(|i| i % count).collect()
        };
        Ok([0, 1, 2, 3].map(|turn| {
            let first = turn * quarter;
            Self {
                train: part(first, 2 * quarter),
                validation: part(first + 2 * quarter, quarter),
                test: part(first + 3 * quarter, quarter),
            }
        }))
    }
}
