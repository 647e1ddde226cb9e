// Receivers that report one echo of a shot.

var<private> kept: Detection;
var<private> detections: u32;

// Keeps the echo that is reported, of those of a shot, nearest first.
fn keep(found: Detection) -> bool {
    detections += 1u;
    let is_stronger = params.kinds.w == STRONGEST && found.power > kept.power;
    if detections == 1u || params.kinds.w == LAST || is_stronger {
        kept = found;
    }
    return true;
}

// Sets what the lidar reports of a shot.
fn report_kept(echo: ptr<function, Echo>, shot: u32, environment: u32) {
    if detections > 0u {
        detect(echo, kept, shot, environment);
    }
}
