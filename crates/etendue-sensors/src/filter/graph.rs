//! Chains of filters.

use super::definition::Filter;
use super::user::{FilterContext, FilterRun};
use crate::capture::{Data, DataKind};
use thiserror::Error;

/// A chain of filters whose kinds of data match.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterGraph {
    filters: Vec<Filter>,
    kinds: Vec<DataKind>,
}

/// Filters do not form a graph.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterGraphError {
    /// A filter does not accept the kind of its input.
    #[error("filter {place}, {name}, does not take {given}")]
    Misfit {
        /// Index of the filter, from zero.
        place: usize,
        /// The filter.
        name: String,
        /// Kind of its input.
        given: DataKind,
    },
    /// A parameter of a filter is invalid.
    #[error("filter {place}, {name}: {problem}")]
    Numbers {
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
            Self::Misfit { place, .. } | Self::Numbers { place, .. } => *place,
        }
    }
}

impl FilterGraph {
    /// Filters behind a sensor that gives data of the kind `input`.
    ///
    /// # Errors
    /// Where a filter does not take what the one before gives, or has numbers that cannot be.
    ///
    /// ```
    /// use etendue_sensors::filter::{Filter, FilterGraph};
    /// use etendue_sensors::rig::DataKind;
    /// let filters = vec![Filter::ToCloud, Filter::Voxels { size: 0.1 }];
    /// let graph = FilterGraph::new(DataKind::Points, filters.clone())?;
    /// assert_eq!(graph.output(), DataKind::Cloud);
    /// let error = FilterGraph::new(DataKind::Imu, filters).unwrap_err();
    /// assert_eq!(error.to_string(), "filter 0, to_cloud, does not take inertial readings");
    /// # Ok::<(), etendue_sensors::filter::FilterGraphError>(())
    /// ```
    pub fn new(input: DataKind, filters: Vec<Filter>) -> Result<Self, FilterGraphError> {
        let mut kinds = vec![input];
        for (place, filter) in filters.iter().enumerate() {
            let name = || filter.name().to_owned();
            if let Some(problem) = filter.problem() {
                let name = name();
                return Err(FilterGraphError::Numbers {
                    place,
                    name,
                    problem,
                });
            }
            let given = kinds[place];
            let output = filter
                .output(given)
                .ok_or_else(|| FilterGraphError::Misfit {
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

    /// The kind of data behind the last filter.
    pub fn output(&self) -> DataKind {
        self.kinds[self.kinds.len() - 1]
    }

    /// Names of the taps, in their order.
    pub fn taps(&self) -> impl Iterator<Item = &str> {
        self.filters.iter().filter_map(|filter| match filter {
            Filter::Tap { name } => Some(name.as_str()),
            _ => None,
        })
    }

    /// The kind of data of each output: the last filter's, then the taps'.
    pub fn outputs(&self) -> impl Iterator<Item = DataKind> {
        let places = self.filters.iter().enumerate();
        let taps = places.filter(|(_, filter)| matches!(filter, Filter::Tap { .. }));
        std::iter::once(self.output()).chain(taps.map(|(place, _)| self.kinds[place]))
    }

    /// The running graph of sensor number `sensor`.
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

struct Step {
    run: Box<dyn FilterRun>,
    is_tap: bool,
}

impl FilterGraphRun {
    /// Filters the data of one capture. Returns (output number, data) of the taps in their order, then
    /// of the end of the graph, which is output 0.
    pub fn apply(&mut self, data: Data, context: &FilterContext) -> Vec<(usize, Data)> {
        let mut given = Vec::new();
        let mut data = data;
        for step in &mut self.steps {
            if step.is_tap {
                given.push((given.len() + 1, data.clone()));
            } else {
                data = step.run.apply(data, context);
            }
        }
        given.push((0, data));
        given
    }
}
