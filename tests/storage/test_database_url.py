"""What --db may say, and that no secret is ever shown."""

import pytest

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.database_url import masked, parsed_location
from ndcg_tracker.storage.store import Store

SECRET = "hunter2xyz"
URLS_WITH_SECRETS = [
    f"postgresql://me:{SECRET}@{place}"
    for place in ("nowhere.invalid/shop", "127.0.0.1:1/shop", "127.0.0.1:port/shop", "[::1/shop", "/shop?host=/nowhere")
] + [
    f"postgres://me:{SECRET}@nowhere.invalid",
    f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/shop?connect_timeout=1",
    f"postgresql+psycopg2://me:{SECRET}@127.0.0.1:1/shop",
    f"mysql://me:{SECRET}@127.0.0.1/shop",
    f"{SECRET}://me:{SECRET}@127.0.0.1/shop".replace(f"{SECRET}:", "odbc:", 1),
    f"postgresql://127.0.0.1:1/shop?password={SECRET}",
    f"postgresql://127.0.0.1:1/shop?user=me&password={SECRET}&sslmode=disable",
    f"postgresql://127.0.0.1:1/shop?PASSWORD={SECRET}",
    f"postgresql://127.0.0.1:1/shop?pass%77ord={SECRET}",
    f"postgresql://127.0.0.1:1/shop?sslpassword={SECRET}",
    f"postgresql://127.0.0.1:1/shop?sslpassword={SECRET}&nonsense=1",
    f"postgresql://127.0.0.1:1/shop?user=a@b&password={SECRET}",
    f"postgresql://127.0.0.1:1/shop?password=x@{SECRET}",
    f"postgresql://127.0.0.1:1/shop?password={SECRET}@x",
    f"postgresql://me:{SECRET}@127.0.0.1:1/shop?password={SECRET}",
    f"postgresql://me:p@{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p/{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p?{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p:{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p#{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p%{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:p%40{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:{SECRET}@host one/shop",
    f"postgresql://me:{SECRET}@127.0.0.1:99999/shop",
    f"postgresql://:{SECRET}@127.0.0.1:1/shop",
    f"sqlite://me:{SECRET}@/nowhere/x.db?password={SECRET}",
    f"postgresql://127.0.0.1:1/shop?options=-c%20app.secret%3D{SECRET}",
    f"postgresql://127.0.0.1:1/shop?options=-c%20my.password={SECRET}",
    f"postgresql:me:{SECRET}@127.0.0.1/shop",
    f"postgresql:/me:{SECRET}@127.0.0.1/shop",
    f"me:{SECRET}@127.0.0.1/shop",
    f"host=127.0.0.1 port=1 user=me password={SECRET}",
    f"password = {SECRET} host=127.0.0.1",
]


@pytest.mark.parametrize("url", URLS_WITH_SECRETS)
def test_no_error_shows_a_secret(url: str) -> None:
    with pytest.raises((InputError, DatabaseError)) as caught:
        Store.open(url)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@db/shop", "postgresql+psycopg://me@db/shop"),
        ("postgres://me:pw@db:5432/shop", "postgresql+psycopg://me:***@db:5432/shop"),
        ("postgresql+psycopg:///shop?host=/run/pg", "postgresql+psycopg:///shop?host=/run/pg"),
        ("postgresql://db/shop?sslkey=k.pem&passfile=p", "postgresql+psycopg://db/shop?sslkey=k.pem&passfile=p"),
        ("shop.db", "shop.db"),
        ("./me:pw@db", "./me:pw@db"),
        ("/data/password=x.db", "/data/password=x.db"),
        ("C:\\data\\shop.db", "C:\\data\\shop.db"),
        ("runs@v1.db", "runs@v1.db"),
        (
            "postgresql://db/shop?options=-c%20statement_timeout%3D5",
            "postgresql+psycopg://db/shop?options=-c%20statement_timeout%3D5",
        ),
        ("sqlite:///data/shop.db", "data/shop.db"),
        ("sqlite:////data/shop.db", "/data/shop.db"),
    ],
)
def test_a_location_is_shown_as_it_was_given(url: str, shown: str) -> None:
    assert parsed_location(url).display_url == shown


def test_postgres_urls_get_the_installed_driver() -> None:
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        location = parsed_location(f"{scheme}://me:p%40ss@db/shop")
        assert location.dialect == "postgresql"
        assert location.url is not None
        assert (location.url.drivername, location.url.password) == ("postgresql+psycopg", "p@ss")


def test_nothing_is_prepared() -> None:
    with pytest.raises(InputError) as caught:
        parsed_location("postgresql://db/shop?sslmode=require&prepare_threshold=0")
    assert str(caught.value) == (
        "postgresql+psycopg://db/shop?sslmode=require&prepare_threshold=0: no statement is prepared; leave out "
        "prepare_threshold"
    )


def test_a_server_has_ten_seconds_to_answer_unless_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit(options: str = "") -> object:
        location = parsed_location(f"postgresql://db/shop{options}")
        assert location.url is not None
        assert "connect_timeout" not in location.display_url.removesuffix("?connect_timeout=60")
        return location.url.query.get("connect_timeout")

    for name in ("PGCONNECT_TIMEOUT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    assert (limit(), limit("?connect_timeout=60"), limit("?service=ours")) == ("10", "60", None)
    for name, value in (("PGCONNECT_TIMEOUT", "60"), ("PGSERVICE", "ours")):
        with monkeypatch.context() as environment:
            environment.setenv(name, value)
            assert limit() is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "mysql://me:pw@db/shop",
            "mysql:// is not a database for ndcg_tracker: give the path of a SQLite file, sqlite:///path or "
            "postgresql://user@host/database",
        ),
        (
            "sqlite://",
            "a database in memory stores nothing: give location= the path of a SQLite file, such as ndcg-track.db",
        ),
        (
            ":memory:",
            "a database in memory stores nothing: give location= the path of a SQLite file, such as ndcg-track.db",
        ),
        ("", "a database in memory stores nothing: give location= the path of a SQLite file, such as ndcg-track.db"),
        (
            "sqlite:///x.db?mode=ro",
            "a SQLite URL is sqlite:///path, without host, user or options; or give only the path",
        ),
        (
            "postgresql://me:pw@db:port/shop",
            "postgresql+psycopg://me:***@db:port/shop is not a URL of a Postgres database: write "
            "postgresql://user:password@host:5432/database, with @ : / ? and % in a password as %40 %3A %2F %3F "
            "and %25",
        ),
        (
            "me:pw@db/shop",
            "location= is neither a URL nor a plain path: write postgresql://user@host/database, "
            "or ./ before the path of a SQLite file",
        ),
        ("a\0b", "the path of the database contains a NUL character; give location= another path"),
    ],
)
def test_a_wrong_location_is_told(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed_location(text)
    assert str(caught.value) == message


def test_commands_are_quoted_for_the_shell() -> None:
    assert parsed_location("it's.db").command("db upgrade") == "ndcg-track --db 'it'\\''s.db' db upgrade"
    assert parsed_location("a/b.db").command("db check") == "ndcg-track --db a/b.db db check"


def test_masking_without_secrets_changes_nothing() -> None:
    for url in ("postgresql://db/shop", "postgresql://me@db:1/shop?sslmode=require&application_name=x"):
        assert masked(url) == url
