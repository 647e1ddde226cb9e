"""Reads files written by etendue with independent libraries, and compares them.

    ETENDUE_OUTPUTS=outputs cargo test -p etendue-config --test main independent
    pip install mcap mcap-ros2-support 'laspy[lazrs]' plyfile pye57 numpy pyarrow 'rosbags>=0.11.9'
    python scripts/read_outputs.py outputs
"""

import sys
from pathlib import Path

import laspy
import numpy as np
import pyarrow.parquet
import pye57
from mcap_ros2.reader import read_ros2_messages
from plyfile import PlyData
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

folder = Path(sys.argv[1])
arrays = np.load(folder / "a.npz")
truth = {name: arrays[name] for name in ("x", "y", "z", "intensity")}
count = len(truth["x"])
assert count > 20_000, count


def check(name, found, tolerance=0.0):
    for key, values in truth.items():
        other = np.asarray(found[key], dtype=float)
        assert len(other) == count, (name, key, len(other), count)
        worst = np.abs(other - values.astype(float)).max()
        assert worst <= tolerance, (name, key, worst)
    print(f"{name}: {count} points equal within {tolerance}")


for name in ("a.las", "a.laz"):
    las = laspy.read(folder / name)
    assert str(las.header.version) == "1.4"
    check(name, {"x": las.x, "y": las.y, "z": las.z, "intensity": las.intensity}, 0.51e-4)
    assert np.array_equal(las.return_number, arrays["return_number"])
    assert np.allclose(las.gps_time, arrays["time"])

e57 = pye57.E57(str(folder / "a.e57"))
data = e57.read_scan_raw(0, ignore_unsupported_fields=True)
check("a.e57", {"x": data["cartesianX"], "y": data["cartesianY"], "z": data["cartesianZ"],
                "intensity": data["intensity"]})

ply = PlyData.read(folder / "a.ply")["vertex"]
check("a.ply", {key: ply[key] for key in truth})

table = pyarrow.parquet.read_table(folder / "a.parquet")
assert table.column_names == list(arrays) and table.num_rows == count, table.schema
check("a.parquet", {key: table[key].to_numpy() for key in truth})
for key in ("time", "ring", "column", "material"):
    assert np.array_equal(table[key].to_numpy(), arrays[key]), key
    assert table[key].to_numpy().dtype == arrays[key].dtype, key

kitti = np.fromfile(folder / "a.bin", np.float32).reshape(-1, 4)
check("a.bin", dict(zip(truth, kitti.T)))

table = np.genfromtxt(folder / "a.csv", delimiter=",", names=True)
check("a.csv", {key: table[key].astype(np.float32) for key in truth})


def points(message):
    names = {2: "u1", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
    dtype = np.dtype({"names": [f.name for f in message.fields],
                      "formats": [names[f.datatype] for f in message.fields],
                      "offsets": [f.offset for f in message.fields],
                      "itemsize": message.point_step})
    return np.frombuffer(bytes(message.data), dtype)


topics = {}
for message in read_ros2_messages(str(folder / "a.mcap")):
    topics.setdefault(message.channel.topic, []).append(message.ros_msg)
assert {topic: len(found) for topic, found in topics.items()} == {"/points": 2, "/tf": 2, "/clock": 2}, topics.keys()
first = points(topics["/points"][0])
check("a.mcap (mcap-ros2-support)", {key: first[key] for key in truth})
assert topics["/tf"][1].transforms[0].child_frame_id == "lidar"
assert abs(topics["/tf"][1].transforms[0].transform.translation.x - 0.1) < 1e-9

with AnyReader([folder / "a.mcap"], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
    clouds = [reader.deserialize(raw, connection.msgtype)
              for connection, _, raw in reader.messages() if connection.topic == "/points"]
check("a.mcap (rosbags)", {key: points(clouds[0])[key] for key in truth})

with AnyReader([folder / "bag"], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
    assert {topic: info.msgcount for topic, info in reader.topics.items()} == {
        "/points": 2, "/tf": 2, "/clock": 2, "/points/scan": 0}, reader.topics
    clouds = [reader.deserialize(raw, connection.msgtype)
              for connection, _, raw in reader.messages() if connection.topic == "/points"]
check("bag/metadata.yaml (rosbags)", {key: points(clouds[0])[key] for key in truth})

scans = [m.ros_msg for m in read_ros2_messages(str(folder / "scan.mcap"))
         if m.channel.topic == "/points/scan"]
assert len(scans) == 2 and len(scans[0].ranges) == 1081
assert abs(scans[0].angle_increment - np.radians(0.25)) < 1e-6
print("scan.mcap: 2 LaserScan messages of 1081 ranges")
