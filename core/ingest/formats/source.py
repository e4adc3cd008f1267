"""What opening files gives: the format that was recognised, and the questions that were asked in it."""

from dataclasses import dataclass, field

from ...annotations.dataset import Kind
from ..column_mapping import Mapping
from ..companion_files import SideFiles
from .raw_table import RawTable


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that raters were asked, as a table of text and what its columns mean.

    Attributes
    ----------
    name : str
    raw : RawTable
    mapping : Mapping
        Complete where the format says what is what; for plain tables the likeliest guess, which may lack a column.
    kind : {"class", "ranking", "score"} or None
        What an annotation is; None leaves it to the annotations.
    classes : tuple of str or None
        The closed list in its order, where the file declares one.
    ordinal : bool
        Whether the order of the classes means something.
    raters_identified : bool
        False where a rater's name or place says nothing about who annotated.
    gold : dict or None
        Gold class by case id, where annotations are marked as the truth.
    notes : tuple of str
        What the reader found out and the user should know.
    """

    name: str
    raw: RawTable
    mapping: Mapping
    kind: Kind | None = None
    classes: tuple[str, ...] | None = None
    ordinal: bool = False
    raters_identified: bool = True
    gold: dict[str, str] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One or several files as understood.

    Attributes
    ----------
    format : str
        Short name, as `--format` takes it.
    title : str
        Name for the screen.
    why : str
        What the format was recognised by.
    questions : tuple of Question
        At least one; several where the user has to choose.
    side : SideFiles
        What the files say beside the annotations: texts of cases, risk of classes, gold.
    notes : tuple of str
        Files that were skipped, and the like.
    """

    format: str
    title: str
    why: str
    questions: tuple[Question, ...]
    side: SideFiles = field(default_factory=SideFiles)
    notes: tuple[str, ...] = ()
