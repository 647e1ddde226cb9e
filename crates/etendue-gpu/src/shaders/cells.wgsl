// The air before the first surface on the axis of a beam, in cells.

// The number of whole cells, and the range and the power of one that the surface cuts.
struct Air {
    whole: u32,
    is_cut: bool,
    range: vec2<f32>,
    power: f32,
}

fn ds_floor(a: vec2<f32>) -> f32 {
    let whole = floor(a.x);
    return whole + floor((a.x - whole) + a.y);
}

// The air before a surface on the axis, or all of it without a surface. The cells begin at a range and have a length, in double-single
// numbers. Of the air: backscatter, 1/(m sr); two-way extinction, 1/m; least range with full overlap, m; number of cells.
fn air_before(axis: Surface, cells: vec4<f32>, of_air: vec4<f32>) -> Air {
    var air: Air;
    if of_air.w == 0.0 {
        return air;
    }
    air.whole = u32(of_air.w);
    if axis.object == NONE {
        return air;
    }
    let beyond = ds_sub(axis.distance, cells.xy);
    let reached = max(ds_floor(ds_div(beyond, cells.zw)), 0.0);
    if reached >= of_air.w {
        return air;
    }
    air.whole = u32(reached);
    let whole = ds_mul(vec2<f32>(reached, 0.0), cells.zw);
    let length = clamp(ds_sub(beyond, whole).x, 0.0, cells.z);
    air.is_cut = length > 0.0;
    air.range = ds_add(ds_add(cells.xy, whole), vec2<f32>(0.5 * length, 0.0));
    let range = air.range.x;
    let overlap = min(range / max(of_air.z, 1e-30), 1.0);
    let one_way = overlap / range;
    air.power = of_air.x * one_way * one_way * exp(-of_air.y * range) * length;
    return air;
}
