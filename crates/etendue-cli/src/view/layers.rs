//! Layers of points and lines by colour, in panels with common axes or axes of their own.

use etendue_plot::{
    Axis, Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol,
};

/// Points or line of one kind.
#[derive(Clone, Debug)]
pub struct PanelLayer {
    /// Name in the legend.
    pub name: String,
    /// Colour.
    pub color: Color,
    /// Points in the units of the axes.
    pub points: Vec<Point>,
    /// Whether the points are joined by a line.
    pub joined: bool,
}

impl PanelLayer {
    /// Separate points.
    pub fn points(name: impl Into<String>, color: Color, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            color,
            points,
            joined: false,
        }
    }

    /// Points joined by a line.
    pub fn line(name: impl Into<String>, color: Color, points: Vec<Point>) -> Self {
        Self {
            joined: true,
            ..Self::points(name, color, points)
        }
    }

    fn add_to(&self, plot: &mut Plot) {
        if self.joined {
            let stroke = Stroke::new(self.color, 2.2);
            plot.add_curve(&self.name, self.points.clone(), stroke);
            return;
        }
        plot.add(Series::Markers {
            points: self.points.clone(),
            marker: Marker::Dot,
            radius: 1.0,
            color: self.color.fade(0.6),
        });
        let text = format!("{} ({})", self.name, self.points.len());
        plot.legend
            .add(Symbol::Marker(Marker::Dot, 3.0, self.color), text);
    }
}

/// Panels of layers one below the other, with common axes.
#[derive(Clone, Debug)]
pub struct LayerPanels<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Labels of the x and the y axis, with units.
    pub axes: [&'a str; 2],
    /// Whether both axes have one scale.
    pub to_scale: bool,
    /// Heading and layers of each panel.
    pub panels: Vec<(String, Vec<PanelLayer>)>,
}

const LARGEST_TO_SCALE: Point = [760.0, 420.0];
const SIZE: Point = [760.0, 240.0];

impl LayerPanels<'_> {
    /// Draws the panels.
    pub fn draw(&self) -> Drawing {
        let extent = extent(self.panels.iter().flat_map(|(_, layers)| layers));
        let empty = if self.to_scale {
            Plot::to_scale(extent.padded(), self.axes, LARGEST_TO_SCALE)
        } else {
            let axis = |axis: usize| Axis::new(self.axes[axis]).with_limits(padded(extent, axis));
            Plot::new(axis(0), axis(1)).with_size(SIZE)
        };
        let mut figure = Figure::new(self.title).with_subtitle(self.subtitle);
        for (title, layers) in &self.panels {
            let mut plot = empty.clone().with_title(title);
            for layer in layers {
                layer.add_to(&mut plot);
            }
            figure = figure.with_plot(plot);
        }
        figure.draw()
    }
}

/// A panel to scale, with axes of its own.
pub fn panel(title: &str, axes: [&str; 2], layers: &[PanelLayer]) -> Plot {
    let mut plot = Plot::to_scale(extent(layers.iter()).padded(), axes, LARGEST_TO_SCALE);
    for layer in layers {
        layer.add_to(&mut plot);
    }
    plot.with_title(title)
}

/// Extent of nearly all points and of all lines; a unit square where there is nothing.
fn extent<'a>(layers: impl Iterator<Item = &'a PanelLayer> + Clone) -> Extent {
    let points = layers
        .clone()
        .flat_map(|layer| layer.points.iter().copied());
    let lines = layers.filter(|layer| layer.joined);
    let lines = lines.flat_map(|layer| layer.points.iter().copied());
    let extent = Extent::of_most(points).union(&Extent::of(lines));
    if extent.is_empty() {
        Extent::of([[0.0, 0.0], [1.0, 1.0]])
    } else {
        extent
    }
}

/// Limits of an axis with a margin of 5 % on both sides.
fn padded(extent: Extent, axis: usize) -> [f64; 2] {
    let margin = 0.05 * extent.size()[axis].max(1e-3);
    [extent.min[axis] - margin, extent.max[axis] + margin]
}
