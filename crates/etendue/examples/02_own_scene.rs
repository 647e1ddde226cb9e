//! A scene from text, and the error message for a misspelt key.

use etendue::config::scene::parse;
use etendue::config::toml_file::Document;
use etendue::scene::{CastScratch, Ray};
use nalgebra::{Point3, Vector3};

const SCENE: &str = r#"
version = 1
[[objects]]
name = "ball"
shape.sphere = { radius_m = 0.3 }
position_m = [2.0, 0.0, 0.0]
material = "white-paper"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let loaded = parse(&Document::new("ball.toml", SCENE))?;
    let ray = Ray::new(Point3::origin(), Vector3::x());
    let hit = loaded
        .scene
        .closest_hit(&ray, &mut CastScratch::new())
        .ok_or("no hit")?;
    assert!((hit.distance - 1.7).abs() < 0.01);

    let mistake = SCENE.replace("radius_m", "radios_m");
    let error = parse(&Document::new("ball.toml", mistake))
        .err()
        .ok_or("no error")?;
    assert_eq!(error.remedy(), "did you mean \"radius_m\"?");
    eprintln!("{error}; {}", error.remedy());
    Ok(())
}
