// The rays of the shots of many environments: the pose of the sensor in each, applied in double-single arithmetic.

struct Params {
    // Number of rays, zero (see `opaque_f32`), threads per row of the dispatch, 0.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first environment, 0, 0.
    environments: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Three per shot: origin and direction in the frame of the sensor.
@group(0) @binding(1) var<storage, read> shots: array<vec4<f32>>;
// Six per environment: rotation by rows, then translation.
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
// Five per ray: origin, direction, limits, environment and mask.
@group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;

const FARTHEST: f32 = 1e30;
const EVERYTHING: u32 = 0xffffffffu;

@compute @workgroup_size(64)
fn aim_shots(@builtin(global_invocation_id) id: vec3<u32>) {
    let ray = id.y * params.counts.z + id.x;
    if ray >= params.counts.x {
        return;
    }
    let shot = ray % params.environments.x;
    let environment = params.environments.y + ray / params.environments.x;
    let one = shots[3u * shot];
    let two = shots[3u * shot + 1u];
    let three = shots[3u * shot + 2u];
    let pose = 6u * environment;
    let turned = rotated(pose, Ds3(one.xy, one.zw, two.xy));
    let direction = rotated(pose, Ds3(two.zw, three.xy, three.zw));
    let last = poses[pose + 4u];
    let shift = poses[pose + 5u];
    let x = ds_add(turned.x, last.zw);
    let y = ds_add(turned.y, shift.xy);
    let z = ds_add(turned.z, shift.zw);
    rays[5u * ray] = vec4<f32>(x, y);
    rays[5u * ray + 1u] = vec4<f32>(z, direction.x);
    rays[5u * ray + 2u] = vec4<f32>(direction.y, direction.z);
    rays[5u * ray + 3u] = vec4<f32>(0.0, 0.0, FARTHEST, 0.0);
    rays[5u * ray + 4u] = bitcast<vec4<f32>>(vec4<u32>(environment, EVERYTHING, 0u, 0u));
}
