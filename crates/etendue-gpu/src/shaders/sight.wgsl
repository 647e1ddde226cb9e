// The sight of the lens of a lidar that triangulates: a ray to the surface that the ray of each shot hit, and a mark on
// surfaces that something hides. Double-single arithmetic.

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, 0.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first environment, whether there are environments (the shots are in
    // the frame of the sensor; otherwise in that of the world), 0.
    environments: vec4<u32>,
    // The baseline; one less a millionth.
    baseline: vec4<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Seven per shot (aim.wgsl).
@group(0) @binding(1) var<storage, read> shots: array<vec4<f32>>;
// Six per environment: rotation by rows, then translation.
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
// Five per shot (trace.wgsl): its ray, which becomes the sight of the lens.
@group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;
// Two per shot: the hits of its ray; the third number of the second is the mark.
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<u32>>;
// Two per shot: the hits of the sight.
@group(0) @binding(5) var<storage, read> sights: array<vec4<u32>>;

const NONE: u32 = 0xffffffffu;

@compute @workgroup_size(64)
fn aim_sights(@builtin(global_invocation_id) id: vec3<u32>) {
    let shot = id.y * params.counts.z + id.x;
    if shot >= params.counts.x {
        return;
    }

    // The lens, to the left of the origin.
    let own = 7u * (shot % params.environments.x);
    let five = shots[own + 4u];
    var left = Ds3(shots[own + 3u].xy, shots[own + 3u].zw, five.xy);
    if params.environments.z != 0u {
        left = rotated(6u * (params.environments.y + shot / params.environments.x), left);
    }
    let one = rays[5u * shot];
    let two = rays[5u * shot + 1u];
    let three = rays[5u * shot + 2u];
    let origin = Ds3(one.xy, one.zw, two.xy);
    let direction = Ds3(two.zw, three.xy, three.zw);
    let lens = ds3_add(origin, ds3_scaled(left, params.baseline.xy));

    // The ray from there to the surface, of which there may be none.
    let hit = hits[2u * shot];
    let point = ds3_add(origin, ds3_scaled(direction, bitcast<vec2<f32>>(hit.zw)));
    let way = ds3_sub(point, lens);
    let square = ds3_dot(way, way);
    let distance = ds_sqrt(select(square, vec2<f32>(1e-20, 0.0), square.x < 1e-20));
    let last = rays[5u * shot + 4u];
    var far = ds_mul(distance, params.baseline.zw);
    var mask = last.y;
    if hit.x == NONE {
        far = vec2<f32>(0.0);
        mask = 0.0;
    }
    let sight = Ds3(ds_div(way.x, distance), ds_div(way.y, distance), ds_div(way.z, distance));
    rays[5u * shot] = vec4<f32>(lens.x, lens.y);
    if hit.x != NONE {
        rays[5u * shot + 1u] = vec4<f32>(lens.z, sight.x);
        rays[5u * shot + 2u] = vec4<f32>(sight.y, sight.z);
    }
    rays[5u * shot + 3u] = vec4<f32>(0.0, 0.0, far);
    rays[5u * shot + 4u] = vec4<f32>(last.x, mask, 0.0, last.w);
}

@compute @workgroup_size(64)
fn mark_hidden(@builtin(global_invocation_id) id: vec3<u32>) {
    let shot = id.y * params.counts.z + id.x;
    if shot >= params.counts.x {
        return;
    }
    let sight = sights[2u * shot];
    hits[2u * shot + 1u].z = select(1u, 0u, sight.x == NONE);
    if sights[2u * shot + 1u].w != 0u {
        hits[2u * shot + 1u].w = 1u;
    }
}
