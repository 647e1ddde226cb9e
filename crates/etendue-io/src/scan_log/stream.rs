//! Scan logs that are still being written: by a driver to a pipe, a serial line or a socket.

use super::{Format, csv, rplidar};
use crate::text::TextContent;
use crate::{FileLocation, FormatError};
use etendue_sensors::Scan;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Scans of a text that still grows, in any format of [`parse_scan_log`](super::parse_scan_log). A
/// scan is there as soon as the next one begins, of formats with one scan a line with its line.
///
/// Streams may be joined at any time: what comes before the first line that is recognised is passed
/// over, and a first scan of fewer beams than the second is left out, as is a last one at the end.
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
    /// Lines that hold for all that follows.
    head: String,
    /// Lines that are done with.
    lines: usize,
    /// Bytes of the last scans that were given.
    usual: usize,
    joined: bool,
    ended: bool,
}

/// Whatever bytes come from.
pub type Source = Box<dyn Read + Send>;

/// Timeout of a socket.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lines in which the format shows at the latest.
const LINES_TO_KNOW: usize = 200;

/// Opens what is no file that can be read to its end: `-`, the standard input; `host:port`, a socket
/// that sends (as netcat or ser2net); a serial line or another device; a named pipe. None of
/// anything else.
///
/// A serial line is read as it is set (`stty -F /dev/ttyUSB0 115200 raw`).
///
/// # Errors
/// If it is one of them and cannot be opened.
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
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

impl<R: Read> ScanStream<R> {
    /// Scans from `input`; `path` is named in errors.
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

    /// Waits for at least a number of scans; fewer where the stream ends, none where it has
    /// ended. Times of formats without a clock begin anew each time.
    ///
    /// # Errors
    /// If it cannot be read, its format is not known, or a line of it is wrong.
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

    /// Reads until there are a number of bytes, or no more.
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
        // Lines that are done with stay as blank ones, so that errors name the right place.
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
            if number > LINES_TO_KNOW {
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

    /// Done with so much of the text.
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

/// Whether a scan begins with the second of two lines.
type Begins = Box<dyn Fn(&str, &str) -> bool>;

impl Format {
    /// The length of the part of a text that holds complete scans: it ends where the last scan
    /// begins. The text consists of complete lines.
    fn complete_length(self, head: &str, text: &str) -> usize {
        // Choose how the first line of a scan is recognised
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
