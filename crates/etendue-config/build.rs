//! Generates the lists of preset files, one per folder. A new preset needs only its file.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

/// Folder, name of the constant, and kind of the presets.
const FOLDERS: [(&str, &str, &str); 6] = [
    ("cameras", "CAMERAS", "camera preset"),
    ("devices", "DEVICES", "device preset"),
    ("materials", "MATERIALS", "material"),
    ("profiles", "PROFILES", "profile"),
    ("scenes", "SCENES", "scene"),
    ("sensors", "SENSORS", "sensor preset"),
];

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut code = String::new();
    for (folder, constant, kind) in FOLDERS {
        let folder = Path::new(&root).join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            files.push((name.into_owned(), path.clone()));
        }
        files.sort();
        let doc = format!("/// All embedded files of the kind {kind}.\n");
        code += &doc;
        let _ = writeln!(
            code,
            "pub const {constant}: Presets = Presets::new({kind:?}, &["
        );
        for (name, path) in files {
            let path = path.display().to_string();
            let _ = writeln!(
                code,
                "    Preset {{ name: {name:?}, text: include_str!({path:?}) }},"
            );
        }
        code += "]);\n";
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("presets.rs"), code)
}
