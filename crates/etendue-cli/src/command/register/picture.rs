//! Pictures of registrations: both clouds from above, before and after.

use etendue_plot::{Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Symbol};

/// Two clouds before and after registration.
pub struct RegistrationView<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Name and points of the fixed cloud from above, m.
    pub target: (&'a str, &'a [Point]),
    /// Name of the moved cloud, and its points at the start and after registration, m.
    pub source: (&'a str, [&'a [Point]; 2]),
}

const LARGEST_PLOT: Point = [560.0, 560.0];
const TARGET: Color = Color::hex(0x0072B2);
const SOURCE: Color = Color::hex(0xD55E00);

impl RegistrationView<'_> {
    /// Draws both states side by side.
    pub fn draw(&self) -> Drawing {
        let (target_name, target) = self.target;
        let (source_name, [before, after]) = self.source;
        let points = [target, before, after].into_iter().flatten().copied();
        let extent = Extent::of_most(points).padded();
        let mut empty = Plot::to_scale(extent, ["x, m", "y, m"], LARGEST_PLOT);
        empty.legend.add(Symbol::Heading, "Points from above");
        for (name, points, color) in [(target_name, target, TARGET), (source_name, before, SOURCE)]
        {
            let dot = Symbol::Marker(Marker::Dot, 3.0, color);
            empty.legend.add(dot, format!("{name} ({})", points.len()));
        }

        let mut figure = Figure::new(self.title)
            .with_subtitle(self.subtitle)
            .with_columns(2);
        for (title, source) in [("at the start", before), ("registered", after)] {
            let mut plot = empty.clone().with_title(title);
            plot.add(dots(target, TARGET));
            plot.add(dots(source, SOURCE));
            figure = figure.with_plot(plot);
        }
        figure.draw()
    }
}

fn dots(points: &[Point], color: Color) -> Series {
    Series::Markers {
        points: points.to_vec(),
        marker: Marker::Dot,
        radius: if points.len() > 2000 { 0.9 } else { 1.8 },
        color: color.fade(0.6),
    }
}
