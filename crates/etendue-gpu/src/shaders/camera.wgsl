// The radiance of pixels in direct light: the samples of each pixel, the light of lamps and of the surroundings at the
// first surface, visible lamps and surroundings. The formulas are those of etendue-sensors (camera/), for surfaces that
// scatter as Lambert's law states; pixels that meet others are marked for the host. Each sample of all pixels is aimed
// and cast; then one ray of each pixel at a time is cast towards each lamp, and one that is scattered at random.

struct Params {
    // Number of pixels, zero (see `opaque_f32`), threads per row of the dispatch, number of the first pixel.
    counts: vec4<u32>,
    // Seed, index of the frame, sensor in the upper twelve bits and purpose.
    key: vec4<u32>,
    // Columns of the image, number of samples, number of this sample, number of bands.
    frame: vec4<u32>,
    // Number of lamps, the stage (a lamp; their number for the scattered ray, one more for the end), kind of the
    // surroundings, 0.
    stage: vec4<u32>,
    // Where materials and triangles begin in `surfaces`; number of intervals between poses.
    places: vec4<u32>,
    // Shifts of the sample across, down and through the exposure; exposure over the time of the frame.
    steps: vec4<f32>,
    // Principal point, pixels; inverse of half the diagonal; time of a row over that of the frame.
    lens: vec4<f32>,
    // Power of the cosine, and three coefficients of even powers of the distance.
    vignetting: vec4<f32>,
    // Distribution of the sky: two numbers of the gradation and two of the indicatrix; the third, and its constant.
    gradation: vec4<f32>,
    indicatrix: vec4<f32>,
    // Unit vector to the sun.
    to_sun: vec4<f32>,
    // Radiance of the sky over its distribution, or of all surroundings; radiance of the ground.
    sky: vec4<f32>,
    ground: vec4<f32>,
    lamps: array<Lamp, MOST_LAMPS>,
}

struct Lamp {
    // Kind; one minus the cosine of half the angle (sun), area (rectangle), inner and outer angle of a cone (point).
    kind: vec4<f32>,
    // Position in double-single numbers.
    position_xy: vec4<f32>,
    position_z: vec4<f32>,
    // Unit vectors: towards the sun and two aside; axis of the cone; normal of the rectangle, and its two sides, whose
    // lengths are its sizes.
    axis: vec4<f32>,
    right: vec4<f32>,
    up: vec4<f32>,
    power: vec4<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
// Five per pixel: the ray of the sample (trace.wgsl), with the weight of the pixel in the third unused place.
@group(0) @binding(1) var<storage, read_write> camera_rays: array<vec4<f32>>;
// Two per pixel: the sum of its radiance, and its mark; the light of the ray that is cast, and the draws so far.
@group(0) @binding(2) var<storage, read_write> state: array<vec4<f32>>;
// Unit vectors in the optical frame at pixel centres, one more on each side of the image; 0 in the fourth place without a
// ray.
@group(0) @binding(3) var<storage, read> directions: array<vec4<f32>>;
// Three per pose: rows of the rotation from the optical frame, and the position in double-single numbers.
@group(0) @binding(4) var<storage, read> poses: array<vec4<f32>>;
// Two per pixel.
@group(0) @binding(5) var<storage, read> camera_hits: array<vec4<u32>>;
// Five per pixel: the ray that is cast next.
@group(0) @binding(6) var<storage, read_write> rays: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> hits: array<vec4<u32>>;
// Objects, four each: first vertex, first corner, first triangle or NONE, material; rows of the rotation to the world, and
// a mark. Materials: scattering by Lambert's law, and marks. Materials of triangles, four at a time.
@group(0) @binding(8) var<storage, read> surfaces: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read> vertices: array<vec2<f32>>;
@group(0) @binding(10) var<storage, read> corners: array<u32>;

const NONE: u32 = 0xffffffffu;
const EVERYTHING: u32 = 0xffffffffu;
const FARTHEST: f32 = 1e30;
const PI: f32 = 3.14159265359;
const SUN: u32 = 0u;
const POINT: u32 = 1u;
const AREA: u32 = 2u;
const DARK: u32 = 0u;
const UNIFORM_LIGHT: u32 = 1u;
// Marks of a material: the host renders what hits it, and it is a thin sheet; of an object: it has images.
const NOT_LAMBERT: u32 = 1u;
const SHEET: u32 = 2u;
const TEXTURED: u32 = 1u;
// Throughput below which a path continues by Russian roulette.
const ROULETTE_BELOW: f32 = 0.1;

struct Vertex {
    point: Ds3,
    // On the side of the ray.
    normal: vec3<f32>,
    cos_incidence: f32,
    // Scattering, 1/sr.
    brdf: vec3<f32>,
    // Largest coordinate, and size of the triangle, m.
    reach: f32,
    size: f32,
}

// Two words of a uniform draw of a pixel.
fn draw(pixel: u32, number: u32) -> vec2<u32> {
    let words = philox(vec4<u32>(number / 2u, pixel, params.key.z, params.key.w), params.key.xy);
    return select(words.xy, words.zw, (number & 1u) != 0u);
}

fn uniform_of(words: vec2<u32>) -> f32 {
    return min(f32(words.x) * 0x1p-32 + f32(words.y >> 11u) * 0x1p-53, 0.99999994);
}

// The angle between unit vectors, by the chord. The built-in arc functions may have an absolute error of 7e-5.
fn angle_between(a: vec3<f32>, b: vec3<f32>) -> f32 {
    let is_wide = dot(a, b) < 0.0;
    let half_chord = min(0.5 * length(select(a - b, a + b, is_wide)), 0.7072);
    let angle = 2.0 * arc_sine(half_chord);
    return select(angle, PI - angle, is_wide);
}

// Arc sine of a number in [0, 0.71]: the series at half the angle, with a remainder below 3e-9.
fn arc_sine(x: f32) -> f32 {
    let half = x / sqrt(2.0 + 2.0 * sqrt(1.0 - x * x));
    let y = half * half;
    let last = 0.022372159 + y * (0.017352764 + y * 0.013964844);
    return 2.0 * half * (1.0 + y * (1.0 / 6.0 + y * (0.075 + y * (0.044642857 + y * (0.030381944 + y * last)))));
}

// A draw, shifted within [0, 1).
fn place_of(words: vec2<u32>, shift: f32) -> f32 {
    let place = uniform_of(words) + shift;
    return place - floor(place);
}

@compute @workgroup_size(64)
fn aim_pixels(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let pixel = params.counts.w + thread;
    let is_single = params.frame.y == 1u;
    if params.frame.z == 0u {
        state[2u * thread] = vec4<f32>(0.0);
        state[2u * thread + 1u] = vec4<f32>(vec3<f32>(0.0), bitcast<f32>(select(3u, 0u, is_single)));
    }

    // The place on the pixel and in the exposure.
    var place = vec3<f32>(0.5);
    if !is_single {
        place.x = place_of(draw(pixel, 0u), params.steps.x);
        place.y = place_of(draw(pixel, 1u), params.steps.y);
        place.z = place_of(draw(pixel, 2u), params.steps.z);
    }

    // The direction, by the quadratic polynomial through those of nine pixels.
    let column = pixel % params.frame.x;
    let row = pixel / params.frame.x;
    let x = place.x - 0.5;
    let y = place.y - 0.5;
    let across = vec3<f32>(0.5 * x * (x - 1.0), 1.0 - x * x, 0.5 * x * (x + 1.0));
    let down = vec3<f32>(0.5 * y * (y - 1.0), 1.0 - y * y, 0.5 * y * (y + 1.0));
    var sum = vec4<f32>(0.0);
    var known = 0.0;
    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j < 3u; j++) {
            let own = directions[(row + i) * (params.frame.x + 2u) + column + j];
            sum += across[j] * down[i] * own;
            known += own.w;
        }
    }
    let optical = sum.xyz / max(length(sum.xyz), 1e-20);
    if known != 0.0 && known != 9.0 {
        state[2u * thread].w = bitcast<f32>(1u);
    }

    // The pose at the time of the sample.
    let time = f32(row) * params.lens.w + place.z * params.steps.w;
    let last = params.places.z;
    let first = min(u32(time * f32(last)), max(last, 1u) - 1u);
    let next = min(first + 1u, last);
    let share = time * f32(last) - f32(first);
    let a0 = poses[4u * first];
    let a1 = poses[4u * first + 1u];
    let a2 = poses[4u * first + 2u];
    let a3 = poses[4u * first + 3u];
    let b0 = poses[4u * next];
    let b1 = poses[4u * next + 1u];
    let b2 = poses[4u * next + 2u];
    let b3 = poses[4u * next + 3u];
    let turned = vec3<f32>(
        dot(mix(a0.xyz, b0.xyz, share), optical),
        dot(mix(a1.xyz, b1.xyz, share), optical),
        dot(mix(a2.xyz, b2.xyz, share), optical),
    );
    let direction = turned / max(length(turned), 1e-20);
    let start = Ds3(vec2<f32>(a0.w, a1.w), vec2<f32>(a2.w, a3.x), a3.yz);
    let end = Ds3(vec2<f32>(b0.w, b1.w), vec2<f32>(b2.w, b3.x), b3.yz);
    let shift = share * ds3_rounded(ds3_sub(end, start));
    let origin = ds3_add(start, Ds3(vec2<f32>(shift.x, 0.0), vec2<f32>(shift.y, 0.0), vec2<f32>(shift.z, 0.0)));

    // The ray, with the weight of the pixel.
    let from_centre = vec2<f32>(f32(column) + x, f32(row) + y) - params.lens.xy;
    let distance = length(from_centre) * params.lens.z;
    let square = distance * distance;
    let fitted = 1.0 + square * (params.vignetting.y + square * (params.vignetting.z + square * params.vignetting.w));
    var falling = 1.0;
    if params.vignetting.x != 0.0 {
        falling = exp(params.vignetting.x * logarithm(max(optical.z, 1e-30)));
    }
    let weight = max(falling * fitted, 0.0) / f32(params.frame.y);
    let is_aimed = known == 9.0;
    camera_rays[5u * thread] = vec4<f32>(origin.x, origin.y);
    camera_rays[5u * thread + 1u] = vec4<f32>(origin.z, direction.x, 0.0);
    camera_rays[5u * thread + 2u] = vec4<f32>(direction.y, 0.0, direction.z, 0.0);
    camera_rays[5u * thread + 3u] = vec4<f32>(0.0, 0.0, select(0.0, FARTHEST, is_aimed), 0.0);
    let mask = select(0u, EVERYTHING, is_aimed);
    camera_rays[5u * thread + 4u] = vec4<f32>(0.0, bitcast<f32>(mask), weight, 0.0);
}

fn camera_direction(thread: u32) -> vec3<f32> {
    let last = camera_rays[5u * thread + 2u];
    return vec3<f32>(camera_rays[5u * thread + 1u].z, last.x, last.z);
}

fn camera_origin(thread: u32) -> Ds3 {
    let one = camera_rays[5u * thread];
    return Ds3(one.xy, one.zw, camera_rays[5u * thread + 1u].xy);
}

// The material of a triangle of an object.
fn material_of(object: u32, triangle: u32) -> vec4<u32> {
    let head = surfaces[4u * object];
    var number = head.w;
    if head.z != NONE {
        let place = head.z + triangle;
        number = surfaces[params.places.y + place / 4u][place % 4u];
    }
    return surfaces[params.places.x + number];
}

fn corner_at(object: vec4<u32>, number: u32) -> Ds3 {
    let vertex = 3u * (object.x + corners[object.y + number]);
    return Ds3(vertices[vertex], vertices[vertex + 1u], vertices[vertex + 2u]);
}

fn largest(v: vec3<f32>) -> f32 {
    return max(abs(v.x), max(abs(v.y), abs(v.z)));
}

// The first surface of a pixel.
fn vertex_of(thread: u32, hit: vec4<u32>) -> Vertex {
    let object = surfaces[4u * hit.x];
    let first = corner_at(object, 3u * hit.y);
    let along = ds3_rounded(ds3_sub(corner_at(object, 3u * hit.y + 1u), first));
    let across = ds3_rounded(ds3_sub(corner_at(object, 3u * hit.y + 2u), first));
    let local = normalize(cross(along / length(along), across / length(across)));
    let normal = vec3<f32>(
        dot(bitcast<vec3<f32>>(surfaces[4u * hit.x + 1u].xyz), local),
        dot(bitcast<vec3<f32>>(surfaces[4u * hit.x + 2u].xyz), local),
        dot(bitcast<vec3<f32>>(surfaces[4u * hit.x + 3u].xyz), local),
    );
    let direction = camera_direction(thread);
    let cos_incidence = -dot(direction, normal);
    let distance = bitcast<vec2<f32>>(hit.zw);
    var vertex: Vertex;
    let way = Ds3(vec2<f32>(direction.x, 0.0), vec2<f32>(direction.y, 0.0), vec2<f32>(direction.z, 0.0));
    vertex.point = ds3_add(camera_origin(thread), ds3_scaled(way, distance));
    vertex.normal = select(normal, -normal, cos_incidence < 0.0);
    vertex.cos_incidence = abs(cos_incidence);
    vertex.brdf = bitcast<vec3<f32>>(material_of(hit.x, hit.y).xyz);
    vertex.reach = 2.0 * (largest(ds3_rounded(vertex.point)) + largest(ds3_rounded(first)) + largest(along));
    vertex.size = length(along) + length(across);
    return vertex;
}

// Writes the ray that leaves a surface, with the light that it carries unless it hits something.
fn leave(thread: u32, vertex: Vertex, direction: vec3<f32>, far: f32, light: vec3<f32>) {
    // Where rounding cannot make the ray hit the triangle on which it starts: 8e-12 of the coordinates bounds the errors of
    // the point and of the next distance times the cosine.
    let rise = max(abs(dot(direction, vertex.normal)), 1e-20);
    let near = min(8e-12 * vertex.reach / rise, vertex.size + 8e-12 * vertex.reach);
    rays[5u * thread] = vec4<f32>(vertex.point.x, vertex.point.y);
    rays[5u * thread + 1u] = vec4<f32>(vertex.point.z, direction.x, 0.0);
    rays[5u * thread + 2u] = vec4<f32>(direction.y, 0.0, direction.z, 0.0);
    rays[5u * thread + 3u] = vec4<f32>(near, 0.0, far, 0.0);
    rays[5u * thread + 4u] = bitcast<vec4<f32>>(vec4<u32>(0u, EVERYTHING, 0u, 0u));
    let draws = state[2u * thread + 1u].w;
    state[2u * thread + 1u] = vec4<f32>(light, draws);
}

// A ray that hits nothing, and carries nothing.
fn leave_nothing(thread: u32) {
    rays[5u * thread + 1u] = vec4<f32>(0.0, 0.0, 1.0, 0.0);
    rays[5u * thread + 2u] = vec4<f32>(0.0);
    rays[5u * thread + 3u] = vec4<f32>(0.0);
    rays[5u * thread + 4u] = vec4<f32>(0.0);
    let draws = state[2u * thread + 1u].w;
    state[2u * thread + 1u] = vec4<f32>(vec3<f32>(0.0), draws);
}

fn add(thread: u32, light: vec3<f32>) {
    let before = state[2u * thread];
    let weight = camera_rays[5u * thread + 4u].z;
    state[2u * thread] = vec4<f32>(before.xyz + weight * light, before.w);
}

fn leave_to_host(thread: u32) {
    state[2u * thread].w = bitcast<f32>(1u);
}

// From a point to one of a lamp.
fn way_to(point: Ds3, lamp: u32, aside: vec3<f32>) -> vec3<f32> {
    let xy = params.lamps[lamp].position_xy;
    let middle = Ds3(xy.xy, xy.zw, params.lamps[lamp].position_z.xy);
    return ds3_rounded(ds3_sub(middle, point)) + aside;
}

// Sends a ray of a surface to a lamp.
fn towards_lamp(thread: u32, pixel: u32, vertex: Vertex, number: u32) {
    let lamp = params.lamps[number];
    let kind = u32(lamp.kind.x);
    let draws = bitcast<u32>(state[2u * thread + 1u].w) + 2u * number;
    var towards = lamp.axis.xyz;
    var distance = FARTHEST;
    var power = lamp.power.xyz;
    if kind == SUN && lamp.kind.y > 0.0 {
        let beyond = uniform_of(draw(pixel, draws)) * lamp.kind.y;
        let around = draw(pixel, draws + 1u);
        let aside = sqrt(beyond * (2.0 - beyond)) * turn(around.x, around.y >> 11u);
        towards = normalize(lamp.axis.xyz * (1.0 - beyond) + lamp.right.xyz * aside.x + lamp.up.xyz * aside.y);
    }
    if kind == POINT {
        let way = way_to(vertex.point, number, vec3<f32>(0.0));
        distance = length(way);
        towards = way / distance;
        power /= distance * distance;
        if lamp.kind.w > 0.0 {
            let angle = angle_between(-towards, lamp.axis.xyz);
            let part = clamp((lamp.kind.w - angle) / max(lamp.kind.w - lamp.kind.z, 1e-12), 0.0, 1.0);
            power *= part * part * (3.0 - 2.0 * part);
        }
    }
    if kind == AREA {
        let u = uniform_of(draw(pixel, draws)) - 0.5;
        let v = uniform_of(draw(pixel, draws + 1u)) - 0.5;
        let way = way_to(vertex.point, number, u * lamp.right.xyz + v * lamp.up.xyz);
        distance = length(way);
        towards = way / distance;
        power *= max(-dot(towards, lamp.axis.xyz), 0.0) * lamp.kind.y / (distance * distance);
    }
    let rise = max(dot(vertex.normal, towards), 0.0);
    let light = vertex.brdf * rise * power;
    if vertex.cos_incidence > 0.0 && max(light.x, max(light.y, light.z)) > 0.0 {
        leave(thread, vertex, towards, distance, light);
    } else {
        leave_nothing(thread);
    }
}

// Radiance of the surroundings.
fn backdrop(direction: vec3<f32>) -> vec3<f32> {
    if params.stage.z == DARK {
        return vec3<f32>(0.0);
    }
    if params.stage.z == UNIFORM_LIGHT {
        return params.sky.xyz;
    }
    if direction.z <= 0.0 {
        return params.ground.xyz;
    }
    let angle = angle_between(direction, params.to_sun.xyz);
    let cosine = clamp(dot(direction, params.to_sun.xyz), -1.0, 1.0);
    let gradation = 1.0 + params.gradation.x * exp(params.gradation.y / max(direction.z, 1e-3));
    let turned = exp(params.indicatrix.x * angle) - params.indicatrix.z;
    let indicatrix = 1.0 + params.gradation.z * turned + params.indicatrix.y * cosine * cosine;
    return params.sky.xyz * (gradation * indicatrix);
}

// A ray of a surface in a random direction, with the light of the surroundings there; its draws are counted.
fn scatter(thread: u32, pixel: u32, vertex: Vertex) {
    let before = bitcast<u32>(state[2u * thread + 1u].w);
    let draws = before + 2u * (params.stage.x + 1u);
    state[2u * thread + 1u].w = bitcast<f32>(draws + 3u);
    leave_nothing(thread);
    if vertex.cos_incidence <= 0.0 {
        return;
    }

    // The band that draws the direction, and the light.
    let bands = f32(params.frame.w);
    let band = min(u32(uniform_of(draw(pixel, draws)) * bands), params.frame.w - 1u);
    if vertex.brdf[band] <= 0.0 {
        return;
    }
    let reflecting = select(vec3<f32>(0.0), vec3<f32>(1.0), vertex.brdf > vec3<f32>(0.0));
    let share = (reflecting.x + reflecting.y + reflecting.z) / bands;
    var throughput = vertex.brdf * (PI / share);
    let most = max(throughput.x, max(throughput.y, throughput.z));
    if abs(most - ROULETTE_BELOW) < 1e-6 {
        leave_to_host(thread);
        return;
    }
    if most < ROULETTE_BELOW {
        state[2u * thread + 1u].w = bitcast<f32>(draws + 4u);
        let chance = most / ROULETTE_BELOW;
        if uniform_of(draw(pixel, draws + 3u)) >= chance {
            return;
        }
        throughput /= chance;
    }

    // The direction, in the frame of Duff et al. (2017).
    let square = uniform_of(draw(pixel, draws + 1u));
    let around = draw(pixel, draws + 2u);
    let aside = sqrt(square) * turn(around.x, around.y >> 11u);
    let n = vertex.normal;
    let side = select(1.0, -1.0, n.z < -1e-4);
    let a = -1.0 / (side + n.z);
    let b = n.x * n.y * a;
    let right = vec3<f32>(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
    let up = vec3<f32>(b, side + n.y * n.y * a, -n.y);
    let direction = normalize(right * aside.x + up * aside.y + n * sqrt(1.0 - square));
    leave(thread, vertex, direction, FARTHEST, throughput * backdrop(direction));
    rays[5u * thread + 4u].z = 1.0;
}

// Light of the lamps that a camera ray meets before a distance.
fn visible_lamps(thread: u32, far: f32) -> vec3<f32> {
    var sum = vec3<f32>(0.0);
    let direction = camera_direction(thread);
    for (var i = 0u; i < params.stage.x; i++) {
        let lamp = params.lamps[i];
        if u32(lamp.kind.x) == AREA {
            let start = -way_to(camera_origin(thread), i, vec3<f32>(0.0));
            let fall = dot(direction, lamp.axis.xyz);
            let height = dot(start, lamp.axis.xyz);
            let distance = -height / min(fall, -1e-30);
            let place = start + distance * direction;
            let is_inside = 2.0 * abs(dot(place, lamp.right.xyz)) <= dot(lamp.right.xyz, lamp.right.xyz)
                && 2.0 * abs(dot(place, lamp.up.xyz)) <= dot(lamp.up.xyz, lamp.up.xyz);
            if fall < 0.0 && height > 0.0 && distance < far && is_inside {
                sum += lamp.power.xyz;
            }
        }
    }
    return sum;
}

// What is seen directly; whether the pixel has a surface that scatters light.
fn see(thread: u32) -> bool {
    let hit = camera_hits[2u * thread];
    if camera_hits[2u * thread + 1u].w != 0u {
        leave_to_host(thread);
        return false;
    }
    if bitcast<u32>(camera_rays[5u * thread + 4u].y) == 0u {
        return false;
    }
    if hit.x == NONE {
        add(thread, visible_lamps(thread, FARTHEST) + backdrop(camera_direction(thread)));
        return false;
    }
    let is_textured = (surfaces[4u * hit.x + 1u].w & TEXTURED) != 0u;
    if is_textured || (material_of(hit.x, hit.y).w & NOT_LAMBERT) != 0u {
        leave_to_host(thread);
        return false;
    }
    add(thread, visible_lamps(thread, bitcast<f32>(hit.z)));
    return true;
}

// Adds the light of the ray that was cast.
fn gather(thread: u32) {
    let hit = hits[2u * thread];
    let pending = state[2u * thread + 1u];
    let is_scattered = rays[5u * thread + 4u].z != 0.0;
    if hits[2u * thread + 1u].w != 0u {
        leave_to_host(thread);
        return;
    }
    if hit.x == NONE {
        add(thread, pending.xyz);
        return;
    }
    let marks = material_of(hit.x, hit.y).w;
    if is_scattered {
        // The path ends at a surface that scatters, after three draws.
        state[2u * thread + 1u].w = bitcast<f32>(bitcast<u32>(pending.w) + 3u);
        if (marks & NOT_LAMBERT) != 0u {
            leave_to_host(thread);
        }
    } else if (marks & SHEET) != 0u {
        leave_to_host(thread);
    }
}

// Gathers the light of the last ray of each pixel, and sends the next one.
@compute @workgroup_size(64)
fn shade(@builtin(global_invocation_id) id: vec3<u32>) {
    let thread = id.y * params.counts.z + id.x;
    if thread >= params.counts.x {
        return;
    }
    let stage = params.stage.y;
    var scatters = false;
    if stage == 0u {
        if bitcast<u32>(state[2u * thread].w) == 0u {
            scatters = see(thread);
        }
        if !scatters {
            leave_nothing(thread);
            return;
        }
    } else {
        gather(thread);
        let hit = camera_hits[2u * thread];
        scatters = bitcast<u32>(state[2u * thread].w) == 0u && hit.x != NONE;
    }

    // The next ray.
    if !scatters {
        leave_nothing(thread);
        return;
    }
    let pixel = params.counts.w + thread;
    let vertex = vertex_of(thread, camera_hits[2u * thread]);
    if stage < params.stage.x {
        towards_lamp(thread, pixel, vertex, stage);
    } else if stage == params.stage.x && params.stage.z != DARK {
        scatter(thread, pixel, vertex);
    } else if params.stage.z == DARK {
        let draws = bitcast<u32>(state[2u * thread + 1u].w) + 2u * (params.stage.x + 1u);
        state[2u * thread + 1u].w = bitcast<f32>(draws);
    }
}
