// Echoes of frequency-modulated continuous waves: range and radial velocity. The formulas are those of etendue-physics
// (pulse/fmcw.rs). Frequencies are in ranges: a beat over that per metre of range.

fn ds_abs(a: vec2<f32>) -> vec2<f32> {
    return select(a, -a, a.x < 0.0 || (a.x == 0.0 && a.y < 0.0));
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN || draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }

    // Returns within a cell of the resolution merge.
    var cells = 0u;
    var first = 0u;
    for (var place = 0u; place < returns; place++) {
        if place + 1u < returns && ds_sub(distances[place + 1u], distances[place]).x < params.light.x {
            continue;
        }

        // Total power, mean of range and velocity.
        var power = 0.0;
        var beyond = 0.0;
        var faster = 0.0;
        let velocity_of_first = velocity_of(slots_of[first]);
        for (var one = first; one <= place; one++) {
            power += powers[one];
            beyond += powers[one] * ds_sub(distances[one], distances[first]).x;
            faster += powers[one] * ds_sub(velocity_of(slots_of[one]), velocity_of_first).x;
        }
        var range = ds_add(distances[first], vec2<f32>(beyond / power, 0.0));
        var velocity = ds_add(velocity_of_first, vec2<f32>(faster / power, 0.0));
        first = place + 1u;
        if power < params.receiver.x {
            continue;
        }

        // Both beats, with noise.
        var normals = vec2<f32>(0.0);
        if params.kinds.z != 0u {
            normals = draws(cells, shot, params.key.z + environment, RECEIVER_NOISE) * (params.timing.z / sqrt(power));
        }
        cells += 1u;
        let shift = ds_mul(params.timing.xy, velocity);
        let up = ds_abs(ds_add(ds_abs(ds_add(range, shift)), vec2<f32>(normals.x, 0.0)));
        let down = ds_abs(ds_add(ds_abs(ds_sub(range, shift)), vec2<f32>(normals.y, 0.0)));
        range = 0.5 * ds_add(up, down);
        velocity = 0.5 * ds_div(ds_sub(up, down), params.timing.xy);
        if !keep(Detection(range, power, 1.0, velocity)) {
            echo.status = PLAIN;
            return echo;
        }
    }
    report_kept(&echo, shot, environment);
    return echo;
}

// The radial velocity of a return (velocities.wgsl), m/s.
fn velocity_of(slot: u32) -> vec2<f32> {
    return bitcast<vec2<f32>>(hits[2u * slot + 1u].yz);
}
