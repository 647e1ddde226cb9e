//! Suggestions for misspelt names.

/// Minimum similarity of suggested names (Jaro-Winkler, 0 to 1).
const MIN_SIMILARITY: f64 = 0.7;

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
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|candidate| (similarity(&fold(name), &fold(candidate)), candidate))
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

/// Similarity of a name and a candidate, both folded.
fn similarity(name: &str, candidate: &str) -> f64 {
    let alike = strsim::jaro_winkler(name, candidate);
    let is_contained = name.chars().count() >= MIN_CONTAINED && candidate.contains(name);
    if is_contained {
        alike.max(CONTAINED)
    } else {
        alike
    }
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}
