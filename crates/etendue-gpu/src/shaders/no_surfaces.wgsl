// Surfaces of which nothing is kept but the hits.

fn keep_surface(ray: u32, found: Found) {}
