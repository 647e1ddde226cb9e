//! Suggestions for misspelt names.

/// Minimum similarity of suggested names (Jaro-Winkler, 0 to 1).
const MIN_SIMILARITY: f64 = 0.7;

/// Greatest number of edits between similar names, as a share of the characters of the longer one.
const MAX_EDITS: f64 = 0.5;

/// Similarity of a candidate that contains the name, such as a model without its maker.
const CONTAINED: f64 = 0.95;

/// Least number of characters of a name that is searched in candidates.
const MIN_CONTAINED: usize = 3;

/// The candidate most similar to `name`, if it is similar enough to be a typing error, or contains
/// the name.
///
/// # Example
/// ```
/// use etendue_config::toml_file::nearest;
/// assert_eq!(nearest("reflectence", ["roughness", "reflectance"]), Some("reflectance".into()));
/// assert_eq!(nearest("a1", ["slamtec-rplidar-a1"]), None);
/// assert_eq!(nearest("RPLIDAR-A1", ["slamtec-rplidar-a1"]), Some("slamtec-rplidar-a1".into()));
/// assert_eq!(nearest("qqq", ["roughness", "reflectance"]), None);
/// assert_eq!(nearest("nothing", ["contributing"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest_within(MAX_EDITS, name, candidates)
}

/// [`nearest`] with at most `edits` between the names, as a share of the characters of the longer one.
pub(super) fn nearest_within<'a>(
    edits: f64,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    candidates
        .into_iter()
        .map(|candidate| (similarity(&fold(name), &fold(candidate), edits), candidate))
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

/// Similarity of a name and a candidate, both folded; zero beyond a share of edits.
fn similarity(name: &str, candidate: &str, most: f64) -> f64 {
    let alike = strsim::jaro_winkler(name, candidate);
    let is_contained = name.chars().count() >= MIN_CONTAINED && candidate.contains(name);
    if is_contained {
        return alike.max(CONTAINED);
    }
    let longer = name.chars().count().max(candidate.chars().count());
    let edits = strsim::osa_distance(name, candidate) as f64;
    if edits <= most * longer as f64 {
        alike
    } else {
        0.0
    }
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}
