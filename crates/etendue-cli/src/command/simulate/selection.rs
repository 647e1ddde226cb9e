//! Formats of the files in a folder of results.

use etendue::io::points::PointFormat;

/// Formats that a folder has without `--formats`.
pub const DEFAULT_FORMATS: &str = "csv,pcd,png";

/// Name that selects all formats.
const ALL: &str = "all";

/// Formats without points.
const PICTURES: [&str; 2] = ["png", "svg"];

/// Bytes of one row in each format, for estimates before the run: measured with an Ouster OS1-128.
const BYTES_PER_ROW: [(&str, u64); 8] = [
    ("csv", 260),
    ("npz", 160),
    ("pcd", 60),
    ("ply", 60),
    ("las", 26),
    ("e57", 38),
    ("bin", 14),
    ("mcap", 56),
];

/// Names of the formats that a folder can have.
pub fn names() -> Vec<&'static str> {
    let formats = PointFormat::ALL.into_iter();
    let formats = formats.filter(|format| format.is_written() && format.is_in_folders());
    let points = formats.map(|format| format.endings()[0]);
    points.chain(PICTURES).collect()
}

/// Reads the name of a format.
pub fn format_name(text: &str) -> Result<String, String> {
    let name = text.trim().trim_start_matches('.').to_ascii_lowercase();
    let known = names();
    if name == ALL || known.contains(&&*name) {
        return Ok(name);
    }
    Err(format!("expected {} or {ALL}", known.join(", ")))
}

/// Help on the formats.
pub fn help() -> String {
    format!(
        "Formats of the files in a folder, separated by commas: {}, or {ALL} [default: {DEFAULT_FORMATS}]",
        names().join(", ")
    )
}

/// The selected formats, in the order of [`names`]; the default without a selection.
pub fn selected(given: Option<&[String]>) -> Vec<&'static str> {
    let is_selected = |name: &str| match given {
        Some(given) => given.iter().any(|one| one == name || one == ALL),
        None => DEFAULT_FORMATS.split(',').any(|one| one == name),
    };
    let names = names().into_iter();
    names.filter(|name| is_selected(name)).collect()
}

/// Names of the files of a folder with these formats.
pub fn files(formats: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    for &format in formats {
        files.push(format!("scan.{format}"));
        let others: &[&str] = match format {
            "csv" => &["beams.csv"],
            "npz" => &["beams.npz"],
            "pcd" => &["grid.pcd"],
            "mcap" => &["metadata.yaml"],
            "png" => &["range.png", "intensity.png"],
            _ => &[],
        };
        files.extend(others.iter().map(|&other| other.to_owned()));
    }
    files.push("run.json".to_owned());
    files
}

/// Approximate bytes of the files of `beams` beams in these formats.
pub fn expected_bytes(formats: &[&str], beams: u64) -> u64 {
    let of_format = |format: &&str| {
        let found = BYTES_PER_ROW.iter().find(|(name, _)| name == format);
        found.map_or(0, |(_, bytes)| bytes * beams)
    };
    formats.iter().map(of_format).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_selected_in_any_case_and_unknown_ones_are_refused() {
        assert_eq!(format_name(" .PCD").as_deref(), Ok("pcd"));
        assert!(format_name("pdc").is_err_and(|error| error.contains("pcd, ")));
        assert_eq!(selected(None), ["pcd", "csv", "png"]);
        let given = ["las".to_owned()];
        assert_eq!(files(&selected(Some(&given))), ["scan.las", "run.json"]);
        let all = [ALL.to_owned()];
        assert_eq!(selected(Some(&all)), names());
    }
}
