// Scenes without mirrors, glass and noise profiles: of the surfaces only the hits are stored.

fn keep_surface(ray: u32, found: Found) {}
