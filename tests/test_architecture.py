"""What the folder tree promises: pure modules, one direction of imports, charters, one name per table."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted([*ROOT.glob("assets/**/*.py"), *ROOT.glob("pipelines/**/*.py")])
IMPURE = {"dagster", "fsspec", "os", "s3fs", "deltalake"}
WITH_DAGSTER = {"assets.py", "table_asset.py"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [path for path in MODULES if path.is_relative_to(ROOT / "assets")], ids=name)
def test_imports_of_assets(path: Path) -> None:
    imported = imports(path)
    if path.name in WITH_DAGSTER:
        assert not {module for module in imported if module.startswith("pipelines")} - {
            "pipelines",
            "pipelines.partitions",
            *(module for module in imported if module.startswith("pipelines.partitions.")),
        }
    else:
        assert not {module.split(".")[0] for module in imported} & (IMPURE | {"pipelines"})


def test_partitions_import_nothing_of_the_project() -> None:
    imported = imports(ROOT / "pipelines" / "partitions.py")
    assert not {module for module in imported if module.split(".")[0] in {"assets", "pipelines"}}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_each_module_opens_with_a_charter(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", [path for path in MODULES if path.name == "__init__.py"], ids=name)
def test_a_package_file_holds_a_charter_and_nothing_else(path: Path) -> None:
    assert len(ast.parse(path.read_text(encoding="utf-8")).body) == 1


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    assert not [name(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_the_top_level_stays_as_it_is() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert {"assets", "pipelines", "tests", "infra"} <= folders
    assert folders - {"assets", "pipelines", "tests", "infra", "build", "scorehouse.egg-info"} == set()
