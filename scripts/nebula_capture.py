#!/usr/bin/env python3
"""Writes the lidar packets of a ROS 2 bag of tier4/nebula (.db3) as a packet capture: nebula_capture.py BAG.db3 OUT.pcap

Messages are velodyne_msgs/VelodyneScan, pandar_msgs/PandarScan or nebula_msgs/NebulaPackets: a header, and a sequence of
stamped packets of 1206 bytes, of at most 1500 bytes with their size, or of any size. `etendue` reads the capture.
"""
import sqlite3
import struct
import sys


def packets(bag):
    """Time (s) and payload of each packet."""
    database = sqlite3.connect(f"file:{bag}?mode=ro", uri=True)
    kinds = dict(database.execute("select id, type from topics"))
    rows = database.execute("select topic_id, data from messages order by timestamp")
    for topic, data in rows:
        kind = kinds[topic].rsplit("/", 1)[-1]
        if kind not in ("VelodyneScan", "PandarScan", "NebulaPackets"):
            continue
        place = 4

        def align():
            return place + (4 - place) % 4

        def number():
            nonlocal place
            place = align() + 4
            return struct.unpack_from("<I", data, place - 4)[0]

        # Header: stamp and frame.
        number(), number()
        length = number()
        place += length
        # Packets.
        for _ in range(number()):
            time = number() + 1e-9 * number()
            length = {"VelodyneScan": 1206, "PandarScan": 1500}.get(kind)
            if length is None:
                length = number()
            payload = data[place : place + length]
            place += length
            if kind == "PandarScan":
                payload = payload[: number()]
            yield time, payload


def main():
    bag, capture = sys.argv[1:]
    with open(capture, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for time, payload in packets(bag):
            # Ethernet, IPv4 and UDP headers, without checksums.
            udp = struct.pack(">HHHH", 2368, 2368, 8 + len(payload), 0)
            ip = struct.pack(">BBHHHBBH8s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, bytes([127, 0, 0, 1] * 2))
            frame = bytes(12) + b"\x08\x00" + ip + udp + payload
            microseconds = round(time * 1e6)
            stamp = (microseconds // 1_000_000, microseconds % 1_000_000)
            file.write(struct.pack("<IIII", *stamp, len(frame), len(frame)) + frame)


if __name__ == "__main__":
    main()
