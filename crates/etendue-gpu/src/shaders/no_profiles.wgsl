// Materials without noise profiles.

fn draw_from_profile(first_ray: u32, shot: u32, environment: u32, echo: ptr<function, Echo>) -> bool {
    return false;
}
