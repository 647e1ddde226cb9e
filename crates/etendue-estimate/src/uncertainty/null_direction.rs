//! Directions that cannot be known, in words.

use super::component::Component;
use super::gauge::Gauge;
use super::spectrum::Spectrum;
use nalgebra::DVector;

/// A direction of the unknowns that changes no measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct NullDirection {
    /// The direction in the components' own units, its largest component 1 or -1 after scaling by
    /// how strongly each component alone moves the measurements.
    pub direction: DVector<f64>,
    /// Its singular value, relative to the largest.
    pub relative_singular_value: f64,
    /// What it is, for people.
    pub description: String,
}

pub(super) fn directions(
    spectrum: &Spectrum,
    components: &[Component],
    gauge: &Gauge,
) -> Vec<NullDirection> {
    (0..spectrum.values.len())
        .filter(|&k| spectrum.is_null(k))
        .map(|k| {
            let scaled = spectrum.vectors.column(k).into_owned();
            let direction = scaled.component_div(&spectrum.lengths);
            NullDirection {
                description: describe(&scaled, &direction, components),
                direction: &direction / direction.amax(),
                relative_singular_value: spectrum.values[k] / spectrum.values[0],
            }
        })
        .filter(|null| !gauge.fixes(null.direction.iamax()))
        .collect()
}

fn describe(scaled: &DVector<f64>, direction: &DVector<f64>, components: &[Component]) -> String {
    let taking_part: Vec<usize> = (0..components.len())
        .filter(|&i| scaled[i].abs() > 1e-3 * scaled.amax())
        .collect();
    if let [only] = taking_part[..] {
        return format!(
            "{} is not determined: changing it alone changes none of these measurements",
            components[only].name
        );
    }
    let unit = direction.amax();
    let term = |&i: &usize| {
        let Component { name, unit: u, .. } = &components[i];
        let per = if u.is_empty() {
            String::new()
        } else {
            format!(" {u}")
        };
        format!("{name} by {:+.3e}{per}", direction[i] / unit)
    };
    let together: Vec<String> = taking_part.iter().map(term).collect();
    format!(
        "not determined: moving {} together changes none of these measurements",
        together.join(", ")
    )
}
