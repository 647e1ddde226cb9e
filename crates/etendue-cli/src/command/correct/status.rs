//! Status of a learnt model before it is applied.

use crate::failure::Failure;
use etendue::config::depth_model::{LearntModel, LearntStatus};
use std::path::Path;

/// Refuses a model that its training did not find usable; with `force` the reason is a warning. A manually
/// written model passes.
pub fn check_status(
    path: &Path,
    learnt: &LearntModel,
    force: bool,
) -> Result<Option<String>, Failure> {
    let Some(problem) = unusable(learnt) else {
        return Ok(None);
    };
    let message = format!("{}: {problem}", path.display());
    if force {
        return Ok(Some(message));
    }
    Err(Failure::usage(
        message,
        "train with more scans, better poses or another --model; `correct eval` shows the effect of \
         the model on other scans; --force applies it nevertheless",
    ))
}

/// Reason why a model must not be applied; `None` for a usable or a manually written model.
fn unusable(model: &LearntModel) -> Option<String> {
    match &model.learnt.as_ref()?.status {
        LearntStatus::Usable => None,
        LearntStatus::NotDetermined(reasons) => Some(format!(
            "the model is not determined: {}",
            reasons.join("; ")
        )),
        LearntStatus::Untested => {
            Some("the model is untested: it was trained by a version without a hold-out".to_owned())
        }
    }
}
