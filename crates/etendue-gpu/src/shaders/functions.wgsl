// Functions whose built-in forms have too large errors.

// The exponential of a number up to 80; zero below -80. The built-in one has an error that grows with the number.
fn exponential(x: f32) -> f32 {
    let whole = floor(x * 1.44269504 + 0.5);
    let y = (x - whole * 0.693359375) + whole * 2.12194440e-4;
    let series = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y / 720.0)))));
    return select(series * bitcast<f32>(u32(clamp(whole, -126.0, 127.0) + 127.0) << 23u), 0.0, x < -80.0);
}

// The angle of a sine from 0 to the root of one half. The built-in function may have an absolute error of 2^-11.
fn asin_of(sine: f32) -> f32 {
    let is_large = sine > 0.5;
    let x = select(sine, sqrt(0.5 * (1.0 - sine)), is_large);
    let y = x * x;
    let high = 231.0 / 13312.0 + y * (143.0 / 10240.0 + y * (6435.0 / 557056.0 + y * (12155.0 / 1245184.0 + y * 0.0083903)));
    let low = 1.0 / 6.0 + y * (0.075 + y * (5.0 / 112.0 + y * (35.0 / 1152.0 + y * (63.0 / 2816.0 + y * high))));
    let angle = x * (1.0 + y * low);
    return select(angle, 1.57079633 - 2.0 * angle, is_large);
}
