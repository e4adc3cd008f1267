"""What raters were shown stands with the case: letter for letter, without their annotations, and nothing where there is
nothing."""

import io
import re
from itertools import count, product

import pytest
from PIL import Image

from core import library
from core.ingest.case_facts import CaseFacts
from core.ingest.read_files import read
from pages.shared.cache import datasets as cached
from pages.shared.cases.worklist import MOST, fitting
from pages.shared.kit import widgets
from tests.pages.opened import at, done, kept, opened, settle, words
from tests.pages.test_upload import dropped, use

pytestmark = pytest.mark.usefixtures("known")

_number = count()


def answers() -> bytes:
    """Annotations to cases 1 and 2 of a dataset that no other test opens."""
    prefix = b"%d-" % next(_number)
    rows = (b"%d,%sr%d,%s\n" % (case, prefix, rater, (b"x", b"y")[rater % 2]) for case in (1, 2) for rater in (1, 2, 3))
    return b"case,rater,class\n" + b"".join(rows)


def picture(kind: str = "PNG", size: tuple[int, int] = (20, 10)) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, "teal").save(content, kind)
    return content.getvalue()


def bodies(app) -> list[str]:
    return [entry.proto.body for entry in app.get("html")]


def images(app) -> list:
    return [image for entry in app.get("image") for image in entry.proto.imgs]


def cases_of(facts: CaseFacts):
    return opened("cases", kept_with(facts))


def kept_with(facts: CaseFacts) -> str:
    address = kept(answers().decode())
    library.keep(library.reopen(address), facts)
    return address


def test_a_text_is_shown_letter_for_letter():
    app = cases_of(CaseFacts({"1": "**a** <b>b</b> :red[c]\n\n$d$", "2": "**a** <b>b</b> :red[c]\n\n$d$"}))
    (body,) = [body for body in bodies(app) if "Text of the case" in body]
    assert "**a** &lt;b&gt;b&lt;/b&gt; :red[c]\n\n$d$" in body


def test_nothing_is_shown_where_nothing_is_known():
    app = opened("cases", kept(answers().decode()))
    assert not images(app)
    assert not any("Text of the case" in body for body in bodies(app))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_images_that_came_with_the_data_are_shown(kind):
    content = {"a": picture(kind), "b": picture(kind, (3000, 20))}
    app = cases_of(CaseFacts(images={"1": content, "2": content}))
    assert len(images(app)) == 2


def test_a_broken_or_missing_image_is_said_in_one_line():
    facts = CaseFacts(
        address={"1": ("a/lost_one.png",)}, images={"1": {"b.png": picture()[:40]}, "2": {"b.png": b"\x89PNG"}}
    )
    app = opened("cases", kept_with(facts))
    app.session_state["case"] = "1"
    said = words(app.run())
    assert "a/lost_one.png: no image folder is set (PLURALITY_IMAGES)." in said
    assert "b.png: the image is broken." in said


def test_a_remote_image_is_only_its_address_unless_allowed(monkeypatch):
    facts = CaseFacts(address=dict.fromkeys(("1", "2"), ("https://host.example/x.png",)))
    app = cases_of(facts)
    assert not images(app)
    assert "images from other computers are not loaded (PLURALITY_REMOTE_IMAGES is off)" in words(app)
    monkeypatch.setenv("PLURALITY_REMOTE_IMAGES", "1")
    assert [image.url for image in images(app.run())] == ["https://host.example/x.png"]


def test_the_folder_of_the_settings_is_looked_into(monkeypatch, tmp_path):
    (tmp_path / "1.png").write_bytes(picture())
    (tmp_path / "2.jpg").write_bytes(picture("JPEG"))
    monkeypatch.setenv("PLURALITY_IMAGES", str(tmp_path))
    assert len(images(opened("cases", kept(answers().decode())))) == 1


def test_texts_and_images_of_a_drop_reach_the_case_and_stay_when_kept():
    table = b"case,text,image,site\n1,one lesion,a.png,north\n2,another lesion,b.png,south\n"
    app = dropped(("answers.csv", answers()), ("cases.csv", table), ("a.png", picture()), ("b.png", picture()))
    use(app)
    address = app.session_state["data"]
    cached.keep(cached.registry().get(address))
    facts = library.facts_of(address)
    assert facts.text == {"1": "one lesion", "2": "another lesion"}
    assert {case: list(files) for case, files in facts.images.items()} == {"1": ["a.png"], "2": ["b.png"]}
    done(app.switch_page("pages/cases.py").run())
    assert any("lesion</div>" in body for body in bodies(app))
    assert len(images(app)) == 1
    assert library.reopen(address).case_group == ("north", "south")


def test_the_worklist_holds_the_uncertain_cases_alone_where_they_are_asked_for():
    """As many as the title says; next goes along them."""
    app = opened("cases", "anaesthesia")
    n, of = app.title[0].value.split(" are ")[0].split(" of ")
    app.session_state["worklist_kind"] = "Uncertain"
    app = settle(app.run())
    listed = next(entry.value for entry in app.dataframe if "certainty" in entry.value)
    assert len(listed) == int(n) < int(of.split()[0]) and (listed["certainty"] < 0.9).all()
    assert f"{n} of {n} cases, least certain first" in words(app)


def test_a_range_of_certainty_lists_its_cases_only_and_an_empty_one_says_so():
    app = opened("cases", "anaesthesia")

    def listed() -> list[float]:
        return next(entry.value for entry in app.dataframe if "certainty" in entry.value)["certainty"].tolist()

    everything = listed()
    low, high = sorted(everything)[3], 0.8
    range_of = app.slider(key="certainty_between")
    app = settle(range_of.set_value((round(low, 2) - 0.05, high)).run())
    within = listed()
    assert 0 < len(within) < len(everything) and max(within) <= high
    assert len(within) == sum(round(low, 2) - 0.05 <= one <= high for one in everything)
    app = settle(app.slider(key="certainty_between").set_value((0.0, 0.05)).run())
    assert listed() == everything and "No case has a certainty in this range. All cases are shown." in words(app)


def test_a_near_tie_is_no_firm_class_in_the_worklist():
    """Two against two is "x or y"; four different ones are "x or others"; four of one class are that class."""
    rows = [f"even,{rater},{answer}" for rater, answer in zip("abcd", "xxyy", strict=True)]
    rows += [f"split,{rater},{answer}" for rater, answer in zip("abcd", "xyzw", strict=True)]
    rows += [f"clear,{rater},x" for rater in "abcd"]
    app = opened("cases", kept("\n".join(["case,rater,class", *rows])))
    said = app.dataframe[0].value.set_index("case")["most plausible"]
    assert said["even"] in ("x or y", "y or x") and said["clear"] == "x"
    assert re.fullmatch("[wxyz] or others", said["split"])


@pytest.mark.parametrize("longest", [1, 4, 40])
def test_the_columns_of_the_worklist_fit_beside_a_case_at_1280_pixels(longest):
    always = {"case", "certainty", "most plausible"}
    for reviewed, ordered, correct, more in product((False, True), repeat=4):
        extra = {"review": reviewed, "expected": ordered, "P(correct)": correct, "more raters": more}
        names = always | {name for name, there in extra.items() if there}
        config, first = fitting(longest, names)
        assert sum(config[name]["width"] for name in first) <= MOST
        assert min(config[name]["width"] for name in first) >= 48
        assert {"case", "certainty", *["review"] * reviewed, *["expected"] * ordered} <= set(first) <= names
        assert "most plausible" in first or ordered


def test_names_in_the_worklist_wrap_also_in_the_larger_letters_of_a_presentation():
    """A grid breaks lines in rows above 4 rem only; a presentation has 24 pixels per rem at 1,920 pixels."""
    for presenting, least in ({}, 64), ({"presenting": "1"}, 96):
        app = settle(at("cases", "skin", **presenting).run())
        assert app.dataframe[0].proto.row_height > least


def test_ties_are_explained_once_and_a_class_has_its_colour_in_every_place(monkeypatch):
    dataset = read(b"case,rater,class,rank\n1,a,x,1\n1,a,y,1\n1,a,z,2\n1,b,y,1\n1,b,z,1\n1,c,z,1\n").dataset
    drawn = []
    monkeypatch.setattr("streamlit.html", drawn.append)
    widgets.chips(dataset, range(3), {2: "#123456"}, hide_names=False)
    assert drawn[0].count("dashed: tied") == 1
    assert drawn[0].count('class="block first" style="--chip:#123456"><span>z') == 2, "first, and second after a tie"


def test_corners_that_nobody_chose_follow_the_trust_and_those_chosen_stay():
    """On the dermatology cases another class comes third at γ = 1 than at 0.3; the triangle shows all three."""
    app = opened("cases", "dermatology")

    def corners(trust: float):
        settle(app.slider(key="reliability").set_value(trust).run())
        return next(box for box in app.multiselect if box.label == "Corners of the triangle")

    first = corners(0.3)
    key, before = first.key, list(first.value)
    then = corners(1.0)
    assert then.key == key
    assert set(then.value) != set(before)
    means = next(table.value for table in app.dataframe if "median" in table.value)["class"].tolist()
    assert [then.options[0], *means[:3]] == [means[0], *then.options[:3]]
    own = [*then.value[:2], next(code for code in before if code not in then.value)]
    settle(then.set_value(own).run())
    assert corners(3.0).value == own
    assert corners(0.3).value == own
