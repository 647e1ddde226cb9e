// The product of a rotation matrix with a vector. The rows of the matrix begin at `first`.
fn rotated(first: u32, v: Ds3) -> Ds3 {
    let one = poses[first];
    let two = poses[first + 1u];
    let three = poses[first + 2u];
    let four = poses[first + 3u];
    let five = poses[first + 4u].xy;
    return Ds3(
        ds_add(ds_add(ds_mul(one.xy, v.x), ds_mul(one.zw, v.y)), ds_mul(two.xy, v.z)),
        ds_add(ds_add(ds_mul(two.zw, v.x), ds_mul(three.xy, v.y)), ds_mul(three.zw, v.z)),
        ds_add(ds_add(ds_mul(four.xy, v.x), ds_mul(four.zw, v.y)), ds_mul(five, v.z)),
    );
}

// The product of the transposed matrix with a vector.
fn rotated_back(first: u32, v: Ds3) -> Ds3 {
    let one = poses[first];
    let two = poses[first + 1u];
    let three = poses[first + 2u];
    let four = poses[first + 3u];
    let five = poses[first + 4u].xy;
    return Ds3(
        ds_add(ds_add(ds_mul(one.xy, v.x), ds_mul(two.zw, v.y)), ds_mul(four.xy, v.z)),
        ds_add(ds_add(ds_mul(one.zw, v.x), ds_mul(three.xy, v.y)), ds_mul(four.zw, v.z)),
        ds_add(ds_add(ds_mul(two.xy, v.x), ds_mul(three.zw, v.y)), ds_mul(five, v.z)),
    );
}
