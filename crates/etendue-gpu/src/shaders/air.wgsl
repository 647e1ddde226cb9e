// Light of the air at pulsed receivers: mean backscatter in cells, and single drops. The formulas are those of etendue-sensors
// (backscatter.rs, prepared_air.rs) and etendue-physics (atmosphere/).

// The samples of the mean backscatter and the powers of the cells, one each; for each kind of drops six (see `drops_of`); volumes of
// the beam, double-single.
@group(0) @binding(18) var<storage, read> tables: array<vec2<f32>>;

const PRECIPITATION: u32 = 8u;

// Drops or flakes of one kind.
struct Drops {
    // Number per cubic metre, and range up to which they are drawn, m.
    density: vec2<f32>,
    until: vec2<f32>,
    smallest: f32,
    // Mean excess of the diameter over the smallest, m.
    excess: f32,
    // Power of one of unit diameter in a beam of unit area at unit range.
    power: f32,
    share: f32,
    // Where its volumes begin, and their number.
    first: u32,
    count: u32,
    // Length of the steps of the volumes, m; two-way extinction, 1/m.
    step: f32,
    extinction: f32,
}

// The ranges between which the air alone may form echoes.
struct Bright {
    is_some: bool,
    near: vec2<f32>,
    until: vec2<f32>,
}

// Number of whole cells before the first surface on the axis.
var<private> whole_cells: u32;

fn drops_of(kind: u32) -> Drops {
    let at = sampled.places.z + 6u * kind;
    let diameters = tables[at + 2u];
    let powers = tables[at + 3u];
    let volumes = bitcast<vec2<u32>>(tables[at + 4u]);
    let last = tables[at + 5u];
    return Drops(tables[at], tables[at + 1u], diameters.x, diameters.y, powers.x, powers.y, volumes.x, volumes.y, last.x, last.y);
}

// Share of the backscatter at a range that is not drawn as drops.
fn undrawn(range: vec2<f32>) -> f32 {
    var share = 1.0;
    for (var kind = 0u; kind < sampled.places.w; kind++) {
        let own = drops_of(kind);
        if ds_sub(range, own.until).x < 0.0 {
            share -= own.share;
        }
    }
    return share;
}

// Adds light that is not from a surface to the returns. Returns false without room.
fn add_other(distance: vec2<f32>, power: f32, mark: u32) -> bool {
    if returns == MOST_RETURNS {
        return false;
    }
    var place = returns;
    while place > 0u && ds_sub(distances[place - 1u], distance).x > 0.0 {
        place -= 1u;
    }
    insert_return(place, distance, power, mark);
    return true;
}

// Volume of the beam before a range.
fn volume_until(own: Drops, far: vec2<f32>) -> vec2<f32> {
    let steps = ds_div(ds_sub(far, sampled.cells.xy), vec2<f32>(own.step, 0.0));
    let whole = max(ds_floor(steps), 0.0);
    if steps.x <= 0.0 {
        return vec2<f32>(0.0);
    }
    if whole + 1.0 >= f32(own.count) {
        return tables[own.first + own.count - 1u];
    }
    let first = tables[own.first + u32(whole)];
    let size = ds_sub(tables[own.first + u32(whole) + 1u], first);
    return ds_add(first, ds_mul(size, ds_sub(steps, vec2<f32>(whole, 0.0))));
}

// Range before which the beam has a volume.
fn range_of(own: Drops, volume: vec2<f32>) -> vec2<f32> {
    // The first entry above it, by bisection.
    var low = 0u;
    var high = own.count;
    while low < high {
        let middle = (low + high) / 2u;
        if ds_sub(tables[own.first + middle], volume).x <= 0.0 {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let after = clamp(low, 1u, own.count - 1u);
    let first = tables[own.first + after - 1u];
    let size = ds_sub(tables[own.first + after], first);
    let within = ds_sub(volume, first).x / size.x;
    let steps = two_sum(f32(after - 1u), within);
    return ds_add(sampled.cells.xy, ds_mul(steps, vec2<f32>(own.step, 0.0)));
}

// Power of a drop of a diameter at a range.
fn drop_power(own: Drops, diameter: f32, range: f32) -> f32 {
    let angle = sampled.beam.xy * range;
    let spread = sqrt(angle * angle + sampled.beam.zw * sampled.beam.zw);
    let area = 12.5663706144 * spread.x * spread.y;
    let seen = min(range / max(sampled.air.z, 1e-30), 1.0) * diameter / range;
    return own.power * seen * seen / area * exponential(-own.extinction * range);
}

// Draws the drops of a kind before a range from the numbers of the stream from a place on. Returns false without room.
fn add_drops(own: Drops, far: vec2<f32>, place: ptr<function, u32>) -> bool {
    let volume = volume_until(own, far);
    let count = poisson(ds_mul(own.density, volume), *place, PRECIPITATION);
    *place = count.next;
    for (var number = 0.0; number < count.number; number += 1.0) {
        let share = uniform_at(*place, PRECIPITATION);
        let size = uniform_at(*place + 1u, PRECIPITATION);
        *place += 2u;
        let range = range_of(own, ds_mul(volume, ds_of_uniform(share.x, share.y)));
        let diameter = own.smallest - log_of_complement(size.x, size.y) * own.excess;
        if !add_other(range, drop_power(own, diameter, range.x), DROP) {
            return false;
        }
    }
    return true;
}

// Adds the light of the air before a surface on the axis. Returns false if the host simulates the shot.
fn add_light_of_air(axis: Surface) -> bool {
    let air = air_before(axis, sampled.cells, sampled.air);
    whole_cells = air.whole;
    if air.is_cut && !add_other(air.range, air.power * undrawn(air.range), CELL) {
        return false;
    }
    var place = 0u;
    for (var kind = 0u; kind < sampled.places.w; kind++) {
        let own = drops_of(kind);
        var far = own.until;
        if axis.object != NONE && ds_sub(axis.distance, far).x < 0.0 {
            far = axis.distance;
        }
        if !add_drops(own, far, &place) {
            return false;
        }
    }
    return true;
}

// The range of the middle of a cell.
fn middle_of_cell(cell: u32) -> vec2<f32> {
    return ds_add(sampled.cells.xy, ds_mul(vec2<f32>(f32(cell) + 0.5, 0.0), sampled.cells.zw));
}

// The bright air of the shot.
fn bright_air() -> Bright {
    var bright: Bright;
    if whole_cells == 0u || sampled.waveform.z == 0.0 {
        return bright;
    }
    bright.is_some = true;
    bright.near = middle_of_cell(0u);
    bright.until = ds_mul(vec2<f32>(sampled.waveform.x + sampled.waveform.z, 0.0), sampled.clock.xy);
    let last = middle_of_cell(whole_cells - 1u);
    if ds_sub(last, bright.until).x < 0.0 {
        bright.until = last;
    }
    if ds_sub(bright.until, bright.near).x < 0.0 {
        bright.until = bright.near;
    }
    return bright;
}

// Power of the whole cells at a sample on the clock.
fn power_of_cells(number: f32) -> f32 {
    if whole_cells == 0u {
        return 0.0;
    }
    let at = ds_mul(vec2<f32>(number, 0.0), sampled.clock.xy);
    let before = sampled.pulse.y;
    let is_whole = f32(whole_cells) == sampled.air.w || ds_sub(middle_of_cell(whole_cells), at).x > before;
    if is_whole && number >= sampled.waveform.x {
        let index = number - sampled.waveform.x;
        if index >= sampled.waveform.y {
            return 0.0;
        }
        return tables[sampled.places.x + u32(index)].x;
    }

    // The cells whose pulses reach the sample, and their neighbours.
    let beyond = ds_sub(at, sampled.cells.xy).x;
    let nearest = max(floor((beyond - sampled.pulse.z) / sampled.cells.z) - 1.0, 0.0);
    let farthest = min(ceil((beyond + before) / sampled.cells.z) + 1.0, f32(whole_cells));
    var power = 0.0;
    for (var cell = nearest; cell < farthest; cell += 1.0) {
        let apart = ds_sub(at, middle_of_cell(u32(cell))).x;
        if is_in_pulse(apart) {
            power += tables[sampled.places.y + u32(cell)].x * pulse_at(apart);
        }
    }
    return power;
}

// Power of the mean backscatter at a range.
fn power_of_air_at(range: vec2<f32>) -> f32 {
    return power_of_cells(ds_floor(ds_add(ds_div(range, sampled.clock.xy), vec2<f32>(0.5, 0.0))));
}
