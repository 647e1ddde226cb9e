// Radial velocities of the surfaces that the rays of shots hit, and those of the sensor. The formulas are those of etendue-sensors
// (receiver/fmcw.rs). Double-single arithmetic.

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, 0.
    counts: vec4<u32>,
    // Number of shots of an environment, index of the first shot of single sweeps, 0, 0.
    environments: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Two per slot (trace.wgsl); the second and third number of the second become the velocity.
@group(0) @binding(1) var<storage, read_write> hits: array<vec4<u32>>;
// Five per slot.
@group(0) @binding(2) var<storage, read> rays: array<vec4<f32>>;
// One per shot: the radial velocity of points at rest, m/s.
@group(0) @binding(3) var<storage, read> of_shots: array<vec2<f32>>;
// One per object: the index of its first motion, or NONE.
@group(0) @binding(4) var<storage, read> first_motions: array<u32>;
// Eight per object in motion and time: a point, its velocity, and the rows of the gradient of the velocity.
@group(0) @binding(5) var<storage, read> motions: array<vec4<f32>>;

const NONE: u32 = 0xffffffffu;

// The velocity of the surface that a slot hit along its ray.
fn recession_of(slot: u32) -> vec2<f32> {
    let hit = hits[2u * slot];
    if hit.x == NONE || first_motions[hit.x] == NONE {
        return vec2<f32>(0.0);
    }

    // The point in the world, from that of the motion.
    let one = rays[5u * slot];
    let two = rays[5u * slot + 1u];
    let three = rays[5u * slot + 2u];
    let direction = Ds3(two.zw, three.xy, three.zw);
    let way = ds3_scaled(direction, bitcast<vec2<f32>>(hit.zw));
    let point = ds3_add(Ds3(one.xy, one.zw, two.xy), way);
    let at = 8u * (first_motions[hit.x] + bitcast<u32>(rays[5u * slot + 4u].x));
    let a = motions[at];
    let b = motions[at + 1u];
    let c = motions[at + 2u];
    let arm = ds3_sub(point, Ds3(a.xy, a.zw, b.xy));

    // Its velocity.
    let d = motions[at + 3u];
    let e = motions[at + 4u];
    let f = motions[at + 5u];
    let g = motions[at + 6u];
    let h = motions[at + 7u];
    let turning = Ds3(
        ds3_dot(Ds3(d.xy, d.zw, e.xy), arm),
        ds3_dot(Ds3(e.zw, f.xy, f.zw), arm),
        ds3_dot(Ds3(g.xy, g.zw, h.xy), arm),
    );
    return ds3_dot(ds3_add(Ds3(b.zw, c.xy, c.zw), turning), direction);
}

fn write_velocity(slot: u32, of_shot: vec2<f32>) {
    let velocity = bitcast<vec2<u32>>(ds_add(of_shot, recession_of(slot)));
    hits[2u * slot + 1u].y = velocity.x;
    hits[2u * slot + 1u].z = velocity.y;
}

@compute @workgroup_size(64)
fn write_velocities(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let of_shot = of_shots[params.environments.y + thread % params.environments.x];
    for (var root = thread * RAYS; root < (thread + 1u) * RAYS; root++) {
        write_velocity(root, of_shot);
        for (var slot = last_branch(root); slot != NONE; slot = branch_before(slot)) {
            write_velocity(slot, of_shot);
        }
    }
}
