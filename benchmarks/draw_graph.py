"""Draws the graph of an export as a picture: files, what is alike, and who links to whom.

    ragx export parquet/ && python benchmarks/draw_graph.py parquet/ -o graph.svg [--similar 0.84] [--labels 40]

A dot is a file, as large as its number of neighbors, in the colour of the community that most of its chunks are in.
A grey line joins files with a similar edge of at least `--similar` or a common tag; an arrow is a link, an import or a
mention. The hubs bear their names. Reads Parquet with pyarrow, places the dots with numpy, and writes plain SVG.
"""

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

WIDTH, HEIGHT, MARGIN, LEGEND = 1400, 1000, 50, 230
COLORS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#b8860b")
OTHER = "#9498a0"
STEPS = 600


@dataclass(frozen=True)
class Graph:
    """Files and the pairs of their numbers that are alike (smaller first) or that link (from, to)."""

    paths: list[str]
    communities: list[int]
    names: dict[int, str]
    similar: dict[tuple[int, int], float]
    links: set[tuple[int, int]]

    def degrees(self) -> list[int]:
        neighbors: dict[int, set[int]] = defaultdict(set)
        for one, other in [*self.similar, *self.links]:
            neighbors[one].add(other)
            neighbors[other].add(one)
        return [len(neighbors[number]) for number in range(len(self.paths))]


def read(folder: Path, least: float) -> Graph:
    """The files of an export that have chunks; similar edges from a cosine of `least` on."""
    files = pq.read_table(folder / "files.parquet", columns=["id", "path"]).to_pylist()
    chunks = pq.read_table(folder / "chunks.parquet", columns=["id", "file_id"]).to_pylist()
    file_of = {chunk["id"]: chunk["file_id"] for chunk in chunks}
    files = sorted((file for file in files if file["id"] in set(file_of.values())), key=lambda file: file["path"])
    number = {file["id"]: at for at, file in enumerate(files)}
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    for row in pq.read_table(folder / "communities.parquet").to_pylist():
        votes[number[file_of[row["chunk_id"]]]][row["community"]] += 1
    similar: dict[tuple[int, int], float] = {}
    links = set()
    for row in pq.read_table(folder / "edges.parquet").to_pylist():
        one, other = (number[file_of[row[end]]] for end in ("src", "dst"))
        if row["kind"] in ("similar", "tag"):
            if one < other and row["weight"] >= least:
                similar[one, other] = max(row["weight"], similar.get((one, other), 0))
        elif one != other and row["outward"]:
            links.add((one, other))
    labels = pq.read_table(folder / "community_labels.parquet", columns=["community", "name"]).to_pylist()
    return Graph(
        [file["path"] for file in files],
        [votes[at].most_common(1)[0][0] if votes[at] else -1 for at in range(len(files))],
        {row["community"]: row["name"] for row in labels},
        similar,
        links,
    )


def place(graph: Graph) -> np.ndarray:
    """(files, 2) coordinates in the unit square: edges pull, dots push (Fruchterman and Reingold 1991)."""
    count = len(graph.paths)
    pull = np.zeros((count, count))
    for (one, other), weight in graph.similar.items():
        pull[one, other] += weight
    for one, other in graph.links:
        pull[one, other] += 1
    pull += pull.T
    # A hub's many edges must not draw everything to one point.
    degree = np.maximum(pull.sum(axis=1), 1)
    pull /= np.sqrt(degree[:, None] * degree[None, :]) / 3
    same = np.equal.outer(graph.communities, graph.communities)
    pull += same * 0.06
    at = np.random.default_rng(1).random((count, 2))
    ideal = (1 / max(count, 1)) ** 0.5
    for heat in np.linspace(0.1, 0.001, STEPS):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-4)
        push = ideal**2 / distance**2 * (distance < 0.6)
        move = (apart * (push - pull * distance / ideal * 0.5)[:, :, None]).sum(axis=1) - 0.5 * (at - at.mean(axis=0))
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        at = at + move / length * np.minimum(length, heat)
    low, high = at.min(axis=0), at.max(axis=0)
    placed: np.ndarray = (at - low) / np.maximum(high - low, 1e-9)
    return placed


def svg(graph: Graph, most_labels: int) -> str:
    """The picture."""
    at = place(graph) * (WIDTH - LEGEND - 2 * MARGIN, HEIGHT - 2 * MARGIN) + (LEGEND + MARGIN, MARGIN)
    degrees = graph.degrees()
    radius = [3 + 1.5 * degree**0.5 for degree in degrees]
    shown = [community for community, _ in Counter(graph.communities).most_common(len(COLORS))]
    color = dict(zip(shown, COLORS, strict=False))
    fill = [color.get(community, OTHER) for community in graph.communities]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        '<g stroke="#8a8f98" stroke-opacity="0.3" stroke-width="0.7">',
    ]
    for one, other in graph.similar:
        (x, y), (x2, y2) = at[one], at[other]
        parts.append(f'<path d="M{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}"/>')
    parts.append("</g>")
    for one, other in sorted(graph.links):
        parts.append(_arrow(at[one], at[other], radius[other] + 1, fill[one]))
    for number, path in enumerate(graph.paths):
        x, y = at[number]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius[number]:.1f}" fill="{fill[number]}" stroke="#fff">'
            f"<title>{escape(path)}</title></circle>"
        )
    parts += _labels(graph, at, radius, degrees, most_labels)
    for line, community in enumerate(sorted(shown)):
        y = MARGIN + 24 * line
        name = graph.names.get(community, "in no community")
        parts.append(f'<circle cx="24" cy="{y}" r="7" fill="{color[community]}"/>')
        parts.append(f'<text x="40" y="{y + 5}" font-size="14" fill="#333">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"])


def _arrow(start: np.ndarray, end: np.ndarray, gap: float, color: str) -> str:
    """A line with a head at the rim of the dot; it bends to its left, so that two opposite ones stay apart."""
    way = end - start
    bend = (start + end) / 2 + np.array([way[1], -way[0]]) * 0.12
    into = (end - bend) / max(float(np.linalg.norm(end - bend)), 1e-9)
    tip = end - into * gap
    side = np.array([-into[1], into[0]]) * 2.2
    base = tip - into * 6
    (x, y), (bx, by), (tx, ty) = start, bend, tip
    (lx, ly), (rx, ry) = base + side, base - side
    return (
        f'<path d="M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f} {tx:.1f} {ty:.1f}" '
        f'fill="none" stroke="{color}" stroke-opacity="0.45"/>'
        f'<path d="M{tx:.1f} {ty:.1f}L{lx:.1f} {ly:.1f} {rx:.1f} {ry:.1f}Z" fill="{color}" fill-opacity="0.8"/>'
    )


def _labels(graph: Graph, at: np.ndarray, radius: list[float], degrees: list[int], most: int) -> list[str]:
    """The names of each community's hub and of the files with the most neighbors, each where it covers nothing."""
    order = sorted(range(len(graph.paths)), key=lambda number: (-degrees[number], graph.paths[number]))
    hubs = list({graph.communities[number]: number for number in reversed(order)}.values())
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(at, radius, strict=True)]
    parts = []
    for number in list(dict.fromkeys([*hubs, *order]))[:most]:
        name = _name(graph.paths[number])
        width, (x, y), beside = 6.7 * len(name), at[number], radius[number] + 3
        centred = x - width / 2
        beside_it = ((x + beside, y), (x - beside - width, y), (centred, y - beside - 6), (centred, y + beside + 6))
        for left, middle in beside_it:
            box = (left, middle - 6, left + width, middle + 6)
            if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
                taken.append(box)
                parts.append(
                    f'<text x="{left:.1f}" y="{middle + 4:.1f}" font-size="12" fill="#222" '
                    f'stroke="#fff" stroke-width="3" paint-order="stroke">{escape(name)}</text>'
                )
                break
    return parts


def _name(path: str) -> str:
    """A file's name; one that every folder has names nothing without it."""
    folder, _, name = path.rpartition("/")
    common = name.startswith(("__init__.", "index.", "mod.", "README."))
    return f"{folder.rpartition('/')[2]}/{name}" if common and folder else name


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `ragx export` wrote")
    parser.add_argument("-o", "--output", type=Path, default=Path("graph.svg"))
    parser.add_argument("--similar", type=float, default=0.84, metavar="COSINE", help="the least that is drawn (0.84)")
    parser.add_argument("--labels", type=int, default=40, metavar="N", help="hubs that are named (40)")
    options = parser.parse_args()
    graph = read(options.folder, options.similar)
    options.output.write_text(svg(graph, options.labels), encoding="utf-8")
    print(f"{options.output}: {len(graph.paths)} files, {len(graph.similar)} likenesses, {len(graph.links)} links")


if __name__ == "__main__":
    main()
