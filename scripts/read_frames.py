"""Reads frames written by etendue with independent libraries, and compares them.

    ETENDUE_FRAMES=frames cargo test -p etendue-config --test main frames_become
    pip install mcap mcap-ros2-support OpenEXR pillow numpy
    python scripts/read_frames.py frames
"""

import sys
from pathlib import Path

import numpy as np
import OpenEXR
from mcap_ros2.reader import read_ros2_messages
from PIL import Image

folder = Path(sys.argv[1])
values = np.fromfile(folder / "a.f32", np.float32).reshape(2, 62, 82)
picture = np.asarray(Image.open(folder / "a.png"))
assert picture.shape == (62, 82, 3)

with OpenEXR.File(str(folder / "a.exr"), separate_channels=True) as file:
    channels = file.channels()
    assert np.array_equal(channels["R"].pixels, values[0])
    assert np.array_equal(channels["Z"].pixels, values[1])
    assert np.array_equal(channels["number"].pixels.ravel(), np.arange(62 * 82))
print("a.exr: three channels equal")

topics = {}
for message in read_ros2_messages(str(folder / "a.mcap")):
    topics.setdefault(message.channel.topic, []).append(message.ros_msg)
assert {topic: len(found) for topic, found in topics.items()} == {
    "/camera/image": 2,
    "/camera/image_raw": 2,
    "/camera/camera_info": 2,
    "/tf": 2,
    "/clock": 2,
}
image = topics["/camera/image"][0]
assert (image.width, image.height, image.encoding, image.step) == (82, 62, "rgb8", 246)
assert np.array_equal(np.frombuffer(image.data, np.uint8).reshape(62, 82, 3), picture)
raw = topics["/camera/image_raw"][0]
assert (raw.encoding, len(raw.data)) == ("bayer_bggr16", 2 * 62 * 82)
info = topics["/camera/camera_info"][0]
assert info.distortion_model == "plumb_bob" and list(info.d)[:2] == [0.02, -0.06]
assert np.allclose(np.reshape(info.k, (3, 3)), [[68, 0, 40.5], [0, 68, 30.5], [0, 0, 1]])
print("a.mcap: two frames with their images, numbers and camera_info")
