//! Scan logs that are read while they are written.

use etendue_io::scan_log::{ScanStream, open_stream, parse_scan_log};
use etendue_sensors::Scan;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpListener;

/// A reader that returns a text in pieces of a few bytes, as a serial line does.
struct Pieces<'a> {
    rest: &'a [u8],
    piece: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.piece.min(self.rest.len()).min(buffer.len());
        let (piece, rest) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(piece);
        self.rest = rest;
        Ok(length)
    }
}

fn streamed(text: &str, piece: usize, count: usize) -> Vec<Vec<Scan>> {
    let rest = text.as_bytes();
    let mut stream = ScanStream::new("driver", Pieces { rest, piece });
    let mut batches = Vec::new();
    loop {
        let scans = stream.next_scans(count).unwrap();
        if scans.is_empty() {
            return batches;
        }
        batches.push(scans);
    }
}

const SCANS: u32 = 9;
const BEAMS: u32 = 40;

/// One log in each format: nine scans of forty beams.
fn logs() -> Vec<(&'static str, String)> {
    let range = |scan: u32, beam: u32| 1.0 + 0.01 * f64::from(scan) + 0.001 * f64::from(beam);
    let mut logs = [const { String::new() }; 6];
    logs[0] += "# made up\nsweep,azimuth_deg,range_m\n";
    logs[1] += "PARAM robot_front_laser_max 1.05\n";
    for scan in 0..SCANS {
        let of_scan: Vec<String> = (0..BEAMS)
            .map(|beam| format!("{:.4}", range(scan, beam)))
            .collect();
        for beam in 0..BEAMS {
            let r = range(scan, beam);
            writeln!(logs[0], "{scan},{beam},{r:.4}").unwrap();
            writeln!(logs[2], "{r:.4},47,{:.4}", 0.01 * f64::from(beam)).unwrap();
            let mark = if beam == 0 { 'S' } else { ' ' };
            writeln!(
                logs[3],
                "{mark} theta: {beam}.00 Dist: {:.2} Q: 47",
                r * 1e3
            )
            .unwrap();
        }
        let beams = of_scan.join(" ");
        writeln!(
            logs[1],
            "FLASER {BEAMS} {beams} 0 0 0 0 0 0 {scan} host {scan}"
        )
        .unwrap();
        let list = of_scan.join(", ");
        write!(
            logs[4],
            "Timestamp: {scan}\nstart_angle: -1.0\nangle_increment: 0.01\n"
        )
        .unwrap();
        writeln!(logs[4], "ranges: array('f', [{list}])").unwrap();
        let numbers = vec![format!("{}", 1500 + scan); 706].join(" ");
        writeln!(logs[5], "{numbers}").unwrap();
    }
    let names = [
        "CSV",
        "CARMEN",
        "rows",
        "ultra_simple",
        "blocks",
        "tinySLAM",
    ];
    names.into_iter().zip(logs).collect()
}

/// In pieces of seven bytes and of thousands, the scans equal those of the whole text, and are
/// returned in batches as soon as they are complete.
#[test]
fn a_log_that_grows_gives_the_scans_of_the_whole_one() {
    for (name, text) in logs() {
        let whole = parse_scan_log("whole".as_ref(), &text).unwrap().scans;
        assert_eq!(whole.len(), SCANS as usize, "{name}");
        for (piece, count) in [(7, 2), (7, 4), (5000, 3)] {
            let batches = streamed(&text, piece, count);
            let scans = batches.concat();
            let early = piece > 7 || batches.len() > 1;
            assert!(early, "{name}: {} batches", batches.len());
            assert_eq!(scans.len(), whole.len(), "{name}");
            for (found, expected) in scans.iter().zip(&whole) {
                assert_eq!(found.readings, expected.readings, "{name}");
                assert_eq!(found.azimuths, expected.azimuths, "{name}");
            }
        }
    }
}

/// The stream begins and ends in the middle of a line and a scan: both incomplete scans are
/// skipped.
#[test]
fn a_stream_may_be_joined_and_left_at_any_time() {
    let (_, rows) = logs().swap_remove(2);
    let text = format!("bps 115200\n{}", &rows[300..rows.len() - 200]);
    let scans = streamed(&text, 100, 2).concat();
    assert_eq!(scans.len(), SCANS as usize - 2);
    assert!(
        scans
            .iter()
            .all(|scan| scan.readings.len() == BEAMS as usize)
    );
    assert_eq!(scans[0].readings[0].range(), Some(1.01));
}

#[test]
fn a_socket_that_sends_is_a_stream() {
    let (_, rows) = logs().swap_remove(2);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let driver = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(rows.as_bytes()).unwrap();
    });
    let mut stream = open_stream(&address).unwrap().expect("a socket");
    let scans = stream.next_scans(usize::MAX).unwrap();
    assert_eq!(scans.len(), SCANS as usize);
    driver.join().unwrap();
    let Err(error) = open_stream(&address) else {
        panic!("nobody listens");
    };
    assert!(error.to_string().contains(&address), "{error}");
}

/// An error names the line of the stream; text that is not a log is an error; a file is not a
/// stream.
#[test]
fn wrong_lines_of_a_stream_are_named() {
    let (_, rows) = logs().swap_remove(2);
    let mut lines: Vec<&str> = rows.lines().collect();
    lines[200] = "1,5,47,0.2";
    let rest = lines.join("\n");
    let pieces = Pieces {
        rest: rest.as_bytes(),
        piece: 64,
    };
    let mut stream = ScanStream::new("driver", pieces);
    let error = (0..9).find_map(|_| stream.next_scans(2).err()).unwrap();
    assert!(error.to_string().starts_with("driver, line 201"), "{error}");
    let other = "hello\n".repeat(300);
    let mut stream = ScanStream::new("driver", other.as_bytes());
    let error = stream.next_scans(1).unwrap_err().to_string();
    assert!(error.contains("not a scan log"), "{error}");
    assert!(open_stream("Cargo.toml").unwrap().is_none());
    assert!(open_stream("not there").unwrap().is_none());
}
