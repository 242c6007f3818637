"""Language detection: prose gets its language, code and scraps none."""

import unicodedata

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from ragx.text import detect
from ragx.text.language import STEMMERS, stemmer_name
from ragx.text.stopwords import STOP_WORDS

PROSE = {
    "en": "The index is built beside the old one, so that you can still search while it grows.",
    "de": "Der Index wird neben dem alten gebaut, damit man während der Arbeit weiter suchen kann.",
    "nl": "De index wordt naast de oude gebouwd, zodat je tijdens het werk gewoon kunt blijven zoeken.",
    "fr": "L'index est construit à côté de l'ancien, pour que vous puissiez chercher dans les fichiers.",
    "es": "El índice se construye al lado del antiguo, para que usted pueda buscar en los archivos mientras tanto.",
    "it": "L'indice viene costruito accanto a quello vecchio, così che nel frattempo si può cercare nei documenti.",
    "pt": "O índice é construído ao lado do antigo, para que você possa procurar nos arquivos durante esse tempo.",
    "ca": "L'índex es construeix al costat de l'antic, i així es pot cercar en els fitxers amb aquest o amb aquell.",
    "sv": "Det nya registret byggs bredvid det gamla, så att man kan söka även när det är under arbete.",
    "da": "Det nye register bygges ved siden af det gamle, så at man kan søge efter noget, mens det bliver lavet.",
    "no": "Det nye registeret bygges ved siden av det gamle, så man kan søke etter noe mens det blir laget.",
    "fi": "Uusi hakemisto tehdään vanhan viereen, joten sitä voi käyttää myös silloin kun se on vielä kesken.",
    "pl": "Nowy indeks powstaje obok starego, żeby można było szukać także wtedy, gdy jest on jeszcze budowany.",
    "cs": "Nový index vzniká vedle starého, aby se dalo hledat také ve chvíli, kdy ještě není hotový.",
    "hu": "Az új mutató a régi mellett készül, hogy közben is lehessen keresni, mert ez nem tart sokáig.",
    "ro": "Noul index este construit lângă cel vechi, pentru ca să se poată căuta și în timpul acesta.",
    "tr": "Yeni dizin eskisinin yanında kurulur, çünkü bu sırada bile arama yapmak için eskisi gerekli olabilir.",
    "ru": "Новый указатель строится рядом со старым, чтобы можно было искать, пока он ещё не готов.",
    "uk": "Новий покажчик будується поруч зі старим, щоб можна було шукати, поки він ще не готовий.",
    "bg": "Новият индекс се строи до стария, за да може да се търси и докато той още не е готов.",
    "el": "Το νέο ευρετήριο χτίζεται δίπλα στο παλιό.",
    "ar": "يُبنى الفهرس الجديد بجانب القديم حتى يمكن البحث أثناء العمل.",
    "fa": "نمایهٔ تازه کنار نمایهٔ کهنه ساخته می‌شود تا بتوان جستجو کرد.",
    "ur": "نیا اشاریہ پرانے کے ساتھ بنتا ہے تاکہ تلاش جاری رہے۔",
    "he": "האינדקס החדש נבנה לצד הישן כדי שאפשר יהיה לחפש.",
    "hi": "नई सूची पुरानी के पास बनती है ताकि खोज चलती रहे।",
    "th": "ดัชนีใหม่ถูกสร้างข้างดัชนีเก่า",
    "zh": "新的索引建在旧的旁边，这样仍然可以搜索。",
    "ja": "新しい索引は古いものの隣に作られる。",
    "ko": "새 색인은 옛 색인 옆에 만들어진다.",
}

CODE = """\
import os, sys
from pathlib import Path as P

def load(path, default=None, *, strict=False):
    if not path or path is default:
        return default
    for i, line in enumerate(open(path)):
        with lock as l:
            if line in seen and not strict or i > max_lines: continue
            seen.add(line.strip()); out.append(parse(line, i))
    return out if out else None
"""


@pytest.mark.parametrize("language", PROSE)
def test_a_sentence_gets_its_language(language: str) -> None:
    assert detect(PROSE[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "12 345 67.8 %",
        "index",
        "README",
        CODE,
        "SELECT a.id, b.name FROM a JOIN b ON a.id = b.id WHERE a.x IN (1, 2) AND b.y NOT NULL",
        '{"name": "x", "version": "1.0", "private": true, "scripts": {"build": "tsc", "test": "jest"}}',
        "op op op op op op op op op = den den den den den",
        "0x1AB, 0x1AC, 0xDE, 0xDA, 0xDET, 0xAF",
        "\ud800\x00",
    ],
)
def test_code_and_scraps_have_no_language(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize(
    ("query", "language"), [("how do I reset my password?", "en"), ("Wo ist der Schlüssel?", "de")]
)
def test_a_short_question_is_enough(query: str, language: str) -> None:
    assert detect(query) == language


def test_commented_code_has_the_language_of_its_comments() -> None:
    comment = "# Die Zeilen, die schon einmal da waren, werden nicht noch einmal gelesen, weil das zu lange dauert.\n"
    assert detect(CODE + comment * 3) == "de"


def test_an_english_heading_does_not_hide_german_text() -> None:
    assert detect("# The state of the art in search\n\n" + PROSE["de"] * 3) == "de"


def test_an_english_licence_does_not_hide_german_text() -> None:
    assert detect(PROSE["en"] * 15 + PROSE["de"] * 150) == "de"


def test_latin_names_do_not_hide_a_text_without_spaces() -> None:
    assert detect("DuckDB と Python で検索エンジンを作る。") == "ja"
    assert detect("用 DuckDB 和 Python 建立搜索引擎") == "zh"


def test_a_foreign_name_does_not_turn_arabic_into_persian() -> None:
    assert detect(PROSE["ar"] + " پاریس " + PROSE["ar"] * 2) == "ar"


def test_every_stemmer_exists() -> None:
    names = {name for by_language in STEMMERS.values() for name in by_language.values() if name}
    assert names <= set(Stemmer.algorithms())


def test_every_table_of_stop_words_belongs_to_a_script() -> None:
    assert set(STOP_WORDS) == set(STEMMERS["latin"]) | set(STEMMERS["cyrillic"])
    for words in STOP_WORDS.values():
        assert all(word == unicodedata.normalize("NFC", word.lower()) for word in words)


@pytest.mark.parametrize(
    ("language", "word", "name"),
    [
        ("de", "haus", "german"),
        ("", "files", "english"),
        ("ru", "files", "english"),
        ("zh", "files", "english"),
        ("en", "книги", "russian"),
        ("uk", "книги", ""),
        ("en", "שלום", ""),
        ("el", "βιβλια", "greek"),
    ],
)
def test_a_word_in_a_foreign_script_has_a_stemmer_too(language: str, word: str, name: str) -> None:
    assert stemmer_name(language, word) == name


@given(st.text(st.characters(exclude_categories=()), max_size=5000))
def test_no_text_raises(text: str) -> None:
    assert detect(text) in {"", "bn", "hy", "ka", "ta", *PROSE}
