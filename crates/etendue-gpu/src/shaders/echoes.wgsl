// Echoes of receivers that separate surfaces, in closed form: pulses and triangulation.

// Returns are one spot up to this share of their distance.
const ONE_SPOT: f32 = 0.02;

// The range of a spot at a distance.
fn triangulated(distance: vec2<f32>, draw: f32) -> vec2<f32> {
    var angle = ds_add(ds_div(params.timing.zw, distance), vec2<f32>(params.timing.x * draw, 0.0));
    if params.timing.y > 0.0 {
        let step = vec2<f32>(params.timing.y, 0.0);
        let steps = ds_div(angle, step);
        let whole = floor(steps.x);
        angle = ds_mul(step, two_sum(whole, floor((steps.x - whole) + steps.y + 0.5)));
    }
    if angle.x < 1e-12 {
        angle = vec2<f32>(1e-12, 0.0);
    }
    return ds_div(params.timing.zw, angle);
}

// The echo of a shot in an environment; its first ray has an index.
fn echo_of(first_ray: u32, shot: u32, environment: u32) -> Echo {
    var echo = undetected(first_ray);
    if echo.status == PLAIN || draw_from_profile(first_ray, shot, environment, &echo) {
        return echo;
    }

    // The echoes of merged returns; the brightest spot of a receiver that triangulates.
    let of_environment = params.key.z + environment;
    var brightest: Detection;
    var groups = 0u;
    var first = 0u;
    for (var place = 0u; place < returns; place++) {
        var reach = params.light.x;
        if params.kinds.x == TRIANGULATION {
            reach = ONE_SPOT * distances[place].x;
        }
        if place + 1u < returns && ds_sub(distances[place + 1u], distances[place]).x < reach {
            continue;
        }
        let all = merged(first, place + 1u);
        let nearest = distances[first];
        first = place + 1u;
        if params.kinds.x == TRIANGULATION {
            if all.power >= brightest.power {
                brightest.power = all.power;
                brightest.range = ds_add(nearest, vec2<f32>(all.beyond, 0.0));
            }
            continue;
        }
        var normals = vec2<f32>(0.0);
        if params.kinds.z != 0u {
            normals = draws(groups, shot, of_environment, RECEIVER_NOISE);
        }
        groups += 1u;
        var found: Detection;
        if found_merged(all, nearest, normals, echo.ambient, &found) && !keep(found) {
            echo.status = PLAIN;
            return echo;
        }
    }
    if params.kinds.x == TRIANGULATION && returns > 0u && brightest.power >= params.receiver.x {
        var normal = 0.0;
        if params.kinds.z != 0u {
            normal = draws(0u, shot, of_environment, RECEIVER_NOISE).x;
        }
        brightest.range = triangulated(brightest.range, normal);
        brightest.stretch = 1.0;
        _ = keep(brightest);
    }
    report_kept(&echo, shot, environment);
    return echo;
}
