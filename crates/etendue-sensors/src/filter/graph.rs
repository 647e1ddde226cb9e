//! Filter graphs.

use super::definition::Filter;
use super::user::{FilterContext, FilterRun};
use crate::capture::{Data, DataKind};
use thiserror::Error;

/// A chain of filters with matching kinds of data.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterGraph {
    filters: Vec<Filter>,
    /// Kind of the input of each filter, then that of the output.
    kinds: Vec<DataKind>,
}

/// Error of filters that do not form a graph.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterGraphError {
    /// A filter does not accept the kind of its input.
    #[error("filter {place}, {name}, does not accept {given}")]
    KindMismatch {
        /// Index of the filter, from zero.
        place: usize,
        /// The filter.
        name: String,
        /// Kind of its input.
        given: DataKind,
    },
    /// A parameter of a filter is invalid.
    #[error("filter {place}, {name}: {problem}")]
    InvalidParameter {
        /// Index of the filter, from zero.
        place: usize,
        /// The filter.
        name: String,
        /// Description of the parameter.
        problem: String,
    },
}

impl FilterGraphError {
    /// Index of the filter in error.
    pub fn place(&self) -> usize {
        match self {
            Self::KindMismatch { place, .. } | Self::InvalidParameter { place, .. } => *place,
        }
    }
}

impl FilterGraph {
    /// Filters of a sensor that delivers data of the kind `input`.
    ///
    /// # Errors
    /// If a filter does not accept the output of its predecessor, or a parameter is invalid.
    ///
    /// ```
    /// use etendue_sensors::filter::{Filter, FilterGraph};
    /// use etendue_sensors::rig::DataKind;
    /// let filters = vec![Filter::ToCloud, Filter::Voxels { size: 0.1 }];
    /// let graph = FilterGraph::new(DataKind::Points, filters.clone())?;
    /// assert_eq!(graph.output(), DataKind::Cloud);
    /// let error = FilterGraph::new(DataKind::Imu, filters).unwrap_err();
    /// assert_eq!(error.to_string(), "filter 0, to_cloud, does not accept inertial readings");
    /// # Ok::<(), etendue_sensors::filter::FilterGraphError>(())
    /// ```
    pub fn new(input: DataKind, filters: Vec<Filter>) -> Result<Self, FilterGraphError> {
        let mut kinds = vec![input];
        for (place, filter) in filters.iter().enumerate() {
            let name = || filter.name().to_owned();
            if let Some(problem) = filter.problem() {
                let name = name();
                return Err(FilterGraphError::InvalidParameter {
                    place,
                    name,
                    problem,
                });
            }
            let given = kinds[place];
            let output = filter
                .output(given)
                .ok_or_else(|| FilterGraphError::KindMismatch {
                    place,
                    name: name(),
                    given,
                })?;
            kinds.push(output);
        }
        Ok(Self { filters, kinds })
    }

    /// The filters.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Kind of data of the last filter.
    pub fn output(&self) -> DataKind {
        self.kinds[self.kinds.len() - 1]
    }

    /// Names of the taps, in order.
    pub fn taps(&self) -> impl Iterator<Item = &str> {
        self.filters.iter().filter_map(|filter| match filter {
            Filter::Tap { name } => Some(name.as_str()),
            _ => None,
        })
    }

    /// Kind of data of each output: that of the last filter, then those of the taps.
    pub fn outputs(&self) -> impl Iterator<Item = DataKind> {
        let places = self.filters.iter().enumerate();
        let taps = places.filter(|(_, filter)| matches!(filter, Filter::Tap { .. }));
        std::iter::once(self.output()).chain(taps.map(|(place, _)| self.kinds[place]))
    }

    /// Starts the graph of the sensor with the index `sensor`.
    pub fn start(&self, seed: u64, sensor: u32) -> FilterGraphRun {
        let filters = (0..).zip(&self.filters).map(|(place, filter)| Step {
            run: filter.start(seed, sensor, place),
            is_tap: matches!(filter, Filter::Tap { .. }),
        });
        FilterGraphRun {
            steps: filters.collect(),
        }
    }
}

/// A running filter graph.
pub struct FilterGraphRun {
    steps: Vec<Step>,
}

/// A running filter of a graph.
struct Step {
    run: Box<dyn FilterRun>,
    is_tap: bool,
}

impl FilterGraphRun {
    /// Filters the data of one capture. Returns output index and data: of the taps in order, then of the end
    /// of the graph, which is output 0.
    pub fn apply(&mut self, data: Data, context: &FilterContext) -> Vec<(usize, Data)> {
        let mut outputs = Vec::new();
        let mut data = data;
        for step in &mut self.steps {
            if step.is_tap {
                outputs.push((outputs.len() + 1, data.clone()));
            } else {
                data = step.run.apply(data, context);
            }
        }
        outputs.push((0, data));
        outputs
    }
}
