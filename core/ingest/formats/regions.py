"""Files of boxes, masks and spans: what they contain, and what to export instead."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ...errors import InputError
from ...text import listed, plural, shorten
from .json_text import JsonFile, all_heads

_TAGS = {
    b"box": "boxes", b"bndbox": "boxes", b"polygon": "polygons", b"polyline": "lines", b"points": "points",
    b"mask": "masks",
}  # fmt: skip
_TAG = re.compile(rb"<(box|bndbox|polygon|polyline|points|mask)[\s>]")


def no_regions(title: str, counts: Mapping[str, int], instead: str) -> InputError:
    """Return the refusal of a file that has only regions, with their number.

    Parameters
    ----------
    title : str
        Name of the file or format.
    counts : mapping of str to int
        Number of regions of each kind.
    instead : str
        Annotations of whole cases that the program can export.
    """
    found = listed([f"{n:,} {what}" for what, n in counts.items()])
    return InputError(
        f"Could not read {title}: it contains {found}, but Plurality supports only annotations of whole cases.",
        f"Export {instead} for whole cases, or write a table with one row per case, rater and class.",
    )


def refuse_regions(files: Sequence[JsonFile]) -> None:
    """Raise `InputError` if files of JSON have regions as COCO, LabelMe or VIA write them."""
    for record in all_heads(files):
        if not isinstance(record, dict):
            continue
        annotations, images = record.get("annotations"), record.get("images")
        if isinstance(annotations, list) and isinstance(images, list) and "categories" in record:
            kinds = Counter("boxes or masks" for one in annotations if isinstance(one, dict) and
                            {"bbox", "segmentation", "keypoints"} & one.keys())  # fmt: skip
            if kinds:
                of = f"{shorten(files[0].name, 60)} (COCO, {plural(len(images), 'image')})"
                raise no_regions(of, kinds, "image-level labels")
        shapes = record.get("shapes")
        if isinstance(shapes, list) and "imagePath" in record:
            raise no_regions(f"{shorten(files[0].name, 60)} (LabelMe)", {"shapes": len(shapes)}, "flags")
        if isinstance(record.get("regions"), list | dict) and "filename" in record:
            raise no_regions(f"{shorten(files[0].name, 60)} (VIA)", {"regions": len(record["regions"])}, "attributes")


def refuse_markup(name: str, content: bytes) -> None:
    """Raise `InputError` if XML has regions as CVAT or Pascal VOC write them."""
    counts = Counter(_TAGS[tag] for tag in _TAG.findall(content))
    if counts:
        raise no_regions(f"{name} (XML)", counts, "tags or image-level labels")
