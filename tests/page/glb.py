"""Rules of the glTF 2.0 specification (Khronos Group, 2021) that a .glb of Sarrus must keep: glb.py FILE... prints what is wrong.

Section numbers are those of the specification."""
import json
import math
import struct
import sys

SIZE = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def check(path):
    bad = []

    def ensure(truth, text):
        if not truth:
            bad.append(text)

    data = open(path, "rb").read()
    magic, version, length = struct.unpack_from("<III", data)  # 4.4.2
    ensure(magic == 0x46546C67 and version == 2 and length == len(data), "head of the file")
    at, chunks = 12, []
    while at < len(data):  # 4.4.3
        n, kind = struct.unpack_from("<II", data, at)
        ensure(n % 4 == 0, f"chunk of {n} bytes, not a multiple of 4")
        chunks.append((kind, data[at + 8 : at + 8 + n]))
        at += 8 + n
    ensure(at == len(data), "chunks do not fill the file")
    ensure([k for k, _ in chunks] in ([0x4E4F534A], [0x4E4F534A, 0x004E4942]), "kinds and order of chunks")

    def refuse(word):
        raise ValueError(word)

    g = json.loads(chunks[0][1].decode("utf-8"), parse_constant=refuse)
    ensure(chunks[0][1].rstrip(b" \n")[-1:] == b"}", "JSON is padded with something else than spaces")
    binary = chunks[1][1] if len(chunks) > 1 else b""
    ensure(g["asset"]["version"] == "2.0", "version")
    ensure(all(v != [] for v in g.values()), "an empty array")
    if binary:  # 3.6.1: the chunk is up to 3 bytes longer than the buffer
        ensure(len(g["buffers"]) == 1 and "uri" not in g["buffers"][0], "one buffer, in the file")
        ensure(0 <= len(binary) - g["buffers"][0]["byteLength"] <= 3, "length of the buffer")

    def numbers(i):
        a = g["accessors"][i]
        view = g["bufferViews"][a["bufferView"]]
        size, width = SIZE[a["componentType"]], WIDTH[a["type"]]
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        ensure(start % size == 0, f"accessor {i} begins at {start}")  # 3.6.2.4
        ensure(a["count"] >= 1 and a.get("byteOffset", 0) + a["count"] * width * size <= view["byteLength"], f"accessor {i} is longer than its view")
        ensure(start + a["count"] * width * size <= len(binary), f"accessor {i} is outside of the buffer")
        letter = {5123: "H", 5125: "I", 5126: "f"}[a["componentType"]]
        flat = struct.unpack_from(f"<{a['count'] * width}{letter}", binary, start)
        ensure(all(math.isfinite(x) for x in flat), f"accessor {i} has NaN or infinity")
        rows = [flat[k : k + width] for k in range(0, len(flat), width)]
        for word, f in (("min", min), ("max", max)):  # 3.6.2.5
            if word in a:
                ensure(list(a[word]) == [f(r[k] for r in rows) for k in range(width)], f"{word} of accessor {i}")
        return a, rows

    for i, view in enumerate(g.get("bufferViews", [])):
        ensure(view["byteLength"] >= 1 and view.get("byteOffset", 0) + view["byteLength"] <= len(binary), f"view {i} is outside of the buffer")
    nodes = g["nodes"]
    parents = [0] * len(nodes)
    for node in nodes:
        ensure(node.get("children") != [], "an empty list of children")
        for child in node.get("children", []):
            parents[child] += 1
        if "rotation" in node:
            ensure(abs(math.fsum(x * x for x in node["rotation"]) - 1) < 1e-5, f"rotation of {node.get('name')}")
        ensure("mesh" not in node or 0 <= node["mesh"] < len(g["meshes"]), "mesh of a node")
    ensure(all(n <= 1 for n in parents), "a node with two parents")  # 3.5.2
    ensure(sorted(i for i, n in enumerate(parents) if n == 0) == sorted(g["scenes"][g["scene"]]["nodes"]), "roots of the scene")
    for mesh in g.get("meshes", []):
        for primitive in mesh["primitives"]:
            a, points = numbers(primitive["attributes"]["POSITION"])
            ensure("min" in a and "max" in a, "POSITION without min and max")  # 3.7.2.1
            b, indices = numbers(primitive["indices"])
            index = [i[0] for i in indices]
            ensure(b["type"] == "SCALAR" and len(index) % 3 == 0 and max(index) < a["count"] and max(index) < 0xFFFFFFFF, "indices")
            if "NORMAL" in primitive["attributes"]:
                c, normals = numbers(primitive["attributes"]["NORMAL"])
                ensure(c["count"] == a["count"], "as many normals as points")
                ensure(all(abs(math.hypot(*n) - 1) < 1e-5 for n in normals), "a normal of another length than 1")
                for k in range(0, len(index), 3):  # counterclockwise, 3.7.2.1: the normal of a triangle is with those of its corners
                    p, q, r = (points[j] for j in index[k : k + 3])
                    u, v = [q[j] - p[j] for j in range(3)], [r[j] - p[j] for j in range(3)]
                    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
                    m = [sum(normals[j][i] for j in index[k : k + 3]) for i in range(3)]
                    ensure(math.hypot(*n) > 0 and sum(x * y for x, y in zip(n, m)) > 0, f"triangle {k // 3} is flat or clockwise")
            ensure(0 <= primitive["material"] < len(g["materials"]), "material")
    for material in g.get("materials", []):
        color = material["pbrMetallicRoughness"]["baseColorFactor"]
        ensure(len(color) == 4 and all(0 <= c <= 1 for c in color), "colour")
        ensure((color[3] < 1) == (material.get("alphaMode", "OPAQUE") == "BLEND"), "alphaMode")
    for animation in g.get("animations", []):  # 3.11
        seen = set()
        for channel in animation["channels"]:
            sampler, target = animation["samplers"][channel["sampler"]], (channel["target"]["node"], channel["target"]["path"])
            ensure(target not in seen, f"two channels for {target}")
            seen.add(target)
            a, times = numbers(sampler["input"])
            b, values = numbers(sampler["output"])
            t = [x[0] for x in times]
            ensure("min" in a and "max" in a and a["type"] == "SCALAR" and a["componentType"] == 5126, "times")
            ensure(t[0] >= 0 and all(x < y for x, y in zip(t, t[1:])), "times do not rise")
            ensure(b["type"] == {"rotation": "VEC4", "translation": "VEC3"}[target[1]] and b["count"] == a["count"], "values of a channel")
            if target[1] == "rotation":
                ensure(all(abs(math.fsum(x * x for x in q) - 1) < 1e-5 for q in values), "a quaternion of another length than 1")
    return bad


status = 0
for name in sys.argv[1:]:
    for text in check(name):
        print(f"FAILED glb: {name}: {text}")
        status = 1
sys.exit(status)
