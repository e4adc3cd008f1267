"""Groups of raters and cases, and classes per case, by hand."""

from core import load_sample, read
from core.annotations.counts import classes_per_case, n_groups

APART = read(b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n3,c,z\n3,d,z\n").dataset


def test_raters_without_a_case_in_common_are_groups_of_their_own():
    assert n_groups(APART) == 2
    assert n_groups(APART.select(raters=["a", "b"])) == 1
    assert n_groups(load_sample("caries")) == 1


def test_classes_of_a_case_are_counted_once():
    assert classes_per_case(APART).tolist() == [2, 1, 1]
    skin = load_sample("skin")
    named = [len({c for a in skin.annotations_of(case) for b in skin.blocks_of(a) for c in b}) for case in range(20)]
    assert classes_per_case(skin)[:20].tolist() == named
    assert classes_per_case(read(b"case,rater,score\n1,a,1.5\n1,b,2.5\n").dataset).tolist() == [0]
