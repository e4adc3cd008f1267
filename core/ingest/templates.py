"""Small tables to start from: one for each way in which annotations, and what goes with them, can be laid out."""

from dataclasses import dataclass

_LONG = """case,rater,class
case 1,Ann,benign
case 1,Bob,malignant
case 1,Cem,benign
case 2,Ann,malignant
case 2,Bob,malignant
case 2,Cem,malignant
"""


@dataclass(frozen=True, slots=True)
class Template:
    """A table to fill in.

    Attributes
    ----------
    name : str
        Name of the file, without its ending.
    title : str
    text : str
        Comma-separated.
    beside : bool
        True for a side file, which goes with annotations and contains none.
    """

    name: str
    title: str
    text: str
    beside: bool = False


TEMPLATES = (
    Template("one_row_per_annotation", "One row per annotation", _LONG),
    Template(
        "several_questions",
        "Several questions",
        "case,rater,finding,density\ncase 1,Ann,mass,b\ncase 1,Bob,none,b\ncase 2,Ann,none,c\ncase 2,Bob,none,d\n"
        "case 3,Ann,mass,a\ncase 3,Bob,mass,b\n",
    ),
    Template(
        "a_column_per_rater",
        "One column per rater",
        "case,Ann,Bob,Cem\ncase 1,benign,malignant,benign\ncase 2,malignant,malignant,\ncase 3,benign,benign,benign\n",
    ),
    Template(
        "a_row_per_rater",
        "One row per rater",
        "rater,case 1,case 2,case 3\nAnn,benign,malignant,benign\nBob,malignant,malignant,benign\n",
    ),
    Template(
        "counts_per_case",
        "Counts per case",
        "case,benign,malignant,total\ncase 1,7,1,8\ncase 2,0,8,8\ncase 3,3,5,8\n",
    ),
    Template("two_raters", "Two raters, cross table", "class,benign,malignant\nbenign,40,6\nmalignant,3,21\n"),
    Template(
        "patterns",
        "Annotation patterns with counts",
        "Ann,Bob,count\nbenign,benign,40\nbenign,malignant,6\nmalignant,benign,3\nmalignant,malignant,21\n",
    ),
    Template(
        "a_column_per_label",
        "One column per label",
        "case,rater,edema,effusion,fracture\ncase 1,Ann,1,0,0\ncase 1,Bob,1,1,0\ncase 2,Ann,0,0,1\ncase 2,Bob,0,0,1\n",
    ),
    Template(
        "comparisons",
        "Paired comparisons",
        "first item,second item,preferred,rater\nmodel A,model B,model A,Ann\nmodel C,model A,tie,Ann\n"
        "model B,model C,model C,Bob\nmodel A,model B,model A,Bob\n",
    ),
    Template(
        "rankings",
        "Rankings (differential diagnoses)",
        "case,rater,rank,class\ncase 1,Ann,1,nevus\ncase 1,Ann,2,melanoma\ncase 1,Bob,1,melanoma\ncase 2,Ann,1,wart\n"
        "case 2,Bob,1,wart\ncase 2,Bob,2,nevus\n",
    ),
    Template("scores", "Scores", "case,rater,score\ncase 1,Ann,3.5\ncase 1,Bob,4\ncase 2,Ann,1.25\ncase 2,Bob,2\n"),
    Template("gold", "Gold", "case,gold\ncase 1,benign\ncase 2,malignant\n", beside=True),
    Template(
        "classes",
        "Class table",
        "class,display,order,risk\nbenign,Benign,1,low\nmalignant,Malignant,2,high\n",
        beside=True,
    ),
    Template(
        "cases", "Case table", "case,text,group\ncase 1,First text,site A\ncase 2,Second text,site B\n", beside=True
    ),
    Template(
        "predictions",
        "Predictions of a classifier",
        "case,class,score\ncase 1,benign,0.8\ncase 1,malignant,0.2\ncase 2,benign,0.1\ncase 2,malignant,0.9\n",
        beside=True,
    ),
)
