#!/usr/bin/env python3
"""Stops of a lidar through the western corridor of examples/hospital.toml, a metre apart, 0.7 m above
the floor, as TUM lines, for `etendue experiment corridor --scene examples/hospital.toml --trajectory`.

    python scripts/hospital_stops.py > stops.tum
"""

import math

for stop in range(48):
    x = -4.95 + 0.25 * math.sin(0.35 * stop)
    y = 14.0 - stop
    yaw = -math.pi / 2 + 0.15 * math.cos(0.35 * stop)
    z, w = math.sin(yaw / 2), math.cos(yaw / 2)
    print(f"{stop} {x:.6f} {y:.6f} 0.7 0 0 {z:.9f} {w:.9f}")
