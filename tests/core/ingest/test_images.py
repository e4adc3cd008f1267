"""Pictures come from the folder of the settings, from the data, or from nowhere else."""

import base64
import os

import pytest

from core.ingest.case_facts import CaseFacts
from core.ingest.images import MOST_PER_CASE, path_parts, pictures_of
from core.settings import Settings

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "images"
    (root / "skin").mkdir(parents=True)
    (root / "skin" / "a.png").write_bytes(PNG)
    (root / "b.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (root / "secret.png").write_text("no picture")
    (tmp_path / "outside.png").write_bytes(PNG)
    return root


def found(folder, address, **options):
    settings = Settings(folder.parent, images=folder, **options)
    return pictures_of(CaseFacts(address={"1": (address,)}), "1", settings)


@pytest.mark.parametrize(
    "address",
    [
        "skin/a.png",
        "a/long/way/skin/a.png",
        "/absolute/skin/a.png",
        "C:\\photos\\skin\\a.png",
        "s3://bucket/skin/a.png",
        "https://host/skin/a.png?x=1",
        "/data/local-files/?d=skin%2Fa.png",
    ],
)
def test_the_file_whose_path_ends_as_the_address_is_the_picture(folder, address):
    (picture,) = found(folder, address)
    assert picture.source == (folder / "skin" / "a.png").resolve()
    assert picture.reason == ""


@pytest.mark.parametrize(
    "address",
    [
        "../outside.png",
        "skin/../../outside.png",
        "/etc/passwd",
        "%2e%2e/outside.png",
        "s3://x/%2e%2e/outside.png",
        "..\\outside.png",
        "secret.png",
        "skin",
        "a\0.png",
        "x" * 5000 + ".png",
        ".",
    ],
)
def test_nothing_outside_the_folder_and_no_other_file_is_opened(folder, address):
    (picture,) = found(folder, address)
    assert picture.source is None
    assert picture.reason == "the image is not in the image folder"


def test_an_absolute_path_outside_is_not_opened(folder):
    assert found(folder, str(folder.parent / "outside.png"))[0].source is None


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "1").symlink_to(folder.parent)
    assert found(folder, "link.png")[0].source is None
    assert found(folder, "circle.png")[0].source is None
    assert pictures_of(None, "1", Settings(folder, images=folder)) == []


def test_remote_addresses_are_loaded_only_where_the_settings_allow(folder):
    (picture,) = found(folder, "https://host/x.png")
    assert picture.source is None and "not loaded" in picture.reason
    (picture,) = found(folder, "https://host/x.png", remote_images=True)
    assert picture.source == "https://host/x.png"
    for address in ("javascript:alert(1)", "ftp://host/x.png", "file:///etc/x.png"):
        assert found(folder, address, remote_images=True)[0].source is None


def test_without_a_folder_the_reason_says_so(tmp_path):
    (picture,) = pictures_of(CaseFacts(address={"1": ("a.png",)}), "1", Settings(tmp_path))
    assert picture.source is None and "PLURALITY_IMAGES" in picture.reason


def test_files_named_after_the_case_need_no_address(folder):
    settings = Settings(folder, images=folder)
    assert [picture.source.name for picture in pictures_of(None, "b", settings)] == ["b.jpg"]
    assert [picture.source.name for picture in pictures_of(None, "skin", settings)] == ["a.png"]
    for case in ("../outside", "..", "skin/a", "none", "", "a\0"):
        assert pictures_of(None, case, settings) == []


def test_pictures_beside_the_data_come_first(folder):
    facts = CaseFacts(address={"1": ("skin/a.png", "b.jpg")}, images={"1": {"skin/a.png": PNG + b"own", "more": PNG}})
    pictures = pictures_of(facts, "1", Settings(folder, images=folder))
    assert [picture.source for picture in pictures] == [PNG + b"own", (folder / "b.jpg").resolve(), PNG]


def test_an_embedded_picture_is_decoded_or_said_to_be_broken(tmp_path):
    whole = "data:image/png;base64," + base64.b64encode(PNG).decode()
    for address, source in ((whole, PNG), ("data:image/png;base64,###", None), (whole[:30] + "====", None)):
        (picture,) = pictures_of(CaseFacts(address={"1": (address,)}), "1", Settings(tmp_path))
        assert picture.source == source
        assert bool(picture.reason) == (source is None)


def test_files_that_a_browser_does_not_show_are_named(tmp_path):
    (picture,) = pictures_of(CaseFacts(address={"1": ("scan.dcm",)}), "1", Settings(tmp_path))
    assert "only PNG" in picture.reason


def test_a_case_has_a_bounded_number_of_pictures(tmp_path):
    facts = CaseFacts(address={"1": tuple(f"{n}.png" for n in range(50))})
    assert len(pictures_of(facts, "1", Settings(tmp_path))) == MOST_PER_CASE


def test_a_path_that_leads_upward_has_no_parts():
    assert path_parts("a/../b.png") == ()
    assert path_parts("./a//b.png") == ("a", "b.png")
    assert path_parts("http://[broken/b.png") == ()
