"""Builds the Python wheel (PEP 517), on the standard library and CMake alone: `pip install .`, `pip wheel .`, or

    tools/wheel [--build-dir DIR] [FOLDER]      writes the wheel into FOLDER (default: dist)

The wheel is of this platform: the module, libsarrus with the libraries that it needs beyond the C library, and the program. It works with
every Python 3 from 3.8 on, for the module calls the library by ctypes. With --build-dir (config setting build-dir) an existing build
is packed, else one is made in build/wheel.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

try:
    import tomllib
except ImportError:
    sys.exit("the wheel is built by Python 3.11 or later (tomllib); it works with 3.8 and later")

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings" / "python" / "sarrus"
# Of every Linux with a glibc; all others travel with the wheel.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libgcc_s)\.so.*")


# ------------------------------------------------------------------------------------------------------------- metadata
def _project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def _version():
    return re.search(r'SR_VERSION_STRING "([^"]+)"', (ROOT / "include/sarrus/base.h").read_text())[1]


def _metadata():
    p = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {p['name']}", f"Version: {_version()}", f"Summary: {p['description']}",
             f"Requires-Python: {p['requires-python']}", "License: BSD-3-Clause",
             *(f"Requires-Dist: {d}" for d in p["dependencies"]), *(f"Classifier: {c}" for c in p["classifiers"]),
             "Description-Content-Type: text/markdown", "", (ROOT / p["readme"]).read_text(encoding="utf-8")]
    return "\n".join(lines)


def _entry_points():
    p = _project()
    groups = {"console_scripts": p.get("scripts", {}), **p.get("entry-points", {})}
    return "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in items.items()) + "\n" for group, items in groups.items())


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: sarrus_wheel\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


# ---------------------------------------------------------------------------------------------------------------- build
def _run(*command):
    done = subprocess.run([os.fspath(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def _built(given, prefix):
    """The library and the program, installed into prefix."""
    if not shutil.which("cmake"):
        sys.exit("the wheel is built by CMake, which is not on PATH (tools/setup installs it)")
    folder = pathlib.Path(given) if given else ROOT / "build" / "wheel"
    if not given:
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run("cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DSARRUS_TESTS=OFF",
             "-DCMAKE_INSTALL_LIBDIR=lib")
        _run("cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1))
    _run("cmake", "--install", folder, "--prefix", prefix)


def _libraries(prefix):
    """{name: file} of libsarrus, and of what it needs that is not part of every system."""
    library = next((p for p in sorted(prefix.glob("lib/libsarrus.so.*")) if not p.is_symlink()), None)
    if library is None:  # the program finds it in ../lib alone
        sys.exit("the build installs no shared library into lib: configure it with -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON")
    soname = next(p.name for p in library.parent.glob("libsarrus.so.*") if p.is_symlink())
    out = {soname: library}
    for line in _run("ldd", library).splitlines():
        name, _, where = line.strip().partition(" => ")
        if where.startswith("not found"):
            sys.exit(f"{library} needs {name}, which is not installed")
        if where and not SYSTEM.fullmatch(name) and name not in out:
            out[name] = pathlib.Path(where.split(" (")[0]).resolve()
    return out


def _licences(libraries):
    """{name: file}: the terms of the libraries that travel along, where Debian's packages have them."""
    out = {}
    for path in libraries[1:]:
        for file in (path, str(path).replace("/usr/lib", "/lib", 1)):
            found = subprocess.run(["dpkg-query", "-S", file], capture_output=True, text=True, check=False) \
                if shutil.which("dpkg-query") else None
            package = found.stdout.partition(":")[0] if found and found.returncode == 0 else None
            terms = pathlib.Path("/usr/share/doc", package or "-", "copyright")
            if package and terms.exists():
                out[f"{package}.txt"] = terms
                break
    return out


def _files(given, prefix):
    """{path in the wheel: file}"""
    _built(given, prefix)
    out = {f"sarrus/{p.relative_to(PACKAGE)}": p for p in sorted(PACKAGE.rglob("*"))
           if p.is_file() and p.suffix in (".py", ".typed", ".pyi")}
    libraries = _libraries(prefix)
    out.update({f"sarrus/lib/{name}": path for name, path in libraries.items()})
    out.update({f"sarrus/lib/licences/{n}": p for n, p in _licences(list(libraries.values())).items()})
    out["sarrus/bin/sarrus"] = prefix / "bin" / "sarrus"
    share = prefix / "share"  # the front end of pages, where the build has one
    out.update({f"sarrus/share/{p.relative_to(share)}": p for p in sorted((share / "sarrus" / "page").glob("*")) if p.is_file()})
    return out


# ---------------------------------------------------------------------------------------------------------------- wheel
class _Wheel:
    """A zip file with its record. Equal input gives equal bytes: times are those of 1980."""

    def __init__(self, folder, name):
        self.name, self.info = name, f"sarrus-{_version()}.dist-info"
        self._zip = zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, path, data, mode=0o644):
        data = data.encode() if isinstance(data, str) else data
        item = zipfile.ZipInfo(path)
        item.external_attr, item.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self._zip.writestr(item, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{path},sha256={digest},{len(data)}\n")

    def close(self):
        self.add(f"{self.info}/METADATA", _metadata())
        self.add(f"{self.info}/WHEEL", _wheel_file())
        self.add(f"{self.info}/entry_points.txt", _entry_points())
        self.add(f"{self.info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        record = f"{self.info}/RECORD"
        item = zipfile.ZipInfo(record)
        item.external_attr = 0o100644 << 16
        self._zip.writestr(item, "".join(self._record) + f"{record},,\n")
        self._zip.close()
        return self.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del metadata_directory
    with tempfile.TemporaryDirectory() as folder:
        files = _files((config_settings or {}).get("build-dir"), pathlib.Path(folder))
        pathlib.Path(wheel_directory).mkdir(parents=True, exist_ok=True)
        wheel = _Wheel(wheel_directory, f"sarrus-{_version()}-{_tag()}.whl")
        for path, file in files.items():
            wheel.add(path, file.read_bytes(), 0o755 if path.endswith("bin/sarrus") else 0o644)
        return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The module of this tree, with the library of its build folders."""
    del config_settings, metadata_directory
    wheel = _Wheel(wheel_directory, f"sarrus-{_version()}-{_tag()}.whl")
    wheel.add("sarrus.pth", f"{PACKAGE.parent}\n")
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    name = f"sarrus-{_version()}"
    tracked = _run("git", "-C", ROOT, "ls-files").splitlines()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in tracked:
            archive.add(ROOT / path, f"{name}/{path}", recursive=False)
        info = pathlib.Path(sdist_directory) / "PKG-INFO"
        info.write_text(_metadata(), encoding="utf-8")
        archive.add(info, f"{name}/PKG-INFO")
        info.unlink()
    return f"{name}.tar.gz"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="dist", metavar="FOLDER")
    parser.add_argument("--build-dir", metavar="DIR", help="pack this build instead of making one in build/wheel")
    given = parser.parse_args()
    name = build_wheel(given.folder, {"build-dir": given.build_dir} if given.build_dir else None)
    print(pathlib.Path(given.folder) / name)


if __name__ == "__main__":
    main()
