"""The table that programs of others write, and the list of the files."""

import datetime as dt
import sys
from pathlib import Path

import duckdb
import fastparquet
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import xlsxwriter

# Of each language: its locale, the number of its old encoding in LibreOffice, the name of the encoding in Python, texts, and how a day,
# a number and a truth value are written.
LANGUAGES = {
    "en": (
        "en-US",
        1,
        "cp1252",
        [
            "I was charged twice – “please” refund me",
            "Where is my parcel?",
            "The café’s kettle leaks, and it’s new",
            "It’s new, isn’t it?",
            "Thank you for the quick answer!",
            "It cost £25 and not €30",
        ],
        "%m/%d/%Y",
        lambda n: f"{n:,.2f}",
        "TRUE",
    ),
    "de": (
        "de-DE",
        1,
        "cp1252",
        [
            "Ich wurde doppelt belastet – „bitte“ zurückzahlen",
            "Wo ist mein Paket?",
            "Die Größe ist falsch; ich möchte tauschen",
            "Der Schlüssel schließt nicht",
            "Danke für die schnelle Antwort!",
            "Das kostet 25 € und nicht 30 €",
        ],
        "%d.%m.%Y",
        lambda n: f"{n:,.2f}".translate(str.maketrans(",.", ".,")),
        "WAHR",
    ),
    "fr": (
        "fr-FR",
        1,
        "cp1252",
        [
            "J’ai été débité deux fois, remboursez-moi s’il vous plaît",
            "Où est mon colis ?",
            "La cafetière est arrivée cassée",
            "Le nœud du problème : la livraison",
            "Merci pour la réponse rapide !",
            "Ça coûte 25 € et non 30 €",
        ],
        "%d/%m/%Y",
        lambda n: f"{n:.2f}".replace(".", ","),
        "VRAI",
    ),
    "ru": (
        "ru-RU",
        34,
        "cp1251",
        [
            "С меня дважды списали деньги, верните их",
            "Где моя посылка?",
            "Чайник протекает, а он новый",
            "Ключ не подходит к замку",
            "Спасибо за быстрый ответ!",
            "Это стоит 25 рублей, а не 30",
        ],
        "%d.%m.%Y",
        lambda n: f"{n:.2f}".replace(".", ","),
        "ИСТИНА",
    ),
    "ja": (
        "ja-JP",
        64,
        "shift_jis",
        [
            "注文が二重に請求されました。返金してください",
            "荷物はどこですか",
            "新しいやかんから水が漏れます",
            "鍵が合いません",
            "迅速なご回答ありがとうございます",
            "代金は二千五百円です",
        ],
        "%Y/%m/%d",
        lambda n: f"{n:.2f}",
        "TRUE",
    ),
}
TEXTS = [text for language in LANGUAGES.values() for text in language[3]] + [
    'two\nlines, "quoted"; and a\ttab',
    "العربية: أين طلبي؟",
    "我的订单在哪里？🙂",
    "00123",
    "12345678901234567",
    "1e5",
    " spaces ",
    "TRUE",
    "=a|b",
]
ROWS = len(TEXTS)
DAY = dt.datetime(2026, 2, 28)
NUMBERS = [(0.1 + 0.2) * i - 3 if i % 4 else i * 1000 for i in range(ROWS)]
FRAME = pd.DataFrame(
    {
        "id": range(1, ROWS + 1),
        "text": TEXTS,
        "number": [float(n) for n in NUMBERS],
        "day": [(DAY + dt.timedelta(days=i)).date() for i in range(ROWS)],
        "moment": [DAY + dt.timedelta(hours=i, minutes=i, seconds=i) for i in range(ROWS)],
        "flag": [i % 3 == 0 for i in range(ROWS)],
        "maybe": [None if i % 5 == 0 else f"m{i}" for i in range(ROWS)],
    }
)
PLAIN = FRAME.assign(day=FRAME["day"].astype(str), moment=FRAME["moment"].astype(str))

VERSIONS = {
    "Python csv": sys.version.split()[0],
    "pandas": pd.__version__,
    "polars": pl.__version__,
    "DuckDB": duckdb.__version__,
    "pyarrow": pa.__version__,
    "fastparquet": fastparquet.__version__,
    "openpyxl": openpyxl.__version__,
    "xlsxwriter": xlsxwriter.__version__,
}
# Encodings that Prism takes for another one, and says that it guesses, with the names by which it reads them.
WRONG = {"iso8859-15": "iso-8859-15", "cp1254": "windows-1254", "cp1256": "windows-1256"}
LISTED: list[dict] = []
FOLDER = Path(sys.argv[1]).resolve()  # of the files


def listed(name: str, program: str, *readers: str, refused: str = "", **more: object) -> Path:
    """List a file with its program, and its readers or why Prism refuses it; more says what a reader has to know."""
    form = {"ndjson": "jsonl", "json": "jsonl", "xlsm": "xlsx", "tab": "tsv"}
    end = next(part for part in reversed(name.split(".")) if part not in ("gz", "zst", "zip"))
    LISTED.append(
        {
            "name": name,
            "format": form.get(end, end),
            "program": f"{program} {VERSIONS.get(program, '')}".strip(),
            "readers": readers,
            "refused": refused,
            **more,
        }
    )
    return FOLDER / name
