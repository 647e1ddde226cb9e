//! Null directions: directions of the unknowns that change no measurement.

use super::component::TangentComponent;
use super::gauge::Gauge;
use super::spectrum::Spectrum;
use nalgebra::DVector;

/// Direction of the unknowns that changes no measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct NullDirection {
    /// Direction in the units of the components, scaled so that its largest component is 1 or -1.
    pub direction: DVector<f64>,
    /// Singular value of the direction relative to the largest.
    pub relative_singular_value: f64,
    /// Description of the components that change together, for messages.
    pub description: String,
}

/// Null directions of a spectrum, without those of fixed components.
pub(super) fn directions(
    spectrum: &Spectrum,
    components: &[TangentComponent],
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

/// Description of a null direction: the components with a share in it and their rates.
fn describe(
    scaled: &DVector<f64>,
    direction: &DVector<f64>,
    components: &[TangentComponent],
) -> String {
    // Select the components with a share in the direction.
    let sharing: Vec<usize> = (0..components.len())
        .filter(|&i| scaled[i].abs() > 1e-3 * scaled.amax())
        .collect();
    if let [only] = sharing[..] {
        return format!(
            "{} is not determined: changing it alone changes no measurement",
            components[only].name
        );
    }
    // List their rates relative to the largest.
    let unit = direction.amax();
    let term = |&i: &usize| {
        let TangentComponent { name, unit: u, .. } = &components[i];
        let per = if u.is_empty() {
            String::new()
        } else {
            format!(" {u}")
        };
        format!("{name} by {:+.3e}{per}", direction[i] / unit)
    };
    let rates: Vec<String> = sharing.iter().map(term).collect();
    format!(
        "not determined: changing {} together changes no measurement",
        rates.join(", ")
    )
}
