"""`textcritic demo`: what it says before it runs, and that it runs alone. The whole of it is `make demo`."""

from pathlib import Path

import pytest

from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder
from textcritic.workflow import alone
from textcritic.workflow.calibrate import rounds_a_second, speed_of_a_core
from textcritic.workflow.demo import DEMOS, STUDIES, Cost, demo, time_it_takes


def test_the_time_falls_with_cores_down_to_the_longest_chain_and_with_their_speed():
    cost = Cost(1000.0, 300.0)
    assert [cost.seconds(cores, 1.0) for cores in (1, 2, 64)] == [1000.0, 500.0, 300.0]
    assert cost.seconds(2, 0.25) == 4 * cost.seconds(2, 1.0)


def test_the_speed_is_measured_by_a_process_for_each_core(monkeypatch):
    assert rounds_a_second(0.02) > 0
    monkeypatch.setattr("textcritic.workflow.calibrate.REFERENCE", 1e-9)
    assert speed_of_a_core(2, 0.02) > 1e6


def test_it_says_how_long_it_will_take(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("textcritic.workflow.demo.speed_of_a_core", lambda cores: asked.append(cores) or 0.5)
    monkeypatch.setattr("textcritic.workflow.demo.DEMOS", {"own": Cost(600.0, 100.0)})
    how = f"by a calibration of one second); results go to {tmp_path}/results"
    assert time_it_takes(tmp_path, "own", 1) == f"about 20 min (CPU cores: 1; {how}"
    assert time_it_takes(tmp_path, "own", 3) == f"about 7 min (CPU cores: 3; {how}"
    (tmp_path / "results").mkdir()
    assert time_it_takes(tmp_path, "own", 100) == f"at most about 3 min (CPU cores: 100; {how}"
    assert asked == [1, 3, 100]
    study = STUDIES / "own"
    (tmp_path / study).mkdir(parents=True)
    (tmp_path / study / "report.html").touch()
    assert time_it_takes(tmp_path, "own") == f"{study} is there already: a few seconds if nothing has changed"
    assert asked == [1, 3, 100]


def test_two_demos_in_one_folder_do_not_meet(tmp_path):
    with alone(tmp_path), pytest.raises(TextcriticError, match="another run is at work here; wait for it"):
        demo(tmp_path)
    assert [path.name for path in Path(tmp_path).iterdir()] == [".textcritic.lock"]


def test_an_unknown_demo_is_refused_and_the_known_ones_come_with_the_workflow(tmp_path):
    with pytest.raises(TextcriticError, match="no demo study 'coreference'; did you mean 'coreference-demo'"):
        demo(tmp_path, study="coreference")
    assert all((workflow_folder() / f"config/studies/{study}.yaml").is_file() for study in DEMOS)
    assert list(tmp_path.iterdir()) == []
