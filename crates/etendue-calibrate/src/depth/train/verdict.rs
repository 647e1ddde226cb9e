//! Training with a hold-out and a verdict on the model.

use super::hold_out::{HoldOut, LEAST_SCANS, blocks, hold_out};
use super::settings::TrainingSettings;
use super::shape::RemainingBias;
use super::training::{TrainingResult, train};
use crate::depth::error::DepthError;
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::DepthModel;
use std::fmt;

/// A trained model with the evidence for and against its use.
#[derive(Clone, Debug)]
pub struct TestedModel {
    /// The training on all scans; the interval of its curve includes the differences between the models of the
    /// hold-out and the bias that they leave.
    pub training: TrainingResult,
    /// The model on blocks of scans that it was not trained on; `None` with fewer than six scans, or if it
    /// could not be evaluated.
    pub hold_out: Option<HoldOut>,
    /// The verdict.
    pub verdict: ModelVerdict,
}

impl TestedModel {
    /// Span of incidences over which the bias of a usable model is determined, rad.
    pub fn determined(&self) -> Option<[f64; 2]> {
        let span = self.training.curve.determined();
        span.filter(|_| self.verdict.is_usable())
    }

    /// Description of that span for the user.
    pub fn summary(&self) -> String {
        if self.verdict.is_usable() {
            return self.training.curve.verdict();
        }
        "the bias is not determined at any incidence, because the model is not determined"
            .to_owned()
    }
}

/// Verdict on a trained model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelVerdict {
    /// The model improves the held-out scans and reduces the error of the bias.
    Usable,
    /// The scans do not determine the model, for at least one reason.
    NotDetermined(Vec<NotDetermined>),
}

impl ModelVerdict {
    /// Whether the model is usable.
    pub fn is_usable(&self) -> bool {
        *self == Self::Usable
    }

    /// Reasons why the model is not determined; empty for a usable one.
    pub fn reasons(&self) -> &[NotDetermined] {
        match self {
            Self::Usable => &[],
            Self::NotDetermined(reasons) => reasons,
        }
    }
}

/// Reason why a model is not determined.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotDetermined {
    /// The minimisation ended at the limit of iterations.
    NotConverged {
        /// Number of iterations.
        iterations: usize,
    },
    /// A pose left its prior.
    PosesDrift {
        /// Index of the pose.
        pose: usize,
        /// Greatest component of its correction in standard deviations of the prior.
        deviation: f64,
        /// Greatest displacement of a pose, m.
        displacement: f64,
    },
    /// A parameter is at the limit of its physical values.
    AtBound,
    /// Too few scans for a hold-out.
    TooFewScans {
        /// Number of scans.
        scans: usize,
    },
    /// The hold-out cannot be evaluated.
    NoHoldOut(DepthError),
    /// The held-out blocks do not become thinner.
    NotImproved {
        /// Relative decrease of the loss.
        improvement: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// A bias of free shape makes the held-out blocks thinner than the model does.
    WrongShape {
        /// Share of the decrease of the loss that the model misses.
        missed: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// The interval is not small compared with the bias at any incidence.
    WideInterval,
}

impl fmt::Display for NotDetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConverged { iterations } => write!(
                f,
                "the minimisation did not converge in {iterations} iterations"
            ),
            Self::PosesDrift {
                pose,
                deviation,
                displacement,
            } => write!(
                f,
                "the poses drift: that of scan {pose} by {deviation:.1} standard deviations of its \
                 prior, the largest displacement is {displacement:.3} m"
            ),
            Self::AtBound => write!(f, "a parameter is at the limit of its physical values"),
            Self::TooFewScans { scans } => write!(
                f,
                "{scans} scans are too few for a hold-out, which needs {LEAST_SCANS}"
            ),
            Self::NoHoldOut(error) => write!(f, "the hold-out cannot be evaluated: {error}"),
            Self::NotImproved { improvement, sd } => write!(
                f,
                "the held-out scans are not improved: their loss changes by {:+.1} % with a \
                 standard deviation of {:.1} %",
                -improvement * 1e2,
                sd * 1e2
            ),
            Self::WrongShape { missed, sd } => write!(
                f,
                "the shape of the bias is wrong: the model misses {:.0} % of the decrease of the loss by a bias of \
                 free shape, with a standard deviation of {:.0} %",
                missed * 1e2,
                sd * 1e2
            ),
            Self::WideInterval => write!(
                f,
                "the interval is not small compared with the bias at any observed incidence"
            ),
        }
    }
}

/// Greatest plausible correction of a pose, in standard deviations of the prior: exceeded by one of 1000
/// components of a normal distribution with a probability of 0.06 %.
const LARGEST_DEVIATION: f64 = 5.0;

/// Trains a model on all scans, tests it and its shape on held-out blocks of scans ([`HoldOut`]), and gives a
/// verdict. The arguments are those of [`train`].
///
/// # Errors
/// As [`train`]. A test that cannot be evaluated is a reason of the verdict, not an error.
pub fn train_and_test(
    map: &DepthMap,
    validation: Option<&DepthMap>,
    start: &DepthModel,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> Result<TestedModel, DepthError> {
    let mut reasons = Vec::new();
    let mut trained = train(map, validation, start, training, options)?;
    reasons.extend(reasons_of_training(&trained));

    // Test on held-out scans
    let scans = map.world_from_lidar().len();
    let held_out = if blocks(scans).is_empty() {
        reasons.push(NotDetermined::TooFewScans { scans });
        None
    } else {
        let result = hold_out(map, start, training, options);
        result
            .map_err(|error| reasons.push(NotDetermined::NoHoldOut(error)))
            .ok()
    };
    if let Some(held_out) = held_out.as_ref().filter(|h| !h.is_improved()) {
        reasons.push(NotDetermined::NotImproved {
            improvement: held_out.improvement(),
            sd: held_out.improvement_sd,
        });
    }

    if let Some(held_out) = held_out.as_ref().filter(|h| h.is_wrong_shape())
        && let Some(missed) = held_out.missed()
    {
        let sd = held_out.missed_sd;
        reasons.push(NotDetermined::WrongShape { missed, sd });
    }

    // Interval with the differences between the models and the bias that they leave
    if let Some(held_out) = &held_out {
        let left = RemainingBias::new(map, &held_out.tables, held_out.missed_decrease());
        trained.curve.widen(&held_out.models, &left);
    }
    if trained.curve.determined().is_none() {
        reasons.push(NotDetermined::WideInterval);
    }
    Ok(TestedModel {
        training: trained,
        hold_out: held_out,
        verdict: if reasons.is_empty() {
            ModelVerdict::Usable
        } else {
            ModelVerdict::NotDetermined(reasons)
        },
    })
}

/// Reasons from the training itself.
fn reasons_of_training(trained: &TrainingResult) -> Vec<NotDetermined> {
    let mut reasons = Vec::new();
    if !trained.converged {
        let iterations = trained.progress.len().saturating_sub(1);
        reasons.push(NotDetermined::NotConverged { iterations });
    }
    if let Some(change) = trained.poses
        && change.deviation > LARGEST_DEVIATION
    {
        reasons.push(NotDetermined::PosesDrift {
            pose: change.farthest,
            deviation: change.deviation,
            displacement: change.displacement,
        });
    }
    if trained.model.is_at_bound() {
        reasons.push(NotDetermined::AtBound);
    }
    reasons
}
