//! Colour over a surface.

use super::{Lobe, Material};

impl Material<f64> {
    /// The same material with its diffuse reflectance multiplied by `factor` in [0, 1]: what a
    /// picture on the surface does. Gloss, metal and glass stay as they are.
    ///
    /// ```
    /// use etendue_physics::surface::{Lobe, Material};
    /// let paper = Material { lobes: vec![Lobe::Lambert { reflectance: 0.8 }] };
    /// let grey = Material { lobes: vec![Lobe::Lambert { reflectance: 0.4 }] };
    /// assert_eq!(paper.tinted(0.5), grey);
    /// ```
    #[must_use]
    pub fn tinted(&self, factor: f64) -> Self {
        Self {
            lobes: self.lobes.iter().map(|lobe| lobe.tinted(factor)).collect(),
        }
    }
}

impl Lobe<f64> {
    fn tinted(&self, factor: f64) -> Self {
        let mut tinted = self.clone();
        match &mut tinted {
            Self::Lambert { reflectance } => *reflectance *= factor,
            Self::OrenNayar(lobe) => lobe.reflectance *= factor,
            Self::Coated(lobe) => lobe.base.reflectance *= factor,
            Self::Part { lobe, .. } => **lobe = lobe.tinted(factor),
            _ => {}
        }
        tinted
    }
}
