"""Writes files with programs of others into a folder, with a list of what they are, which foreigncheck.py reads: FOLDER, and LibreOffice's
soffice, without which its files are missing."""

import json
import sys

from foreignbooks import office, workbooks
from foreignlist import FOLDER, LISTED
from foreignparquet import parquet
from foreigntexts import lines, separated

if __name__ == "__main__":
    for part in (separated, lines, parquet, workbooks):
        part()
    if len(sys.argv) > 2:
        office(sys.argv[2])
    (FOLDER / "list.json").write_text(json.dumps(LISTED))
