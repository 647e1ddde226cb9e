//! Ambient light at a receiver.

use crate::transport::{Background, FieldOfView, LightRay, TreeSettings, World};
use etendue_physics::Scalar;
use etendue_physics::light::ReceiverWindow;
use etendue_scene::{CastScratch, Hit};

/// Ambient light in the field of view of a receiver.
#[derive(Clone, Copy)]
pub(super) struct AmbientView<'a> {
    background: &'a Background<'a>,
    window: ReceiverWindow,
    cone: FieldOfView,
}

/// Ambient light at a receiver, for other processors. The power at the receiver of a shot is that of the mean radiance
/// ([`Background::radiance`]) of the beam's rays by their weights, in the window ([`ReceiverWindow::background`]). It adds to the
/// background of the receiver.
#[derive(Clone, Copy, Debug)]
pub struct DirectAmbient<'a> {
    /// The ambient light of the world.
    pub background: &'a Background<'a>,
    /// The window of the receiver.
    pub window: ReceiverWindow,
}

impl<'a> AmbientView<'a> {
    /// The ambient light of a world in a receiver's window; `None` without ambient light or without a window.
    pub fn new<S: Scalar>(world: &'a World<'a, S>, window: Option<ReceiverWindow>) -> Option<Self> {
        let window = window?;
        Some(Self {
            background: world.background()?,
            window,
            cone: FieldOfView {
                half_angle: window.field_of_view / 2.0,
                solid_angle: window.solid_angle(),
            },
        })
    }

    /// The light and the window, for other processors.
    pub fn parts(&self) -> DirectAmbient<'a> {
        DirectAmbient {
            background: self.background,
            window: self.window,
        }
    }

    /// Power of the ambient light in the field of view about a ray, 1/(m² sr); `hit` is the first hit of the
    /// ray.
    pub fn power<S: Scalar>(
        &self,
        ray: &LightRay<S>,
        hit: Option<Hit>,
        tree: &TreeSettings,
        scratch: &mut CastScratch,
    ) -> f64 {
        let ray = ray.plain();
        let radiance = self
            .background
            .radiance(&ray, hit, tree, self.cone, scratch);
        self.window.background(radiance)
    }
}
