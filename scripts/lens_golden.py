"""Image points by OpenCV's lens models, the expected values of the tests of the lenses.

    pip install opencv-python-headless numpy
    python scripts/lens_golden.py > crates/etendue-physics/tests/golden/lenses.json
"""

import json

import cv2
import numpy as np

camera = np.array([[612.4, 0, 323.7], [0, 608.9, 236.2], [0, 0, 1.0]])
random = np.random.default_rng(8)
cases = []


def add(model, distortion, points):
    distortion = np.array(distortion, dtype=float)
    zero = np.zeros(3)
    if model == "kannala_brandt":
        shaped = points.reshape(-1, 1, 3)
        image, _ = cv2.fisheye.projectPoints(shaped, zero, zero, camera, distortion)
    else:
        image, _ = cv2.projectPoints(points, zero, zero, camera, distortion)
    cases.append(
        {
            "model": model,
            "distortion": distortion.tolist(),
            "points": points.tolist(),
            "pixels": image.reshape(-1, 2).tolist(),
        }
    )


def cloud(widest):
    """Points in front of the camera, up to an angle from the axis, rad; the first is almost on the
    axis."""
    angle = np.concatenate([[1e-9], random.uniform(0.01, widest, 39)])
    azimuth = random.uniform(-np.pi, np.pi, 40)
    across = np.sin(angle)
    ends = np.stack([across * np.cos(azimuth), across * np.sin(azimuth), np.cos(angle)], 1)
    return ends * random.uniform(0.2, 30.0, (40, 1))


add("pinhole", [0, 0, 0, 0], cloud(1.0))
add("brown_conrady", [-0.28, 0.07, 1.2e-3, -8e-4], cloud(0.6))
add("brown_conrady", [0.11, -0.21, 3e-4, 5e-4, 0.09], cloud(0.6))
add("brown_conrady", [0.8, 0.3, -1e-4, 2e-4, 0.02, 1.1, 0.5, 0.08], cloud(0.7))
add(
    "brown_conrady",
    [-0.2, 0.05, 1e-3, 2e-3, 0.01, 0.1, 0.02, -0.003, 2e-3, -1e-3, 1e-3, 3e-4],
    cloud(0.5),
)
add("kannala_brandt", [0, 0, 0, 0], cloud(1.4))
add("kannala_brandt", [-0.013, 0.021, -0.011, 0.0024], cloud(1.3))
add("kannala_brandt", [0.08, -0.01, 0.004, -0.0006], cloud(1.3))
print(
    json.dumps(
        {
            "command": "python scripts/lens_golden.py",
            "opencv": cv2.__version__,
            "focal": [camera[0, 0], camera[1, 1]],
            "centre": [camera[0, 2], camera[1, 2]],
            "cases": cases,
        }
    )
)
