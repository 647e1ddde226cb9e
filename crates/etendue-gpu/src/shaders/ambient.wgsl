// Ambient light in the field of view of a receiver: sun, sky and thermal emission at the ends of the paths of each shot. The formulas
// are those of etendue-sensors (transport/background.rs, transmittance.rs). Shots at materials with a lobe that lobes.wgsl lacks
// are left to the host.

struct Params {
    // Number of shots, zero (see `opaque_f32`), threads per row of the dispatch, 0.
    counts: vec4<u32>,
    // Unit vector towards the sun, in double-single numbers; square of the chord of half the field of view; radiance of the sun
    // in the field of view.
    sun_xy: vec4<f32>,
    sun_z: vec4<f32>,
    // Irradiance of the sun, radiance of the sky and of a black body, as power at the receiver.
    light: vec4<f32>,
    // Share of the power in each ray of a beam.
    weights: array<vec4<f32>, MOST_BEAM_RAYS / 4>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Two per slot (trace.wgsl). The third number of the second is the power of the sunlight that a surface scatters, unless the sun
// is hidden; LEFT where the host computes it. The second one is the power of the other light: of the first ray, that of the
// shot.
@group(0) @binding(1) var<storage, read_write> hits: array<vec4<u32>>;
// Five per slot: the ray, which becomes one to the sun.
@group(0) @binding(2) var<storage, read_write> rays: array<vec4<f32>>;
// Three per slot (surfaces.wgsl).
@group(0) @binding(3) var<storage, read> surfaces: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> object_materials: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> triangle_materials: array<u32>;
// For each material: number of its lobes, or LEFT; whether it is a thin sheet; index of the first lobe. Then at the knots of the
// cosine of the incidence: scattered and emitted fraction of the front and of the back. Then the lobes (lobes.wgsl).
@group(0) @binding(6) var<storage, read> lit: array<vec4<f32>>;
// Two per slot: the hits of the rays to the sun.
@group(0) @binding(7) var<storage, read> shadows: array<vec4<u32>>;
// Three per slot: the surfaces of these hits.
@group(0) @binding(8) var<storage, read> behind: array<vec4<f32>>;
// The mirrors and glass (branch.wgsl).
@group(0) @binding(9) var<storage, read> specular: array<vec4<f32>>;

const FARTHEST: f32 = 1e30;
const LEFT: f32 = -1.0;

// Ends the ray of a slot before it hits anything.
fn end_ray(slot: u32) {
    rays[5u * slot + 3u] = vec4<f32>(0.0);
    rays[5u * slot + 4u].y = 0.0;
}

// Power of the sky, and of the sun, at the end of a path without a surface.
fn power_of_sky(direction: Ds3, throughput: f32) -> f32 {
    let sun = Ds3(params.sun_xy.xy, params.sun_xy.zw, params.sun_z.xy);
    let apart = ds3_rounded(ds3_sub(direction, sun));
    let seen = select(0.0, params.sun_z.w, dot(apart, apart) <= params.sun_z.z);
    return throughput * (seen + params.light.y);
}

// Sends the ray of a slot from the surface that it hit to the sun. Returns the power of the light of sky and surface.
fn leave_for_sun(slot: u32, weight: f32) -> f32 {
    // The ray.
    let hit = hits[2u * slot];
    hits[2u * slot + 1u].z = 0u;
    let one = rays[5u * slot];
    let two = rays[5u * slot + 1u];
    let three = rays[5u * slot + 2u];
    let direction = Ds3(two.zw, three.xy, three.zw);
    if weight == 0.0 {
        end_ray(slot);
        return 0.0;
    }
    if hit.x == NONE {
        end_ray(slot);
        return power_of_sky(direction, weight * arrival_at(slot, vec2<f32>(0.0)).throughput);
    }

    // The surface.
    let distance = bitcast<vec2<f32>>(hit.zw);
    let share = weight * arrival_at(slot, distance).throughput;
    let surface = surfaces[3u * slot];
    let rest = surfaces[3u * slot + 1u];
    let normal = Ds3(surface.xy, surface.zw, rest.xy);
    let knots = 33u * (material_of(hit.x, hit.y) & NUMBER);
    let cosine = clamp(abs(bitcast<f32>(hits[2u * slot + 1u].x)), 0.0, 1.0) * 31.0;
    let below = min(u32(cosine), 30u);
    let low = lit[knots + 1u + below];
    let high = lit[knots + 2u + below];
    let sides = low + (high - low) * (cosine - f32(below));
    let fractions = select(sides.xy, sides.zw, rest.z < 0.0);
    let power = share * (params.light.y * fractions.x + params.light.z * fractions.y);

    // The ray to the sun does not meet the triangle that it leaves.
    let sun = Ds3(params.sun_xy.xy, params.sun_xy.zw, params.sun_z.xy);
    let height = ds3_dot(normal, sun).x;
    let lobes = lit[knots];
    if params.light.x <= 0.0 || height <= 0.0 || lobes.x == 0.0 {
        end_ray(slot);
        return power;
    }
    var brdf = LEFT;
    if lobes.x > 0.0 {
        let sensor = Ds3(-direction.x, -direction.y, -direction.z);
        brdf = scattered(bitcast<u32>(lobes.z), u32(lobes.x), directions_of(normal, sun, sensor, rest.z < 0.0));
    }
    let near = 2.0 * min(abs(rest.z) / max(height, 1e-12), rest.w + abs(rest.z));
    let at = ds3_add(Ds3(one.xy, one.zw, two.xy), ds3_scaled(direction, distance));
    rays[5u * slot] = vec4<f32>(at.x, at.y);
    rays[5u * slot + 1u] = vec4<f32>(at.z, sun.x);
    rays[5u * slot + 2u] = vec4<f32>(sun.y, sun.z);
    rays[5u * slot + 3u] = vec4<f32>(near, 0.0, FARTHEST, 0.0);
    let sunlight = select(params.light.x * brdf * height * share, LEFT, brdf < 0.0);
    hits[2u * slot + 1u].z = bitcast<u32>(sunlight);
    return power;
}

@compute @workgroup_size(64)
fn aim_suns(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    var power = 0.0;
    for (var own = 0u; own < RAYS; own++) {
        let root = thread * RAYS + own;
        let weight = params.weights[own / 4u][own % 4u];
        power += leave_for_sun(root, weight);
        for (var slot = last_branch(root); slot != NONE; slot = branch_before(slot)) {
            power += leave_for_sun(slot, weight);
        }
    }
    hits[2u * thread * RAYS + 1u].y = bitcast<u32>(power);
}

fn is_sheet(shadow: vec4<u32>) -> bool {
    return lit[33u * (material_of(shadow.x, shadow.y) & NUMBER)].y != 0.0;
}

// Passes the ray of a slot through the thin sheet that it hit on the way to the sun; ends it elsewhere.
fn pass_sheet(slot: u32) {
    let sunlight = bitcast<f32>(hits[2u * slot + 1u].z);
    let shadow = shadows[2u * slot];
    let detail = shadows[2u * slot + 1u];
    if sunlight == 0.0 || shadow.x == NONE || detail.w != 0u {
        if detail.w != 0u && sunlight != 0.0 {
            hits[2u * slot + 1u].z = bitcast<u32>(LEFT);
        }
        end_ray(slot);
        return;
    }
    if !is_sheet(shadow) {
        hits[2u * slot + 1u].z = 0u;
        end_ray(slot);
        return;
    }

    // The transmitted fraction.
    let first = bitcast<u32>(specular[2u * (material_of(shadow.x, shadow.y) & NUMBER) + 1u].y);
    let cosine = abs(bitcast<f32>(detail.x));
    let place = sqrt(max(1.0 - cosine, 0.0)) * f32(SHARES - 1u);
    let below = min(u32(place), SHARES - 2u);
    let rest = behind[3u * slot + 1u];
    let table = first + select(0u, SHARES, rest.z < 0.0) + below;
    let low = specular[table].y;
    let fraction = low + (specular[table + 1u].y - low) * (place - f32(below));
    hits[2u * slot + 1u].z = bitcast<u32>(sunlight * fraction);

    // Continue behind it.
    let one = rays[5u * slot];
    let two = rays[5u * slot + 1u];
    let sun = Ds3(params.sun_xy.xy, params.sun_xy.zw, params.sun_z.xy);
    let way = ds3_scaled(sun, bitcast<vec2<f32>>(shadow.zw));
    let at = ds3_add(Ds3(one.xy, one.zw, two.xy), way);
    let near = 2.0 * min(abs(rest.z) / max(cosine, 1e-12), rest.w + abs(rest.z));
    rays[5u * slot] = vec4<f32>(at.x, at.y);
    rays[5u * slot + 1u] = vec4<f32>(at.z, sun.x);
    rays[5u * slot + 3u].x = near;
}

@compute @workgroup_size(64)
fn pass_sheets(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    for (var root = thread * RAYS; root < (thread + 1u) * RAYS; root++) {
        pass_sheet(root);
        for (var slot = last_branch(root); slot != NONE; slot = branch_before(slot)) {
            pass_sheet(slot);
        }
    }
}

// The power of the sunlight that a slot's surface scatters; LEFT if the host computes it.
fn sunlight_of(slot: u32) -> f32 {
    let sunlight = bitcast<f32>(hits[2u * slot + 1u].z);
    if sunlight == 0.0 {
        return 0.0;
    }
    let shadow = shadows[2u * slot];
    if shadows[2u * slot + 1u].w != 0u {
        return LEFT;
    }
    return select(0.0, sunlight, shadow.x == NONE);
}

@compute @workgroup_size(64)
fn add_suns(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let first = thread * RAYS;
    var power = bitcast<f32>(hits[2u * first + 1u].y);
    var is_left = false;
    for (var root = first; root < first + RAYS; root++) {
        let direct = sunlight_of(root);
        is_left = is_left || direct < 0.0;
        power += direct;
        for (var slot = last_branch(root); slot != NONE; slot = branch_before(slot)) {
            let by_way = sunlight_of(slot);
            is_left = is_left || by_way < 0.0;
            power += by_way;
        }
    }
    hits[2u * first + 1u].y = bitcast<u32>(power);
    if is_left {
        hits[2u * first + 1u].w = 1u;
    }
}
