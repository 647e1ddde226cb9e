//! Suggestions for misspelt names.

/// Minimum similarity of suggested names (Jaro-Winkler, 0 to 1).
const MIN_SIMILARITY: f64 = 0.7;

/// The candidate most similar to `name`, if it is similar enough to be a typing error.
///
/// # Example
/// ```
/// use etendue_config::toml_file::nearest;
/// assert_eq!(nearest("reflectence", ["roughness", "reflectance"]), Some("reflectance".into()));
/// assert_eq!(nearest("qqq", ["roughness", "reflectance"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&fold(name), &fold(candidate)),
                candidate,
            )
        })
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}
