"""Result of opening files: the recognised format, and the questions in it."""

from dataclasses import dataclass, field

from ...annotations.dataset import Kind
from ..column_mapping import Mapping
from ..companion_files import SideFiles
from .raw_table import RawTable


@dataclass(frozen=True, slots=True)
class Question:
    """Question that raters answered, as a table of text and the roles of its columns.

    Attributes
    ----------
    name : str
    raw : RawTable
    mapping : Mapping
        Complete if the format defines it; for plain tables the most probable guess, which may lack a column.
    kind : {"class", "ranking", "score"} or None
        Kind of an annotation; None leaves it to the annotations.
    classes : tuple of str or None
        Closed list in its order, if the file declares one.
    ordinal : bool
        True if the order of the classes has a meaning.
    raters_identified : bool
        False if a rater's name or position does not identify who annotated.
    gold : dict or None
        Gold class by case id, if annotations are marked as the truth.
    notes : tuple of str
        Findings of the reader that the user should know.
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
    """One or several files as interpreted.

    Attributes
    ----------
    format : str
        Short name, as `--format` takes it.
    title : str
        Name for the screen.
    why : str
        Reason why the format was recognised.
    questions : tuple of Question
        At least one question; if several, the user has to choose.
    side : SideFiles
        Side files: texts of cases, risk of classes, gold.
    notes : tuple of str
        Notes, such as on skipped files.
    before : Question or None
        File as the plain table that earlier versions took it for, if they did not know its format.
    parts : tuple of Question
        Questions if the files are parts of one table, which they may be; empty if that is clear.
    """

    format: str
    title: str
    why: str
    questions: tuple[Question, ...]
    side: SideFiles = field(default_factory=SideFiles)
    notes: tuple[str, ...] = ()
    before: Question | None = None
    parts: tuple[Question, ...] = ()
