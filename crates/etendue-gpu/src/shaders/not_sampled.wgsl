// Receivers whose echoes have a closed form, in air that returns no light.

fn power_of_air_at(range: vec2<f32>) -> f32 {
    return 0.0;
}

// A reported echo, by its number in the report.
fn jittered(found: Detection, number: u32) -> Detection {
    return found;
}
