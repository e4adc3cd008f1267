"""Settings come from the environment, and what is wrong in it is said."""

import os
import re
from pathlib import Path

import pytest

from core import settings as settings_module
from core.errors import InputError
from core.settings import Settings, current_settings

ROOT = Path(__file__).resolve().parents[2]


def test_images_are_off_until_a_folder_is_named(monkeypatch):
    monkeypatch.delenv("PLURALITY_IMAGES", raising=False)
    monkeypatch.delenv("PLURALITY_REMOTE_IMAGES", raising=False)
    settings = current_settings()
    assert settings.images is None
    assert settings.remote_images is False


def test_the_folder_of_images_may_begin_at_home(monkeypatch):
    monkeypatch.setenv("PLURALITY_IMAGES", "~/photos")
    assert current_settings().images == Path.home() / "photos"


@pytest.mark.parametrize(("text", "on"), [("1", True), ("Yes", True), ("off", False), ("0", False), ("", False)])
def test_a_switch_is_on_or_off(monkeypatch, text, on):
    monkeypatch.setenv("PLURALITY_REMOTE_IMAGES", text)
    assert current_settings().remote_images is on


def test_a_switch_that_is_neither_is_refused(monkeypatch):
    monkeypatch.setenv("PLURALITY_REMOTE_IMAGES", "perhaps")
    with pytest.raises(InputError, match="PLURALITY_REMOTE_IMAGES is 'perhaps'"):
        current_settings()


def test_whatever_variable_is_changed_the_settings_are_others(monkeypatch):
    """They are kept for an environment: one that was not looked at would be heard at the next start only."""
    names = set(re.findall(r"``(PLURALITY_\w+)``", Settings.__doc__))
    assert len(names) >= 20 and {f"PLURALITY_{name}" for name in settings_module._OWN} == names
    choices = {"PLURALITY_LOG": "json", "PLURALITY_WORKERS": "7", "PLURALITY_METRICS_TOKEN": "secret" * 9}
    choices["PLURALITY_OLD_COOKIE_SECRET"] = "secret" * 9
    for name in names:
        monkeypatch.delenv(name, raising=False)
        before = current_settings()
        monkeypatch.setenv(name, choices.get(name, "1"))
        assert current_settings() != before, name
        assert current_settings() is current_settings()
    if os.name == "posix":  # Windows is asked itself
        monkeypatch.delenv("PLURALITY_HOME")
        before = current_settings()
        for name in ("HOME", "XDG_DATA_HOME"):
            monkeypatch.setenv(name, str(ROOT / "elsewhere"))
        assert current_settings().home != before.home
