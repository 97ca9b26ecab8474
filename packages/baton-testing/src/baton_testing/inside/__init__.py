"""What is loaded under these names: in a checkout the sources themselves, in a wheel its copies (with_sources.py)."""

from pathlib import Path

_HERE = Path(__file__).parent
if not (_HERE / "baton").is_dir():
    _ROOT = _HERE.parents[4]
    __path__ = [*__path__, *(str(_ROOT / each) for each in ("layers/baton/python", "functions", "tests"))]
