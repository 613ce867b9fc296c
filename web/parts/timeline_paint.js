/* timeline_paint.js - one picture: boxes by colour, densities, names where they fit, and what is chosen, found or
 * selected. */

import { instantIn } from '../format.js';
import { firstAfter } from './timeline_boxes.js';
import { SHADES } from './timeline_colors.js';
import { TALL } from './timeline_density.js';
import { CELLS, rulerOf } from './timeline_scale.js';
import { standIns } from './timeline_tiles.js';
import { GAP, LINE, ROW } from './timeline_tree.js';

export const RULER = 28;
const FONT = '11px ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace',
    MOST_LABELS = 400,
    LABEL_FROM = 40;

/**
 * @typedef {Object} Scene
 * @property {number} width  px
 * @property {number} height
 * @property {number} ratio  pixels of the device in one
 * @property {import('./timeline_scale.js').Span} view
 * @property {number} perSecond  ticks
 * @property {{line: import('./timeline_tree.js').Line, y: number, pinned: boolean}[]} lines  those in sight; y: px
 *   from the top of the canvas
 * @property {number} fixed  px below the ruler that hold pinned lanes
 * @property {number} r
 * @property {number[]} tiles
 * @property {number} coarsest
 * @property {(wanted: import('./timeline_tiles.js').Wanted) => any} find
 * @property {import('./timeline_boxes.js').Texts} texts
 * @property {ReturnType<import('./timeline_density.js').densities>} densities
 * @property {import('./timeline_colors.js').Ink[]} palette
 * @property {Object<string, string>} frame  colours of all else
 * @property {(group: import('./timeline_boxes.js').Group, at: number, line: import('./timeline_tree.js').Line) =>
 *   number} colorOf  of the palette
 * @property {number|null} only  name that stands out
 * @property {boolean} hatch  where nothing is known yet
 * @property {boolean} hits  whether tiles of hits are shown
 * @property {import('./timeline_scale.js').Span|null} selection
 * @property {Set<string>|null} selected  lanes
 * @property {import('./timeline_boxes.js').Box|null} hover
 * @property {import('./timeline_boxes.js').Box|null} chosen
 */

const buckets = new Map();

function put(color, shade, x, y, width) {
    const key = color * 16 + shade;
    let bucket = buckets.get(key);
    if (!bucket) buckets.set(key, (bucket = []));
    bucket.push(x, y, width);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @returns {{boxes: number, bare: number, shown: number}} bare: parts of lines about which nothing is known yet
 */
export function paint(pen, scene) {
    const { width, height, ratio, lines, frame } = scene,
        seen = { boxes: 0, bare: 0, shown: 0 },
        labels = [];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = frame.paper;
    pen.fillRect(0, 0, width * ratio, height * ratio);
    for (const fixed of [false, true]) {
        const own = lines.filter(({ pinned }) => pinned === fixed),
            top = fixed ? RULER : RULER + scene.fixed,
            bottom = fixed ? RULER + scene.fixed : height;
        if (bottom <= top) continue;
        pen.save();
        pen.beginPath();
        pen.rect(0, top * ratio, width * ratio, (bottom - top) * ratio);
        pen.clip();
        ground(pen, scene, own, top, bottom);
        for (const { line, y } of own) {
            pen.fillStyle = frame.line;
            pen.fillRect(0, Math.round((y + line.height) * ratio) - 1, width * ratio, 1);
            for (const index of scene.tiles) {
                if (line.rows > 0) boxesOf(pen, scene, line, y, index, seen, labels);
                else densityOf(pen, scene, line, y, index, seen);
            }
        }
        flush(pen, scene);
        if (scene.hits)
            for (const { line, y } of own)
                if (line.rows > 0) for (const index of scene.tiles) hitsOf(pen, scene, line, y, index);
        names(pen, scene, labels.splice(0));
        marks(pen, scene, own, top, bottom);
        pen.restore();
    }
    ruler(pen, scene);
    return seen;
}

const xOf = ({ view, width, ratio }, time) => ((time - view.from) / (view.to - view.from)) * width * ratio;

function hatched(pen, { frame, ratio, hatch }, x, y, width, height) {
    if (!hatch) return;
    pen.strokeStyle = frame.skeleton;
    pen.lineWidth = 2 * ratio;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.beginPath();
    for (let at = x - height - (x % (12 * ratio)); at < x + width; at += 12 * ratio) {
        pen.moveTo(at, y + height);
        pen.lineTo(at + height, y);
    }
    pen.stroke();
    pen.restore();
}

function boxesOf(pen, scene, line, y, index, seen, labels) {
    const { view, ratio, width } = scene,
        { lane } = line,
        right = width * ratio,
        scale = right / (view.to - view.from);
    const found = standIns(scene.find, { kind: 'events', chunk: lane.chunk, r: scene.r, index }, scene.coarsest);
    if (found.length === 0) {
        const x = Math.max(0, xOf(scene, index * CELLS * scene.r)),
            end = Math.min(right, xOf(scene, (index + 1) * CELLS * scene.r));
        seen.bare++;
        hatched(pen, scene, x, (y + GAP / 2) * ratio, end - x, line.rows * ROW * ratio);
        return;
    }
    seen.shown++;
    for (const { tile, from, to, exact } of found) {
        if (tile.base[lane.at] < 0) continue;
        const left = Math.max(from, view.from),
            until = Math.min(to, view.to);
        for (const [kind, group] of tile.groups.entries()) {
            for (let row = 0; row < line.rows; row++) {
                const its = tile.base[lane.at] + row,
                    rowTop = Math.round((y + GAP / 2 + row * ROW) * ratio);
                for (
                    let at = firstAfter(group, its, left);
                    at < group.offsets[its + 1] && group.start[at] < until;
                    at++
                ) {
                    const start = group.start[at],
                        end = group.end[at];
                    const x = Math.round((Math.max(start, left) - view.from) * scale),
                        x1 = Math.round((Math.min(end, until) - view.from) * scale);
                    const size = Math.max(1, x1 - x - (end <= until && x1 - x > 3 ? 1 : 0));
                    let shade =
                        kind === 0
                            ? SHADES
                            : Math.round((0.35 + (0.65 * group.covered[at]) / Math.max(end - start, 1)) * SHADES);
                    if (!exact) shade *= 0.6;
                    if (scene.only !== null && group.name[at] !== scene.only) shade *= 0.3;
                    const color = scene.colorOf(group, at, line);
                    put(color, Math.max(1, Math.min(SHADES, Math.round(shade))), x, rowTop, size);
                    seen.boxes++;
                    if ((end - start) * scale >= LABEL_FROM * ratio && labels.length < MOST_LABELS)
                        labels.push({
                            group,
                            at,
                            y: rowTop,
                            color,
                            shade: Math.max(1, Math.min(SHADES, Math.round(shade))),
                            line,
                        });
                }
            }
        }
    }
    if (line.more > 0 && index === scene.tiles[0])
        labels.push({ words: `${line.more} more rows`, y: Math.round((y + line.height - ROW) * ratio) });
}

/** The palest first: where boxes share a pixel, what is known best is seen, in whatever order they came. */
function flush(pen, { palette, ratio }) {
    const height = Math.round((ROW - 2) * ratio);
    for (const key of [...buckets.keys()].sort((a, b) => (a & 15) - (b & 15) || a - b)) {
        const list = buckets.get(key);
        if (list.length === 0) continue;
        const ink = palette[key >> 4] ?? palette[0];
        pen.fillStyle = ink.fills[key & 15];
        for (let at = 0; at < list.length; at += 3) pen.fillRect(list[at], list[at + 1], list[at + 2], height);
        if (ink.edge) {
            pen.fillStyle = ink.edge;
            for (let at = 0; at < list.length; at += 3)
                if (list[at + 2] > 5) pen.fillRect(list[at], list[at + 1] + height - 2, list[at + 2], 2);
        }
        list.length = 0;
    }
}

/** Names in boxes, each once, cut where the box ends. */
function names(pen, scene, labels) {
    const { ratio, texts, palette, view, width } = scene,
        drawn = new Set();
    pen.font = FONT.replace('11px', `${11 * ratio}px`);
    pen.textBaseline = 'middle';
    const sign = widthOf(pen, texts, -1, 'm'),
        scale = (width * ratio) / (view.to - view.from);
    for (const { group, at, y, color, shade, line, words } of labels) {
        if (words) {
            pen.fillStyle = scene.frame['ink-3'];
            pen.fillText(words, 4 * ratio, y + (ROW * ratio) / 2);
            continue;
        }
        const key = `${line.lane.id} ${y} ${group.start[at]}`;
        if (drawn.has(key)) continue;
        drawn.add(key);
        const name = group.name[at],
            text = texts.words[name] ?? '(no name)',
            x = Math.max(0, (group.start[at] - view.from) * scale),
            available = Math.min(width * ratio, (group.end[at] - view.from) * scale) - x - 8 * ratio;
        const fits = widthOf(pen, texts, name, text) * ratio <= available,
            signs = Math.floor(available / (sign * ratio)) - 1;
        if (available < (LABEL_FROM - 8) * ratio || (!fits && signs < 3)) continue;
        pen.fillStyle = (palette[color] ?? palette[0]).inks[shade];
        pen.fillText(
            fits ? text : `${text.slice(0, signs)}\u2026`,
            Math.round(x + 4 * ratio),
            y + ((ROW - 2) * ratio) / 2 + ratio,
        );
    }
}

let letter = 0;

/** Measured once for each name. */
function widthOf(pen, texts, name, words) {
    const font = pen.font,
        measure = () => {
            pen.font = FONT;
            const { width } = pen.measureText(words);
            pen.font = font;
            return width;
        };
    return name < 0 ? (letter ||= measure()) : (texts.widths[name] ??= measure());
}

function densityOf(pen, scene, line, y, index, seen) {
    const { view, ratio, width } = scene,
        { lane } = line,
        right = width * ratio;
    const found = standIns(scene.find, { kind: 'density', chunk: lane.chunk, r: scene.r, index }, scene.coarsest);
    if (found.length === 0) {
        const x = Math.max(0, xOf(scene, index * CELLS * scene.r)),
            end = Math.min(right, xOf(scene, (index + 1) * CELLS * scene.r));
        seen.bare++;
        hatched(pen, scene, x, (y + 3) * ratio, end - x, TALL * ratio);
        return;
    }
    seen.shown++;
    for (const { tile, from, to, exact } of found) {
        const left = Math.max(from, view.from),
            until = Math.min(to, view.to),
            x = Math.round(xOf(scene, left)),
            x1 = Math.round(xOf(scene, until));
        const source = (left - tile.from) / tile.r,
            cells = (until - left) / tile.r;
        if (cells <= 0 || x1 <= x) continue;
        pen.globalAlpha = exact ? 1 : 0.6;
        pen.drawImage(
            scene.densities.bitmapOf(tile, lane.chunk, scene.palette),
            source,
            lane.at * TALL,
            cells,
            TALL,
            x,
            Math.round((y + (LINE - TALL) / 2) * ratio),
            x1 - x,
            TALL * ratio,
        );
        pen.globalAlpha = 1;
    }
}

function hitsOf(pen, scene, line, y, index) {
    const { ratio, frame, view } = scene,
        { lane } = line;
    pen.strokeStyle = frame.ink;
    pen.lineWidth = 2 * ratio;
    for (const { tile, from, to } of standIns(
        scene.find,
        { kind: 'hits', chunk: lane.chunk, r: scene.r, index },
        scene.coarsest,
    )) {
        if (tile.base[lane.at] < 0) continue;
        for (const group of tile.groups) {
            for (let row = 0; row < line.rows; row++) {
                const its = tile.base[lane.at] + row;
                for (
                    let at = firstAfter(group, its, Math.max(from, view.from));
                    at < group.offsets[its + 1] && group.start[at] < Math.min(to, view.to);
                    at++
                )
                    outline(pen, scene, group.start[at], group.end[at], y, row);
            }
        }
    }
}

function outline(pen, scene, start, end, y, row) {
    const { ratio, width } = scene,
        x = Math.max(-4, Math.round(xOf(scene, start))),
        x1 = Math.min(width * ratio + 4, Math.round(xOf(scene, end)));
    pen.strokeRect(
        x,
        Math.round((y + GAP / 2 + row * ROW) * ratio),
        Math.max(2, x1 - x),
        Math.round((ROW - 2) * ratio),
    );
}

/** The selection, below the boxes so that these keep their colours. */
function ground(pen, scene, own, top, bottom) {
    const { ratio, frame, selection, selected, width } = scene;
    if (!selection && !selected) return;
    const x = selection ? Math.max(0, xOf(scene, selection.from)) : 0,
        wide = Math.max(1, (selection ? Math.min(width * ratio, xOf(scene, selection.to)) : width * ratio) - x);
    pen.fillStyle = frame.selection;
    if (!selected) pen.fillRect(x, top * ratio, wide, (bottom - top) * ratio);
    else
        for (const { line, y } of own)
            if (selected.has(line.lane.id)) pen.fillRect(x, y * ratio, wide, line.height * ratio);
}

/** The ends of the selection, the box under the pointer, the chosen event. */
function marks(pen, scene, own, top, bottom) {
    const { ratio, frame, selection, width } = scene;
    pen.fillStyle = frame.accent;
    for (const at of selection ? [xOf(scene, selection.from), xOf(scene, selection.to)] : [])
        if (at >= 0 && at <= width * ratio) pen.fillRect(Math.round(at), top * ratio, ratio, (bottom - top) * ratio);
    for (const [box, color, thick] of [
        [scene.hover, frame['ink-2'], 1],
        [scene.chosen, frame.accent, 3],
    ]) {
        const place = box && own.find(({ line }) => line.lane.id === box.lane.id && box.row < line.rows);
        if (!place) continue;
        pen.strokeStyle = color;
        pen.lineWidth = thick * ratio;
        outline(pen, scene, box.start, box.end, place.y, box.row);
    }
}

function ruler(pen, scene) {
    const { ratio, frame, view, perSecond, width, selection } = scene,
        { step, times } = rulerOf(view, perSecond, width);
    pen.fillStyle = frame.ground;
    pen.fillRect(0, 0, width * ratio, RULER * ratio);
    pen.fillStyle = frame.line;
    pen.fillRect(0, (RULER - 1) * ratio, width * ratio, ratio);
    if (scene.fixed > 0) {
        pen.fillStyle = frame['line-strong'];
        pen.fillRect(0, Math.round((RULER + scene.fixed - 1) * ratio), width * ratio, ratio);
    }
    pen.font = `${12 * ratio}px system-ui, sans-serif`;
    pen.textBaseline = 'middle';
    for (const time of times) {
        const x = Math.round(xOf(scene, time * perSecond));
        pen.fillStyle = frame['line-strong'];
        pen.fillRect(x, (RULER - 8) * ratio, ratio, 8 * ratio);
        pen.fillStyle = frame['ink-3'];
        pen.fillText(instantIn(time, view.to / perSecond, step), x + 4 * ratio, (RULER / 2 - 1) * ratio);
    }
    if (!selection) return;
    const x = xOf(scene, selection.from),
        x1 = xOf(scene, selection.to);
    pen.fillStyle = frame.accent;
    pen.fillRect(x, (RULER - 4) * ratio, Math.max(1, x1 - x), 4 * ratio);
}
