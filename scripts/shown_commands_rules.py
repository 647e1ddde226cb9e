"""How scripts/shown_commands.py runs the commands of README.md and docs/: reduced forms, exit codes, stated numbers."""

from dataclasses import dataclass, field


@dataclass
class Rule:
    """One shown command, named by its beginning."""

    command: str
    run: str = ""  # the reduced form that is run in its place
    reason: str = ""  # why it is reduced
    skip: str = ""  # why it is left out
    recording: str = ""  # file or folder of ETENDUE_DATA that it needs
    exit_codes: tuple[int, ...] = (0,)
    output: str = ""  # pattern that the output must contain
    numbers: list[tuple[str, float, float]] = field(default_factory=list)  # pattern with one group, lowest and highest value


# Pages whose first TOML example the commands read, under this name.
EXAMPLES = {
    "docs/scenes.md": "store.toml",
    "docs/sensors.md": "mine.toml",
}

# Commands that provide the files that a page takes for granted: recordings of the user's own.
PREPARE = {
    "docs/tour.md": """
        cp "$ETENDUE_DATA"/mrpt_velodyne_pcap/sample_velodyne_vlp16_gps.pcap drive.pcap || true
    """,
    "docs/calibrated-noise.md": """
        cp "$ETENDUE_DATA"/rplidar_apollosim/wood_data.txt . && cp wood_data.txt scan.txt || true
    """,
}

DEVICE = "needs a connected device"
BUILT = "`just python` builds and installs the package"
RENDERED = "a dev build renders slowly"
WINDOW = "it opens a window where there is a desktop"

RULES = [
    # Builds
    Rule("cargo install", skip="`just ci` builds the command line"),
    Rule("python3 -m venv", skip=BUILT),
    Rule("pip install .", skip=BUILT),
    Rule("just wheel", skip=BUILT),
    Rule("export ETENDUE_DATA", skip="set by this script"),
    # Fits: the truth is 0.1 m, 0.05 m, 10 degrees
    Rule(
        "etendue fit arena --scan beams.csv",
        numbers=[
            (r"x_m ([-\d.]+)", 0.0985, 0.1015),
            (r"y_m ([-\d.]+)", 0.0494, 0.0506),
            (r"yaw_deg ([-\d.]+)", 9.95, 10.05),
            (r"body x: standard deviation ([-\d.e]+)", 5e-4, 9e-4),
        ],
    ),
    Rule("etendue fit examples/fit/track-mirror.toml -o mirror", skip="docs/fit.md shows it with another folder"),
    Rule("etendue fit examples/fit/fog.toml", numbers=[(r"fog_visibility_m: value ([-\d.]+)", 79.8, 80.2), (r"error ([\d.]+) mm and", 0.0, 1.5)]),
    Rule(
        "etendue experiment localise",
        run="etendue experiment localise --starts 2 --seeds 1 -o figures",
        reason="60 starts take a minute",
    ),
    # Cameras
    Rule(
        "etendue render glass-door",
        run="etendue cameras ideal | sed 's/640, 480/160, 120/' > coarse.toml"
        " && etendue render glass-door --camera coarse.toml --pose -2.6,1.2,1.4,-25 --light paths --samples 1 -o door",
        reason=RENDERED,
    ),
    Rule(
        "etendue render arena --camera raspberry-pi-v2",
        run="etendue render arena --frames 1 --samples 1 -o arena.mcap",
        reason=RENDERED,
    ),
    Rule("etendue render arena --camera", run="etendue render arena --camera global-shutter --samples 1 -o picture", reason=RENDERED),
    Rule("etendue render store.toml", run="etendue render store.toml --pose -3,0,1.2,10 --samples 1 -o picture", reason=RENDERED),
    Rule("etendue render -o arena", run="etendue render --samples 1 -o arena", reason=RENDERED),
    Rule(
        "etendue render examples/street.toml",
        run="etendue render examples/street.toml --camera mine.toml --trajectory examples/street.tum --frames 1 --samples 1 -o drive.mcap",
        reason=RENDERED,
    ),
    # Pictures
    Rule("etendue view velodyne-vlp-16", run="etendue view velodyne-vlp-16 --no-open", reason=WINDOW),
    Rule("etendue view store.toml", run="etendue view store.toml --no-open", reason=WINDOW),
    # Recordings
    Rule("etendue convert drive.pcap", recording="mrpt_velodyne_pcap"),
    Rule("etendue convert kitti.pcap", skip="no recording of an HDL-64E is at hand; tests decode its packets"),
    Rule("etendue convert drive.mcap drive.parquet", skip="needs the feature parquet; `just formats` tests it"),
    Rule("etendue calibrate", recording="rplidar_apollosim"),
    Rule(
        "etendue calibrate --recording panel-beams.csv",
        output=r"wood: good",
        numbers=[(r"largest deviation from it: ([\d.]+) standard errors", 0.5, 4.0)],
    ),
    Rule("etendue calibrate view simulated/wood.toml"),
    Rule("driver |", skip=DEVICE),
    Rule("ultra_simple", skip=DEVICE),
    Rule("cargo run --release --example 03_rebuild_a_recording", recording="urg04lx_tinyslam"),
    Rule("etendue simulate rebuilt/scene.toml", recording="urg04lx_tinyslam"),
    Rule("etendue inspect $ETENDUE_DATA/urg04lx_tinyslam", recording="urg04lx_tinyslam"),
    Rule("cargo run --release --example 04_rebuild_a_room", recording="mrpt_velodyne_pcap"),
    Rule("etendue simulate room/scene.toml", recording="mrpt_velodyne_pcap"),
    Rule("etendue compare room/rotation.pcd", recording="mrpt_velodyne_pcap"),
    # Depth correction and mapping: few scans determine no model, so that every verdict is possible
    Rule(
        "etendue experiment corridor --export drive",
        run="etendue experiment corridor --stops 8 --columns 96 --export drive",
        reason="64 scans of 512 columns take minutes",
    ),
    Rule("etendue correct train", exit_codes=(0, 3), output=r"verdict: (usable|not determined)"),
    Rule("etendue correct apply", run="etendue correct apply --model model.toml drive fixed --force", reason="see above"),
    Rule("etendue correct eval", exit_codes=(0, 3)),
    Rule("etendue slam", exit_codes=(0, 3)),
    Rule("etendue slam drive --correction", exit_codes=(0, 1, 3), output=r"verdict|is not determined"),
    # Generalised ICP along a street, which planes contradict
    Rule("etendue register run.mcap#1 run.mcap#0", exit_codes=(3,), numbers=[(r"planes of both: translation ([\d.]+)", 0.79, 0.81)]),
    # Robots
    Rule("etendue demo course", run="etendue demo course --laps 1", reason="20 courses take minutes"),
    Rule("etendue demo street", run="etendue demo street --duration 2", reason="60 s are 950 MB"),
    Rule("etendue run examples/rover.toml", skip="needs the feature rapier; `just rapier` tests it"),
    Rule("etendue studio", skip="needs the feature studio; `just studio-test` tests it"),
    Rule("cargo build --release -p etendue-cli --features gpu", skip="`just test` builds it"),
    Rule("etendue inspect --devices", skip="needs the feature gpu; `just test` tests it"),
    Rule("etendue simulate scene.toml --sensor velodyne-vlp-16 --device gpu", skip="needs the feature gpu; `just test` tests it"),
    Rule("etendue render scene.toml --camera global-shutter --device gpu", skip="needs the feature gpu; `just test` tests it"),
    Rule("etendue run examples/cart.toml --device gpu", skip="needs the feature gpu; `just test` tests it"),
    Rule("python scripts/read_robot.py", skip="needs the packages mcap and pynmea2"),
]
