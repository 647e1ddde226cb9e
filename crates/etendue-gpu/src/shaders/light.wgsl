// The light of shots, for receivers that the host applies: a list of the returns of surfaces.

struct Listed {
    count: atomic<u32>,
    unused: array<u32, 7>,
    // Two per return: object, triangle, share of the power of the beam, cosine of the incidence; lengths of the path and of the
    // optical path.
    returns: array<vec4<u32>>,
}

@group(0) @binding(17) var<storage, read_write> listed: Listed;

// Returns have the order of the rays.
const SORTED: bool = false;
// The list has the returns of the shot, whose number is in the other bits of the status, from `next` on.
const LISTED: u32 = 64u;

// The light of a shot; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN {
        return echo;
    }
    let first = atomicAdd(&listed.count, returns);
    if 2u * (first + returns) > arrayLength(&listed.returns) {
        echo.status = PLAIN;
        return echo;
    }
    for (var place = 0u; place < returns; place++) {
        let slot = slots_of[place];
        let hit = hits[2u * slot];
        let arrived = arrival_at(slot, bitcast<vec2<f32>>(hit.zw));
        let own = root_of(slot) % RAYS;
        let weight = params.weights[own / 4u][own % 4u];
        let share = weight * arrived.throughput * arrived.throughput;
        let at = 2u * (first + place);
        listed.returns[at] = vec4<u32>(hit.xy, bitcast<u32>(share), hits[2u * slot + 1u].x);
        listed.returns[at + 1u] = bitcast<vec4<u32>>(vec4<f32>(arrived.range, arrived.optical));
    }
    echo.status = LISTED | (returns << 8u);
    echo.next = first;
    return echo;
}
