#!/usr/bin/env python3
"""Reads recordings of `etendue run` and `etendue demo street` with independent libraries.

    etendue run examples/cart.toml -o cart.mcap --nmea cart.nmea
    pip install mcap mcap-ros2-support pynmea2
    python scripts/read_robot.py cart.mcap cart.nmea
"""

import collections
import sys


def read_mcap(path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    counts = collections.Counter()
    last_stamp = {}
    last_log = 0
    examples = {}
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            counts[(channel.topic, schema.name)] += 1
            assert message.log_time >= last_log, "messages are not in the order of arrival"
            last_log = message.log_time
            if hasattr(decoded, "header"):
                stamp = decoded.header.stamp.sec * 10**9 + decoded.header.stamp.nanosec
                assert stamp <= message.log_time, f"{channel.topic}: stamp after arrival"
                assert stamp >= last_stamp.get(channel.topic, 0), f"{channel.topic}: stamps"
                last_stamp[channel.topic] = stamp
            examples.setdefault(schema.name, decoded)
    for (topic, schema), count in sorted(counts.items()):
        print(f"{topic:14} {schema:32} {count}")
    imu = examples.get("sensor_msgs/msg/Imu")
    if imu is not None:
        force = imu.linear_acceleration
        size = (force.x**2 + force.y**2 + force.z**2) ** 0.5
        assert 5.0 < size < 20.0, f"specific force {size}"
        assert imu.orientation_covariance[0] == -1.0
    fix = examples.get("sensor_msgs/msg/NavSatFix")
    if fix is not None:
        assert -90.0 <= fix.latitude <= 90.0 and fix.status.status >= 0
    scan = examples.get("sensor_msgs/msg/LaserScan")
    if scan is not None:
        assert len(scan.ranges) == len(scan.intensities) > 100
    assert counts, "the recording is empty"


def read_nmea(path):
    import pynmea2

    counts = collections.Counter()
    positions = []
    with open(path, newline="") as file:
        for line in file:
            sentence = pynmea2.parse(line.strip(), check=True)
            counts[sentence.sentence_type] += 1
            if sentence.sentence_type == "GGA" and sentence.gps_qual > 0:
                positions.append((sentence.latitude, sentence.longitude, float(sentence.altitude)))
            if sentence.sentence_type == "RMC":
                assert sentence.datetime.year >= 2000
    print(dict(counts))
    assert counts["GGA"] == counts["RMC"] == counts["GST"] > 0
    mean = [sum(axis) / len(positions) for axis in zip(*positions)]
    print("mean position: {:.6f} N {:.6f} E {:.2f} m".format(*mean))


for path in sys.argv[1:]:
    print(path)
    if path.endswith(".mcap"):
        read_mcap(path)
    else:
        read_nmea(path)
print("all read")
