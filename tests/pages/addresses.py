"""The pages of the dashboard, in the order of its menu, as they are called in addresses."""

UNRECORDED = ("pictures",)  # samples whose screens are not recorded, so that the records stay small

PAGES = (
    "home",
    "upload",
    "agreement",
    "models",
    "raters",
    "ai_rater",
    "cases",
    "review",
    "reliability",
    "reader_study",
    "labels",
    "report",
    "settings",
)
