"""Writes crates/etendue-io/tests/golden/scans.db3: a small ROS 2 bag in SQLite with synthetic
scans, by Python's sqlite3. `python scripts/rosbag2_golden.py` from the root of the repository."""

import pathlib
import sqlite3
import struct

PATH = pathlib.Path("crates/etendue-io/tests/golden/scans.db3")
BEAMS = 180


def scan(number):
    body = struct.pack("<II", number, 250_000_000) + struct.pack("<I", 6) + b"laser\0"
    body += b"\0" * (-len(body) % 4)
    body += struct.pack("<7f", -1.5, 1.5, 3 / (BEAMS - 1), 0, 0.1, 0.15, 12)
    ranges = [1 + 0.01 * number + 0.001 * beam for beam in range(BEAMS)]
    body += struct.pack(f"<I{BEAMS}f", BEAMS, *ranges) + struct.pack("<I", 0)
    return b"\0\1\0\0" + body


PATH.parent.mkdir(parents=True, exist_ok=True)
PATH.unlink(missing_ok=True)
bag = sqlite3.connect(PATH)
bag.execute("PRAGMA page_size = 512")
bag.executescript("""
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
""")
bag.execute("INSERT INTO topics VALUES (1, '/rosout', 'rcl_interfaces/msg/Log', 'cdr', '')")
bag.execute("INSERT INTO topics VALUES (2, '/scan', 'sensor_msgs/msg/LaserScan', 'cdr', '')")
for number in range(12):
    time = 1_700_000_000_000_000_000 + number * 100_000_000
    bag.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?)", (time, b"\0\1\0\0log"))
    bag.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (2, ?, ?)", (time, scan(number)))
bag.commit()
bag.close()
