// The rays of shots: those of a beam about its axis; where the shots are those of many environments, in the pose of the
// sensor in each. Double-single arithmetic.

struct Params {
    // Number of rays, zero (see `opaque_f32`), threads per row of the dispatch, number of rays of a shot.
    counts: vec4<u32>,
    // Number of shots, index of the first environment, whether there are environments (the shots are in the frame of the
    // sensor, without pointing errors; otherwise in that of the world, with them), number of channels.
    environments: vec4<u32>,
    // Seed, sweep of the environment 0, sensor in the upper twelve bits.
    key: vec4<u32>,
    // Weights of the pointing errors of a beam and its predecessors, rad.
    pointing: vec4<f32>,
    // Three per ray of a beam: offsets to the left and upwards; share of the axis and of the left; share of upwards.
    beam: array<vec4<f32>, 3 * MOST_BEAM_RAYS>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Seven per shot: origin, axis, left, upwards; index of the time, and upwards from the sensor.
@group(0) @binding(1) var<storage, read> shots: array<vec4<f32>>;
// Six per environment: rotation by rows, then translation.
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
// Five per ray: origin, direction, limits, time, mask, 0, and environment.
@group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;

const FARTHEST: f32 = 1e30;
const EVERYTHING: u32 = 0xffffffffu;
const POINTING: u32 = 7u;

fn sine(angle: f32) -> f32 {
    let quarter = floor(angle * 0.63661977237 + 0.5);
    return turned(u32(i32(quarter)), angle - quarter * 1.57079632679).y;
}

// A vector turned by an angle about z. Small angles have the precision of 45 bits.
fn turned_about_z(v: Ds3, angle: f32) -> Ds3 {
    let half = sine(0.5 * angle);
    let cosine = two_sum(1.0, -2.0 * half * half);
    let sine = vec2<f32>(sine(angle), 0.0);
    return Ds3(
        ds_sub(ds_mul(v.x, cosine), ds_mul(v.y, sine)),
        ds_add(ds_mul(v.x, sine), ds_mul(v.y, cosine)),
        v.z,
    );
}

@compute @workgroup_size(64)
fn aim_shots(@builtin(global_invocation_id) id: vec3<u32>) {
    let ray = id.y * params.counts.z + id.x;
    if ray >= params.counts.x {
        return;
    }

    // The shot, and its ray.
    let count = params.environments.x * params.counts.w;
    let environment = params.environments.y + ray / count;
    let at = 7u * (ray % count / params.counts.w);
    let one = shots[at];
    let two = shots[at + 1u];
    let three = shots[at + 2u];
    let four = shots[at + 3u];
    let five = shots[at + 4u];
    let six = shots[at + 5u];
    let left = Ds3(four.xy, four.zw, five.xy);
    let up = Ds3(five.zw, six.xy, six.zw);
    let of_beam = 3u * (ray % params.counts.w);
    let offset = params.beam[of_beam];
    let slopes = params.beam[of_beam + 1u];
    let slope_up = params.beam[of_beam + 2u].xy;
    var origin = Ds3(one.xy, one.zw, two.xy);
    var beside = ds3_add(ds3_scaled(left, offset.xy), ds3_scaled(up, offset.zw));
    let aside = ds3_add(ds3_scaled(left, slopes.zw), ds3_scaled(up, slope_up));
    var direction = ds3_add(ds3_scaled(Ds3(two.zw, three.xy, three.zw), slopes.xy), aside);

    // Pointing error.
    if params.environments.z != 0u && any(params.pointing != vec4<f32>(0.0)) {
        let shot = ray % count / params.counts.w;
        let sweep = params.key.z + environment;
        let error = averaged(params.pointing, shot, params.environments.w, sweep, POINTING);
        direction = turned_about_z(direction, error);
        beside = turned_about_z(beside, error);
    }
    origin = ds3_add(origin, beside);

    // Pose of the sensor.
    let time = bitcast<u32>(shots[at + 6u].x);
    if params.environments.z != 0u {
        let pose = 6u * environment;
        direction = rotated(pose, direction);
        let last = poses[pose + 4u];
        let shift = Ds3(last.zw, poses[pose + 5u].xy, poses[pose + 5u].zw);
        origin = ds3_add(rotated(pose, origin), shift);
    }
    rays[5u * ray] = vec4<f32>(origin.x, origin.y);
    rays[5u * ray + 1u] = vec4<f32>(origin.z, direction.x);
    rays[5u * ray + 2u] = vec4<f32>(direction.y, direction.z);
    rays[5u * ray + 3u] = vec4<f32>(0.0, 0.0, FARTHEST, 0.0);
    rays[5u * ray + 4u] = bitcast<vec4<f32>>(vec4<u32>(time, EVERYTHING, 0u, environment));
}
