//! Conversion between profile files and profiles.

use super::{
    CorrelationFile, GlareFile, GlossPart, IntensityFile, KnotsFile, LawFile, ProfileFile,
    ReflectanceFile, StepFile, VERSION,
};
use etendue_physics::profile::{
    Correlation, DistanceLaw, DropOutModel, Facets, Glare, GlareKnot, IntensityKind, Knot, Profile,
    ReflectanceModel, Step, Steps,
};

impl ProfileFile {
    /// The file of a profile, without provenance and quality. Numbers are rounded to their
    /// significant decimals.
    pub fn of(profile: &Profile) -> Self {
        Self {
            version: VERSION,
            sensor: profile.sensor.clone(),
            material: profile.material.clone(),
            description: String::new(),
            wavelength_nm: profile.wavelength.map(|w| rounded(w * 1e9, 3)),
            distance_m: rounded(profile.distance, 5),
            extrapolated: profile.extrapolated,
            warnings: Vec::new(),
            law: law_file(profile.law),
            steps: profile
                .steps
                .as_slice()
                .iter()
                .map(|step| StepFile {
                    from_m: rounded(step.from, 6),
                    step_mm: rounded(step.step * 1e3, 4),
                })
                .collect(),
            correlation: CorrelationFile {
                neighbour: rounded(profile.correlation.neighbour(), 3),
                fixed_pattern_neighbour: Some(rounded(
                    profile.correlation.fixed_pattern_neighbour(),
                    3,
                )),
                fixed_pattern: rounded(profile.correlation.fixed_pattern(), 3),
                fixed_pattern_drop_out: rounded(profile.correlation.fixed_pattern_drop(), 3),
            },
            intensity: match profile.intensity {
                IntensityKind::Constant(value) => IntensityFile::Constant { value },
                IntensityKind::TwoValued { low, high } => IntensityFile::TwoValued { low, high },
                IntensityKind::Continuous => IntensityFile::Continuous {},
                _ => IntensityFile::None {},
            },
            reflectance: reflectance_file(&profile.reflectance),
            knots: KnotsFile::of(&profile.knots),
            glare: profile.glare.as_ref().map(GlareFile::of),
            verdict: None,
            quality: None,
            provenance: Vec::new(),
        }
    }

    /// The TOML text of the file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a profile is plain TOML")
    }

    /// Converts the file to a profile.
    ///
    /// # Errors
    /// If the columns of the knots or of the glare differ in length.
    pub fn profile(&self) -> Result<Profile, String> {
        let correlation = &self.correlation;
        let neighbour = correlation.neighbour;
        let reflectance = &self.reflectance;
        Ok(Profile {
            sensor: self.sensor.clone(),
            material: self.material.clone(),
            wavelength: self.wavelength_nm.map(|w| w * 1e-9),
            distance: self.distance_m,
            law: self.law.distance_law(),
            steps: Steps::new(self.steps.iter().map(StepFile::step).collect()),
            correlation: Correlation::new(
                neighbour,
                correlation.fixed_pattern,
                correlation.fixed_pattern_drop_out,
            )
            .with_fixed_pattern_neighbour(correlation.fixed_pattern_neighbour.unwrap_or(neighbour)),
            intensity: match self.intensity {
                IntensityFile::None {} => IntensityKind::None,
                IntensityFile::Constant { value } => IntensityKind::Constant(value),
                IntensityFile::TwoValued { low, high } => IntensityKind::TwoValued { low, high },
                IntensityFile::Continuous {} => IntensityKind::Continuous,
            },
            reflectance: ReflectanceModel {
                slope_sd: reflectance.slope_sd_deg.to_radians(),
                facets: reflectance.gloss.map(|gloss| Facets {
                    roughness: gloss.roughness,
                    share: gloss.share,
                }),
                drop_out: DropOutModel {
                    logit: reflectance.drop_out_logit,
                    slope: reflectance.drop_out_slope,
                },
            },
            knots: self.knots.knots()?,
            glare: self.glare.as_ref().map(GlareFile::glare).transpose()?,
            extrapolated: self.extrapolated,
        })
    }
}

fn law_file(law: DistanceLaw) -> LawFile {
    match law {
        DistanceLaw::SignalToNoise { floor } => LawFile::SignalToNoise {
            floor_mm: rounded(floor * 1e3, 4),
        },
        DistanceLaw::Fitted {
            spread,
            bias,
            power,
        } => LawFile::Fitted {
            spread_exponent: rounded(spread, 3),
            bias_exponent: rounded(bias, 3),
            power_exponent: rounded(power, 3),
        },
        _ => LawFile::Triangulation {},
    }
}

impl LawFile {
    fn distance_law(&self) -> DistanceLaw {
        match *self {
            Self::Triangulation {} => DistanceLaw::Triangulation,
            Self::SignalToNoise { floor_mm } => DistanceLaw::SignalToNoise {
                floor: floor_mm * 1e-3,
            },
            Self::Fitted {
                spread_exponent,
                bias_exponent,
                power_exponent,
            } => DistanceLaw::Fitted {
                spread: spread_exponent,
                bias: bias_exponent,
                power: power_exponent,
            },
        }
    }
}

impl StepFile {
    fn step(&self) -> Step {
        Step {
            from: self.from_m,
            step: self.step_mm * 1e-3,
        }
    }
}

fn reflectance_file(model: &ReflectanceModel) -> ReflectanceFile {
    ReflectanceFile {
        slope_sd_deg: rounded(model.slope_sd.to_degrees(), 3),
        gloss: model.facets.map(|facets| GlossPart {
            roughness: rounded(facets.roughness, 3),
            share: rounded(facets.share, 3),
        }),
        drop_out_logit: rounded(model.drop_out.logit, 4),
        drop_out_slope: rounded(model.drop_out.slope, 4),
    }
}

impl KnotsFile {
    fn of(knots: &[Knot]) -> Self {
        let column = |value: &dyn Fn(&Knot) -> f64, digits| -> Vec<f64> {
            knots
                .iter()
                .map(|knot| rounded(value(knot), digits))
                .collect()
        };
        Self {
            incidence_deg: column(&|k| k.incidence.to_degrees(), 3),
            count: column(&|k| k.count, 0),
            bias_mm: column(&|k| k.bias * 1e3, 3),
            bias_error_mm: column(&|k| k.bias_error * 1e3, 3),
            spread_mm: column(&|k| k.spread * 1e3, 4),
            spread_error_mm: column(&|k| k.spread_error * 1e3, 4),
            drop_out: column(&|k| k.drop_out, 5),
            drop_out_low: column(&|k| k.drop_out_interval[0], 5),
            drop_out_high: column(&|k| k.drop_out_interval[1], 5),
            intensity: column(&|k| k.intensity, 4),
            intensity_spread: column(&|k| k.intensity_spread, 4),
            extrapolated: knots
                .iter()
                .enumerate()
                .filter(|(_, knot)| knot.extrapolated)
                .map(|(number, _)| number)
                .collect(),
        }
    }

    fn knots(&self) -> Result<Vec<Knot>, String> {
        // Check that all columns have the same length
        let count = self.incidence_deg.len();
        let columns = [
            ("count", &self.count),
            ("bias_mm", &self.bias_mm),
            ("bias_error_mm", &self.bias_error_mm),
            ("spread_mm", &self.spread_mm),
            ("spread_error_mm", &self.spread_error_mm),
            ("drop_out", &self.drop_out),
            ("drop_out_low", &self.drop_out_low),
            ("drop_out_high", &self.drop_out_high),
            ("intensity", &self.intensity),
            ("intensity_spread", &self.intensity_spread),
        ];
        of_one_length("knots", count, &columns)?;
        // Convert them row by row
        let knot = |i: usize| Knot {
            incidence: self.incidence_deg[i].to_radians(),
            count: self.count[i],
            bias: self.bias_mm[i] * 1e-3,
            bias_error: self.bias_error_mm[i] * 1e-3,
            spread: self.spread_mm[i] * 1e-3,
            spread_error: self.spread_error_mm[i] * 1e-3,
            drop_out: self.drop_out[i],
            drop_out_interval: [self.drop_out_low[i], self.drop_out_high[i]],
            intensity: self.intensity[i],
            intensity_spread: self.intensity_spread[i],
            extrapolated: self.extrapolated.contains(&i),
        };
        Ok((0..count).map(knot).collect())
    }
}

impl GlareFile {
    fn of(glare: &Glare) -> Self {
        let column = |value: &dyn Fn(&GlareKnot) -> f64, digits| -> Vec<f64> {
            let values = glare.knots.iter().map(value);
            values.map(|value| rounded(value, digits)).collect()
        };
        Self {
            centre_deg: rounded(glare.centre.to_degrees(), 3),
            incidence_deg: column(&|k| k.incidence.to_degrees(), 3),
            count: column(&|k| k.count, 0),
            bias_mm: column(&|k| k.bias * 1e3, 3),
            bias_error_mm: column(&|k| k.bias_error * 1e3, 3),
            spread_ratio: column(&|k| k.spread_ratio, 3),
            spread_ratio_error: column(&|k| k.spread_ratio_error, 3),
            drop_out: column(&|k| k.drop_out, 5),
            drop_out_low: column(&|k| k.drop_out_interval[0], 5),
            drop_out_high: column(&|k| k.drop_out_interval[1], 5),
            intensity: column(&|k| k.intensity, 4),
        }
    }

    fn glare(&self) -> Result<Glare, String> {
        // Check that all columns have the same length
        let count = self.incidence_deg.len();
        let columns = [
            ("count", &self.count),
            ("bias_mm", &self.bias_mm),
            ("bias_error_mm", &self.bias_error_mm),
            ("spread_ratio", &self.spread_ratio),
            ("spread_ratio_error", &self.spread_ratio_error),
            ("drop_out", &self.drop_out),
            ("drop_out_low", &self.drop_out_low),
            ("drop_out_high", &self.drop_out_high),
            ("intensity", &self.intensity),
        ];
        of_one_length("glare", count, &columns)?;
        // Convert them row by row
        let knot = |i: usize| GlareKnot {
            incidence: self.incidence_deg[i].to_radians(),
            count: self.count[i],
            bias: self.bias_mm[i] * 1e-3,
            bias_error: self.bias_error_mm[i] * 1e-3,
            spread_ratio: self.spread_ratio[i],
            spread_ratio_error: self.spread_ratio_error[i],
            drop_out: self.drop_out[i],
            drop_out_interval: [self.drop_out_low[i], self.drop_out_high[i]],
            intensity: self.intensity[i],
        };
        Ok(Glare {
            centre: self.centre_deg.to_radians(),
            knots: (0..count).map(knot).collect(),
        })
    }
}

fn of_one_length(part: &str, count: usize, columns: &[(&str, &Vec<f64>)]) -> Result<(), String> {
    let odd = columns.iter().find(|(_, column)| column.len() != count);
    odd.map_or(Ok(()), |(name, column)| {
        let found = column.len();
        Err(format!(
            "{part}.{name} has {found} values, {part}.incidence_deg has {count}"
        ))
    })
}

/// A number rounded to a number of decimals.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10.0_f64.powi(digits);
    (value * scale).round() / scale
}
