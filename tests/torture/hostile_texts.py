"""Texts that somebody will sooner or later have for an id, a name, a tag or an attribute."""

from __future__ import annotations

_CODES = (*range(1, 32), *range(127, 160), 0xAD, 0x61C, 0x180E, *range(0x200B, 0x2010), *range(0x2028, 0x202F))
_CODES += (*range(0x2060, 0x2070), 0xFEFF, 0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0xE000, 0xE0001, 0xE0041, 0x1D173, 0x10FFFF)
_SEQUENCES = ("[2J", "[31mred[0m", "]0;title\x07", "]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "c", "P$q\x1b\\", "[?1049h")
_FORMULAS = (
    *("=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1", "\r=1", "\n=1", " =1", "＝1", '"=1', "-x", "="),
    *('=HYPERLINK("http://x";"y")', "=IMPORTXML(CONCAT(1),2)", "|calc", "%0A=1", "'=1", "−1", "﹢1", "＠SUM", "\xa0=1"),
)
_MARKDOWN = (
    *("|", "a|b", "\\|", "`a`", "``a", "*a*", "**a**", "_a_", "__a__", "~~a~~", "[a](javascript:x)", "![a](http://x)"),
    *(
        "[a]: http://x",
        "<http://x>",
        "http://x.example",
        "# a",
        "- a",
        "+ a",
        "> a",
        "1. a",
        "```",
        "~~~",
        "---",
        "===",
    ),
    *("$x$", "@torvalds", "#1", "&lt;", "&#60;", "a\\", "\\", "    code", "a  ", "[^1]", "- [ ] a", ":tada:", "[[a]]"),
)
_HTML = (
    *("<script>alert(1)</script>", "</summary><img src=x onerror=alert(1)>", "<b>", "</details>", "<!--", "-->", "]]>"),
    *("&", "&amp;", "<svg/onload=alert(1)>", "<a href='javascript:x'>x</a>", "</table>", '"', "'", "' onclick='x", "<"),
    *('"><script>x</script>', "<iframe src=x>", "<?xml?>", "<![CDATA[", "&xxe;", "<style>*{}</style>", "javascript:x"),
    *("<plaintext>", "<math><mi//xlink:href='javascript:x'>", "\x3cimg/src=`x`onerror=x>", "</td></tr>", "</title>"),
)
_SQL = (
    *(
        "'; DROP TABLE runs; --",
        "' OR '1'='1",
        '"; --',
        "%",
        "_",
        "%s",
        "%(x)s",
        ":x",
        "?",
        "$1",
        "{0}",
        "{run}",
        "\\N",
    ),
    *("\\.", "NULL", "null", "{a,b}", "{}", "[]", '","', "''", "/*", "*/", "--", "$$", "E'\\x41'", "\\u0041", "x'00'"),
)
_SHELL = (
    "$(id)",
    "`id`",
    "a;b",
    "a&b",
    "../x",
    "/etc/passwd",
    "~",
    "*",
    "-rf",
    "--help",
    "-",
    "a b",
    "%n%n",
    "${x}",
    "!!",
)
_WORDS = (
    *(
        "007",
        "NA",
        "nan",
        "inf",
        "None",
        "true",
        "1e400",
        "9" * 30,
        "0",
        "-0",
        "1.0",
        " ",
        "  a  ",
        "a,b",
        'a"b',
        "a;b",
    ),
    *("run", "group", "item", "__proto__", "constructor", "x" * 1999, "é" * 1000, "[/nope]", "[bold]", "[link=x]y"),
)
_LETTERS = (
    *(
        "検索",
        "👩‍👩‍👧",
        "🔥",
        "e\u0301",
        "é",
        "Z\u0351\u036b\u0343" * 9,
        "שלום",
        "مرحبا",
        "می‌خواهم",
        "ｆｕｌｌ",
        "\u3000",
        "\xa0",
    ),
    *(
        "ﷺ" * 50,
        "\u202emoc.elpmaxe",
        "a\u200bb",
        "ᅟ",
        "⠀",
        "ﬀ",
        "ı",
        "K",
        "ß",
        "\u1160",
        "\ufff0",
        "𝄞",
        "\U0001f3f3\ufe0f",
    ),
)
_LINES = (
    *(
        "a\nb",
        "a\r\nb",
        "a\rb",
        "a\n\n# b",
        "a\x85b",
        "a\x0bb",
        "\n",
        "a\n| b | c |\n",
        "a\n\n<script>alert(1)</script>",
    ),
    *("a\n::error::b", "::set-output name=a::b", "a\n##vso[task.complete]", "a,\n=1", '"\n"', "a\n---\n"),
)

HOSTILE_TEXTS = tuple(
    dict.fromkeys(
        [
            *(f"q{chr(code)}x" for code in _CODES),
            *(f"{start}{sequence}" for start in ("\x1b", "\x9b") for sequence in _SEQUENCES),
            *_FORMULAS,
            *_MARKDOWN,
            *_HTML,
            *_SQL,
            *_SHELL,
            *_WORDS,
            *_LETTERS,
            *_LINES,
        ]
    )
)
"""All different; none is empty, has a NUL or is invalid Unicode: such ids are refused (see ``REFUSED_TEXTS``)."""

REFUSED_TEXTS = ("", "a\0b", "\0", "a" * 2001, "é" * 1001, "a\ud800b", "\udfff")
