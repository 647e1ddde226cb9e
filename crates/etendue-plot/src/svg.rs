//! SVG files.

use crate::drawing::{Anchor, Drawing, Point, Shape, TextLabel};
use crate::style::{Color, Stroke};
use std::fmt::{self, Write};

/// The drawing as an SVG document.
///
/// ```
/// use etendue_plot::{Drawing, svg};
/// assert!(svg::write(&Drawing::new(40.0, 30.0)).starts_with("<svg"));
/// ```
pub fn write(drawing: &Drawing) -> String {
    let mut svg = String::new();
    document(&mut svg, drawing).expect("writing to a string does not fail");
    svg
}

fn document(out: &mut String, drawing: &Drawing) -> fmt::Result {
    let width = Number(drawing.width);
    let height = Number(drawing.height);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Roboto, Arial, sans-serif">"#
    )?;
    writeln!(out, r##"<rect width="100%" height="100%" fill="#fff"/>"##)?;
    for shape in &drawing.shapes {
        draw(out, shape)?;
    }
    writeln!(out, "</svg>")
}

fn draw(out: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Lines { lines, stroke } => path(out, lines, false, None, Some(*stroke)),
        Shape::Areas {
            outlines,
            fill,
            stroke,
        } => path(out, outlines, true, Some(*fill), *stroke),
        Shape::Circles {
            centres,
            radius,
            fill,
            stroke,
        } => circles(out, centres, *radius, *fill, *stroke),
        Shape::Text(text) => write_text(out, text),
    }
}

fn path(
    out: &mut String,
    lines: &[Vec<Point>],
    closed: bool,
    fill: Option<Color>,
    stroke: Option<Stroke>,
) -> fmt::Result {
    write!(out, "<path")?;
    paint(out, fill, stroke)?;
    write!(out, r#" d=""#)?;
    for line in lines {
        for (i, [x, y]) in line.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            write!(out, "{command}{} {}", Number(*x), Number(*y))?;
        }
        if closed {
            out.write_char('Z')?;
        }
    }
    writeln!(out, r#""/>"#)
}

fn circles(
    out: &mut String,
    centres: &[Point],
    radius: f64,
    fill: Option<Color>,
    stroke: Option<Stroke>,
) -> fmt::Result {
    write!(out, "<g")?;
    paint(out, fill, stroke)?;
    writeln!(out, ">")?;
    let r = Number(radius);
    for [x, y] in centres {
        let x = Number(*x);
        let y = Number(*y);
        writeln!(out, r#"<circle cx="{x}" cy="{y}" r="{r}"/>"#)?;
    }
    writeln!(out, "</g>")
}

fn paint(out: &mut String, fill: Option<Color>, stroke: Option<Stroke>) -> fmt::Result {
    match fill {
        Some(color) => paint_color(out, "fill", color)?,
        None => write!(out, r#" fill="none""#)?,
    }
    let Some(stroke) = stroke else { return Ok(()) };
    paint_color(out, "stroke", stroke.color)?;
    write!(out, r#" stroke-width="{}""#, Number(stroke.width))?;
    if let Some([dash, gap]) = stroke.dash {
        write!(
            out,
            r#" stroke-dasharray="{} {}""#,
            Number(dash),
            Number(gap)
        )?;
    }
    write!(out, r#" stroke-linejoin="round""#)
}

fn paint_color(out: &mut String, attribute: &str, color: Color) -> fmt::Result {
    let [red, green, blue] = color.rgb;
    write!(out, r##" {attribute}="#{red:02x}{green:02x}{blue:02x}""##)?;
    if color.opacity < 1.0 {
        write!(
            out,
            r#" {attribute}-opacity="{}""#,
            Number(color.opacity.into())
        )?;
    }
    Ok(())
}

fn write_text(out: &mut String, text: &TextLabel) -> fmt::Result {
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let [x, y] = text.at.map(Number);
    write!(
        out,
        r#"<text x="{x}" y="{y}" font-size="{}" text-anchor="{anchor}""#,
        Number(text.size)
    )?;
    paint_color(out, "fill", text.color)?;
    if text.vertical {
        write!(out, r#" transform="rotate(-90 {x} {y})""#)?;
    }
    writeln!(out, ">{}</text>", escape(&text.content))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Number with at most two decimals.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 100.0).round() / 100.0;
        write!(f, "{}", if rounded == 0.0 { 0.0 } else { rounded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_are_short() {
        let mut drawing = Drawing::new(100.0, 50.0);
        drawing.text([1.0 / 3.0, -1e-9], "a < b & c", 12.0, Anchor::Middle);
        let svg = write(&drawing);
        assert!(svg.contains(r#"x="0.33" y="0""#), "{svg}");
        assert!(svg.contains("a &lt; b &amp; c"), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
