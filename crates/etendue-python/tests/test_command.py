"""The command line that the package installs."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import etendue as et

SCRIPT = pathlib.Path(sys.executable).with_name("etendue")


def test_the_package_installs_the_command():
    assert SCRIPT.is_file()
    text = subprocess.check_output([SCRIPT, "--help"], text=True)
    assert "Usage: etendue" in text and "simulate" in text
    version = subprocess.check_output([SCRIPT, "--version"], text=True)
    assert version.split() == ["etendue", et.__version__]
    assert subprocess.check_output([sys.executable, "-m", "etendue", "--version"], text=True) == version


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["materials"], 0),
        (["inspect", "no-such-file.csv"], 1),
        (["inspect", "no-such-name"], 2),
        (["simulate", "--colour", "red"], 2),
        (["--version"], 0),
    ],
)
def test_exit_codes_and_texts_are_those_of_the_program(command, words, code):
    own, program = (subprocess.run([path, *words], capture_output=True, text=True) for path in (SCRIPT, command))
    assert own.returncode == program.returncode == code
    assert own.stdout == program.stdout and own.stderr == program.stderr
    assert own.stdout or own.stderr


def test_files_are_those_of_the_program(command, tmp_path):
    for path, name in [(SCRIPT, "own.npz"), (command, "program.npz")]:
        subprocess.run([path, "simulate", "arena", "--seed", "3", "-o", tmp_path / name], check=True, capture_output=True)
    assert (tmp_path / "own.npz").read_bytes() == (tmp_path / "program.npz").read_bytes()


def test_ctrl_c_ends_the_command_without_files(tmp_path):
    words = [SCRIPT, "simulate", "arena", "--paths", "4096", "--sweeps", "100", "-o", tmp_path / "out.npz"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert os.listdir(tmp_path) == []
