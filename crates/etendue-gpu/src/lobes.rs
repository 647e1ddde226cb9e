//! Lobes of materials in the form of the shaders.

use etendue_physics::surface::fresnel::diffuse_reflectance;
use etendue_physics::surface::{
    Fresnel, InterReflected, Lobe, Material, Microfacet, OrenNayar, OrenNayarForm, Shadowing, Side,
};
use std::f64::consts::{LN_2, PI, TAU};

/// Numbers of a lobe (lobes.wgsl): its kind, and two times four parameters.
pub(crate) type LobeRecord = [[f64; 4]; 3];

/// Kinds of lobes.
const DIFFUSE: f64 = 0.0;
const FACETS: f64 = 1.0;
const RETURNED: f64 = 2.0;
const BETWEEN_FACETS: f64 = 3.0;
/// Light from outside and from inside that several facets of a clear solid reflect.
const OUTSIDE: f64 = 4.0;
const INSIDE: f64 = 5.0;

/// Kind of the reflectance of facets of a clear solid.
const SOLID: f64 = 3.0;

/// The lobes of a material that scatter light; `None` if the shaders lack one of them.
pub(crate) fn lobes_of(material: &Material<f64>) -> Option<Vec<LobeRecord>> {
    let mut records = vec![];
    let are_known = material
        .lobes
        .iter()
        .all(|lobe| add(lobe, 1.0, &mut records));
    are_known.then_some(records)
}

/// Adds a lobe on a share of the area. Returns false for a kind that the shaders lack.
fn add(lobe: &Lobe<f64>, weight: f64, records: &mut Vec<LobeRecord>) -> bool {
    match lobe {
        Lobe::Lambert(own) => {
            let constant = weight * own.reflectance / PI;
            records.push([
                [DIFFUSE, 0.0, 0.0, 0.0],
                [constant, 0.0, 0.0, 0.0],
                [0.0; 4],
            ]);
        }
        Lobe::OrenNayar(own) => records.push(diffuse(own, weight, [0.0; 2])),
        Lobe::Coated(own) => {
            let factor = 1.0 / (1.0 - diffuse_reflectance(own.index));
            records.push(diffuse(&own.base, weight, [own.index, factor]));
            if let Some(coat) = own.coat() {
                add_microfacets(&coat, weight, records);
            }
        }
        Lobe::Microfacet(own) => add_microfacets(own, weight, records),
        Lobe::RoughDielectric(own) => {
            let reflected = [SOLID, own.medium.index, 0.0];
            records.push(facets(weight, own.roughness, own.shadowing, reflected));
            if let Some(light) = own.inter_scattering() {
                records.push(between_clear(
                    OUTSIDE,
                    weight,
                    light.reflection(Side::Front),
                ));
                records.push(between_clear(INSIDE, weight, light.reflection(Side::Back)));
            }
        }
        Lobe::Retroreflector(own) => {
            let variance = own.width * own.width;
            let whole = 1.0 - (-2.0 / variance).exp();
            let at_normal = weight * own.reflectance / (variance * whole * TAU);
            let fall = LN_2 / own.half_entrance.tan().powi(2);
            let numbers = [at_normal, 1.0 / variance, fall, 0.0];
            records.push([[RETURNED, 0.0, 0.0, 0.0], numbers, [0.0; 4]]);
        }
        Lobe::Blend(own) => return add(&own.lobe, weight * own.weight, records),
        other => return !other.scatters(),
    }
    true
}

/// A diffuse lobe under a coat of an index (0: none) with a factor.
fn diffuse(own: &OrenNayar<f64>, weight: f64, [index, factor]: [f64; 2]) -> LobeRecord {
    let variance = own.slope_sd * own.slope_sd;
    let near = variance / (variance + 0.09);
    let (is_full, grazing, second) = match own.form {
        OrenNayarForm::Qualitative => (0.0, 0.0, 0.0),
        OrenNayarForm::Full { inter_reflection } => {
            let share = if inter_reflection { 0.17 } else { 0.0 };
            let second = own.reflectance * variance / (variance + 0.13) * share;
            (1.0, 0.125 * near, second)
        }
    };
    let constant = 1.0 - 0.5 * variance / (variance + 0.33);
    let shape = [constant, 0.45 * near, grazing, second];
    let reflected = weight * own.reflectance / PI;
    [
        [DIFFUSE, 0.0, 0.0, 0.0],
        shape.map(|number| reflected * number),
        [is_full, index, factor, 0.0],
    ]
}

/// Adds the light that facets reflect once, and that between facets.
fn add_microfacets(own: &Microfacet<f64>, weight: f64, records: &mut Vec<LobeRecord>) {
    let reflected = reflectance(&own.fresnel);
    records.push(facets(weight, own.roughness, own.shadowing, reflected));
    if let Some(light) = own.inter_reflection() {
        let [first, second, third, fourth, fifth, sixth] = light.shape;
        records.push([
            [BETWEEN_FACETS, light.alpha, light.knee, 0.0],
            [first, second, third, fourth],
            [fifth, sixth, weight * light.factor, 0.0],
        ]);
    }
}

/// The light that several facets of a clear solid reflect on one side; the coefficients have the fourth root of the factor.
fn between_clear(side: f64, weight: f64, light: &InterReflected<f64>) -> LobeRecord {
    let root = (weight * light.factor).sqrt().sqrt();
    let shape = light.lost.shape.map(|coefficient| root * coefficient);
    [
        [side, light.lost.alpha, light.lost.knee, shape[0]],
        [shape[1], shape[2], shape[3], shape[4]],
        [shape[5], shape[6], shape[7], shape[8]],
    ]
}

/// A lobe of facets with a kind of reflectance and its two numbers.
fn facets(weight: f64, roughness: f64, shadowing: Shadowing, [kind, a, b]: [f64; 3]) -> LobeRecord {
    let masking = match shadowing {
        Shadowing::SmithCorrelated => 0.0,
        Shadowing::SmithSeparable => 1.0,
        Shadowing::SchlickKaris => 2.0,
    };
    [
        [FACETS, 0.0, 0.0, 0.0],
        [weight, roughness, masking, kind],
        [a, b, 0.0, 0.0],
    ]
}

/// The kind of a reflectance and its numbers.
fn reflectance(fresnel: &Fresnel<f64>) -> [f64; 3] {
    match *fresnel {
        Fresnel::Dielectric { index } => [0.0, index, 0.0],
        Fresnel::Conductor { n, k } => [1.0, n, k],
        Fresnel::Schlick { at_normal } => [2.0, at_normal, 0.0],
    }
}
