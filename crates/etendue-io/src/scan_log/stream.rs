//! Scan logs from a pipe, a serial line or a socket that a driver is still writing.

use super::{Format, csv, rplidar};
use crate::text::TextContent;
use crate::{FileLocation, FormatError};
use etendue_sensors::Scan;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reader of scans from a growing text in any format of [`parse_scan_log`](super::parse_scan_log).
/// A scan is available when the next one begins; in formats with one scan per line, at the end of
/// its line.
///
/// A stream may begin at any position. Text before the first recognised line is skipped, as is a
/// first scan with fewer beams than the second, and an incomplete last scan.
///
/// ```
/// use etendue_io::scan_log::ScanStream;
/// let text = "1.5,47,0.1\n2.0,47,0.2\n1.6,47,0.1\n2.1,47,0.2\n1.7,47,0.1\n";
/// let mut stream = ScanStream::new("driver", text.as_bytes());
/// let scans = stream.next_scans(1).unwrap();
/// assert_eq!(scans[1].readings[0].range(), Some(1.6));
/// ```
pub struct ScanStream<R> {
    path: PathBuf,
    input: R,
    /// Text that is not parsed yet.
    pending: Vec<u8>,
    format: Option<Format>,
    /// Header lines of the format.
    head: String,
    /// Number of parsed lines.
    lines: usize,
    /// Bytes of the scans returned last.
    usual: usize,
    joined: bool,
    ended: bool,
}

/// Byte source of a stream.
pub type Source = Box<dyn Read + Send>;

/// Timeout of a socket.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of lines before the format is recognised.
const MAX_LINES_TO_RECOGNISE: usize = 200;

/// Opens a streaming source: `-` for the standard input; `host:port` for a socket that sends text
/// (netcat, ser2net); a serial line or another device; a named pipe. `None` for other sources, for
/// example regular files.
///
/// The settings of a serial line are not changed (`stty -F /dev/ttyUSB0 115200 raw`).
///
/// # Errors
/// If such a source cannot be opened.
pub fn open_stream(source: &str) -> Result<Option<ScanStream<Source>>, FormatError> {
    let path = Path::new(source);
    let opened: Option<std::io::Result<Source>> = if source == "-" {
        Some(Ok(Box::new(std::io::stdin())))
    } else if let Ok(found) = std::fs::metadata(path) {
        let is_device = !found.is_file() && !found.is_dir();
        is_device.then(|| File::open(path).map(|file| Box::new(file) as Source))
    } else {
        let port = source.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        matches!(port, Some(Ok(_))).then(|| connected(source).map(|s| Box::new(s) as Source))
    };
    let stream = opened.map(|opened| {
        let input = opened.map_err(|source| FormatError::cannot_read(path, source))?;
        Ok(ScanStream::new(path, input))
    });
    stream.transpose()
}

fn connected(source: &str) -> std::io::Result<TcpStream> {
    let mut refused = std::io::Error::from(ErrorKind::AddrNotAvailable);
    for address in source.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

impl<R: Read> ScanStream<R> {
    /// Reads scans from `input`; errors name `path`.
    pub fn new(path: impl Into<PathBuf>, input: R) -> Self {
        Self {
            path: path.into(),
            input,
            pending: Vec::new(),
            format: None,
            head: String::new(),
            lines: 0,
            usual: 0,
            joined: false,
            ended: false,
        }
    }

    /// Waits for at least `count` scans. Returns fewer at the end of the stream, none after it.
    /// Times of formats without a clock begin at zero in each call.
    ///
    /// # Errors
    /// If the source cannot be read, its format is unknown, or a line is invalid.
    pub fn next_scans(&mut self, count: usize) -> Result<Vec<Scan>, FormatError> {
        // A scan is complete when the next one begins
        let count = if self.joined { count } else { count.max(2) };
        let mut enough = self.usual * 4 / 5;
        loop {
            self.fill(enough.max(self.pending.len()))?;
            let found = self.complete_scans()?;
            if let Some((length, scans)) = found
                && (scans.len() >= count || self.ended)
            {
                self.take(length);
                return Ok(scans);
            }
            if self.ended {
                return Ok(Vec::new());
            }
            // Parse again only after the text has grown by a quarter
            enough = self.pending.len() / 4 * 5 + 1;
        }
    }

    /// Reads until `enough` bytes are available or the stream ends.
    fn fill(&mut self, enough: usize) -> Result<(), FormatError> {
        let mut chunk = [0; 16_384];
        while !self.ended {
            match self.input.read(&mut chunk) {
                Ok(0) => self.ended = true,
                Ok(read) => self.pending.extend(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(FormatError::cannot_read(&self.path, error)),
            }
            if self.pending.len() > enough {
                break;
            }
        }
        Ok(())
    }

    /// The length of the text with complete scans, and these scans.
    fn complete_scans(&mut self) -> Result<Option<(usize, Vec<Scan>)>, FormatError> {
        let whole = if self.ended {
            self.pending.len()
        } else {
            let line_end = self.pending.iter().rposition(|byte| *byte == b'\n');
            line_end.map_or(0, |at| at + 1)
        };
        let whole = whole - self.recognise(whole)?;
        let Some(format) = self.format else {
            return Ok(None);
        };
        let text = self.text(whole)?;
        let length = if self.ended {
            whole
        } else {
            format.complete_length(&self.head, text)
        };
        if text[..length].trim().is_empty() {
            return Ok(None);
        }
        // Replace parsed lines by blank ones, so that errors name the correct line.
        let before = self.lines.saturating_sub(self.head.lines().count());
        let content = format!("{}{}{}", self.head, "\n".repeat(before), &text[..length]);
        let log = format.parse(TextContent {
            path: &self.path,
            content: &content,
        })?;
        let mut scans = log.scans;
        let beams: Vec<usize> = scans.iter().map(|scan| scan.readings.len()).collect();
        if let [.., before, last] = beams[..]
            && self.ended
            && last < before
        {
            scans.pop();
        }
        if let [first, second, ..] = beams[..]
            && !self.joined
            && first < second
        {
            scans.remove(0);
        }
        Ok(Some((length, scans)))
    }

    /// Detects the format and drops the bytes before its first line; returns their number.
    fn recognise(&mut self, whole: usize) -> Result<usize, FormatError> {
        if self.format.is_some() {
            return Ok(0);
        }

        // Find the first line of a known format
        let mut passed = 0;
        let mut found = None;
        for (number, line) in self.text(whole)?.split_inclusive('\n').enumerate() {
            if let Some(format) = Format::of_line(line.trim_end()) {
                let head = matches!(format, Format::Csv).then(|| line.to_owned());
                found = Some((format, head, number));
                break;
            }
            passed += line.len();
            if number > MAX_LINES_TO_RECOGNISE {
                return Err(super::unknown(&self.path, self.text(whole)?));
            }
        }
        let Some((format, head, number)) = found else {
            return if self.ended {
                Err(super::unknown(&self.path, self.text(whole)?))
            } else {
                Ok(0)
            };
        };

        // Keep its header, and drop the bytes before its first scan
        self.format = Some(format);
        self.lines = number;
        if let Some(head) = head {
            passed += head.len();
            self.lines += 1;
            self.head = head;
        }
        self.pending.drain(..passed);
        Ok(passed)
    }

    fn text(&self, whole: usize) -> Result<&str, FormatError> {
        std::str::from_utf8(&self.pending[..whole]).map_err(|error| {
            FormatError::malformed(
                &self.path,
                FileLocation::Byte(error.valid_up_to()),
                "this is not text in UTF-8",
                "send a text log; binary recordings are read from files",
            )
        })
    }

    /// Removes `length` bytes of parsed text.
    fn take(&mut self, length: usize) {
        let done: Vec<u8> = self.pending.drain(..length).collect();
        let done = String::from_utf8_lossy(&done);
        if matches!(self.format, Some(Format::Carmen)) {
            let parameters = done.lines().filter(|line| line.starts_with("PARAM"));
            self.head.extend(parameters.flat_map(|line| [line, "\n"]));
        }
        self.lines += done.lines().count();
        self.usual = length;
        self.joined = true;
    }
}

/// Function that returns whether the second of two lines begins a scan.
type Begins = Box<dyn Fn(&str, &str) -> bool>;

impl Format {
    /// The length of the text that contains complete scans, up to the beginning of the last scan.
    /// The text consists of complete lines.
    fn complete_length(self, head: &str, text: &str) -> usize {
        // Select the recognition of the first line of a scan
        let begins: Begins = match self {
            Self::TinySlam | Self::Carmen => return text.len(),
            Self::RplidarBlocks => Box::new(|_, line| line.trim_start().starts_with("Timestamp")),
            Self::UltraSimple => Box::new(|_, line| line.trim_start().starts_with('S')),
            Self::RplidarRows => Box::new(rplidar::begins_scan),
            Self::Csv => {
                let Some(sweep) = csv::sweep_column(head) else {
                    return 0;
                };
                Box::new(move |before, line| csv::begins_scan(sweep, before, line))
            }
        };
        // Search the last first line backwards
        let mut end = text.len();
        let mut after: Option<(usize, &str)> = None;
        for line in text.split_inclusive('\n').rev() {
            end -= line.len();
            if line.trim().is_empty() {
                continue;
            }
            if let Some((start, after)) = after
                && begins(line, after)
            {
                return start;
            }
            after = Some((end, line));
        }
        0
    }
}
