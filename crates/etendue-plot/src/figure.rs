//! Pages of plots.

use crate::drawing::{Anchor, Drawing, Point};
use crate::font;
use crate::legend::Legend;
use crate::palette;
use crate::plot::Plot;
use crate::style::Stroke;
use crate::ticks;

const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
/// Space between frames side by side: tick labels and the label of the y axis.
const COLUMN_GAP: f64 = 92.0;
/// Space below a frame for tick labels, and for the label of the x axis.
const TICK_ROOM: f64 = 30.0;
const LABEL_ROOM: f64 = 24.0;
/// Space above a frame for its heading.
const HEADING_ROOM: f64 = 30.0;
const LEGEND_GAP: f64 = 24.0;
const SCALE_BAR_ROOM: f64 = 44.0;

const TITLE_SIZE: f64 = 19.0;
const SUBTITLE_SIZE: f64 = 13.0;
const HEADING_SIZE: f64 = 14.0;

/// Page with a heading, plots in rows, and their legends to the right.
///
/// The legend of a row contains the entries of its plots; entries of rows above are not repeated.
///
/// ```
/// use etendue_plot::{Axis, Figure, Plot};
/// let plot = Plot::new(Axis::new("x"), Axis::new("y")).with_size([300.0, 200.0]);
/// let one = Figure::new("One").with_plot(plot.clone()).draw();
/// let two = Figure::new("Two").with_columns(2).with_plot(plot.clone()).with_plot(plot).draw();
/// assert!(two.width > one.width + 300.0 && two.height == one.height);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// Line below the heading; empty for none.
    pub subtitle: String,
    /// Number of plots in a row.
    pub columns: usize,
    /// Plots, row by row.
    pub plots: Vec<Plot>,
}

impl Figure {
    /// Page with a heading and without plots, in one column.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            columns: 1,
            plots: Vec::new(),
        }
    }

    /// The same page with a line below the heading.
    #[must_use]
    pub fn with_subtitle(self, subtitle: impl Into<String>) -> Self {
        Self {
            subtitle: subtitle.into(),
            ..self
        }
    }

    /// The same page with another number of plots in a row.
    #[must_use]
    pub fn with_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// The same page with another plot.
    #[must_use]
    pub fn with_plot(mut self, plot: Plot) -> Self {
        self.plots.push(plot);
        self
    }

    /// The drawing of the page, as large as its content.
    pub fn draw(&self) -> Drawing {
        let mut drawing = Drawing::new(0.0, 0.0);

        // Heading
        drawing.text([LEFT, 34.0], &self.title, TITLE_SIZE, Anchor::Start);
        drawing.text([LEFT, 56.0], &self.subtitle, SUBTITLE_SIZE, Anchor::Start);
        let title_width = font::width(&self.title, TITLE_SIZE);
        let heading_width = title_width.max(font::width(&self.subtitle, SUBTITLE_SIZE));
        let mut top = if self.subtitle.is_empty() { 58.0 } else { 72.0 };

        // Rows of plots, each with the legend entries that are new in it
        let columns = self.columns.max(1);
        let legend_left = self.right_edge(columns) + LEGEND_GAP;
        let mut right = legend_left - LEGEND_GAP;
        let mut shown = Legend::default();
        let mut legend_bottom = 0.0_f64;
        for row in self.plots.chunks(columns) {
            let frame_top = top + heading_room(row);
            top = self.draw_row(row, frame_top, &mut drawing);
            let legend = shown.extend_from(row.iter().map(|plot| &plot.legend));
            let legend_top = frame_top.max(legend_bottom);
            legend.draw(&mut drawing, [legend_left, legend_top]);
            if !legend.is_empty() {
                right = right.max(legend_left + legend.width());
                legend_bottom = legend_top + legend.height() + 20.0;
            }
            if let Some((plot, unit)) = row.iter().find_map(|p| Some((p, p.scale_bar?))) {
                let bar = [legend_left, legend_bottom.max(frame_top) + 6.0];
                draw_scale_bar(plot.page_units_per_x(), unit, bar, &mut drawing);
                legend_bottom = bar[1] + SCALE_BAR_ROOM;
            }
        }

        // Page size
        drawing.width = right.max(LEFT + heading_width) + RIGHT;
        drawing.height = top.max(legend_bottom) + 6.0;
        drawing
    }

    /// Draws plots side by side and returns the lower end of their labels.
    fn draw_row(&self, row: &[Plot], top: f64, drawing: &mut Drawing) -> f64 {
        let mut bottom = top;
        for (column, plot) in row.iter().enumerate() {
            let left = LEFT + self.left_of(column);
            plot.draw_at([left, top], drawing);
            let heading = [left, top - 10.0];
            drawing.text(heading, &plot.title, HEADING_SIZE, Anchor::Start);
            let label = if plot.x.label.is_empty() {
                0.0
            } else {
                LABEL_ROOM
            };
            bottom = bottom.max(top + plot.size[1] + TICK_ROOM + label);
        }
        bottom
    }

    /// Widths of the columns before `column`, with their gaps.
    fn left_of(&self, column: usize) -> f64 {
        let widths = (0..column).map(|before| self.column_width(before) + COLUMN_GAP);
        widths.sum()
    }

    fn column_width(&self, column: usize) -> f64 {
        let plots = self.plots.iter().skip(column).step_by(self.columns.max(1));
        plots.map(|plot| plot.size[0]).fold(0.0, f64::max)
    }

    /// Right edge of the last column.
    fn right_edge(&self, columns: usize) -> f64 {
        let used = columns.min(self.plots.len()).max(1);
        LEFT + self.left_of(used) - COLUMN_GAP
    }
}

/// Space above the frames of a row.
fn heading_room(row: &[Plot]) -> f64 {
    if row.iter().all(|plot| plot.title.is_empty()) {
        8.0
    } else {
        HEADING_ROOM
    }
}

/// Draws a bar of a round length of at least 60 page units.
fn draw_scale_bar(page_units_per_x: f64, unit: &str, [left, y]: Point, drawing: &mut Drawing) {
    let length = ticks::step(60.0 / page_units_per_x, 1);
    let right = left + length * page_units_per_x;
    let bar = vec![[left, y], [right, y]];
    let ends = [left, right].map(|x| vec![[x, y - 5.0], [x, y + 5.0]]);
    let [start, end] = ends;
    drawing.lines(vec![bar, start, end], Stroke::new(palette::INK, 1.6));
    let label = format!("{length} {unit}");
    drawing.text([right + 8.0, y + 4.5], label, 13.0, Anchor::Start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::svg;

    #[test]
    fn an_entry_that_two_plots_have_is_in_the_legend_once() {
        let mut plot = Plot::new(Axis::new("x"), Axis::new("y"));
        plot.add_curve(
            "both",
            vec![[0.0, 0.0], [1.0, 1.0]],
            palette::category(0, 2.0),
        );
        let mut second = plot.clone();
        second.add_curve(
            "second",
            vec![[0.0, 1.0], [1.0, 0.0]],
            palette::category(1, 2.0),
        );
        let page = Figure::new("Two plots").with_plot(plot).with_plot(second);
        let text = svg::write(&page.draw());
        assert_eq!(text.matches(">both<").count(), 1);
        assert_eq!(text.matches(">second<").count(), 1);
    }

    #[test]
    fn the_page_holds_the_longest_heading() {
        let plot = Plot::new(Axis::new("x"), Axis::new("y")).with_size([100.0, 100.0]);
        let long = "a heading that is much longer than the only frame of this page is wide";
        let page = Figure::new(long).with_plot(plot).draw();
        assert!(page.width > LEFT + font::width(long, TITLE_SIZE));
    }
}
