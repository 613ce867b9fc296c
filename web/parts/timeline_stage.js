/* timeline_stage.js - the canvas with the names of its lanes beside it: what is in sight, what is asked for, and when
 * it is painted. */

import { h, penOf, refill, setStyle } from '../dom.js';
import { boxAt, noTexts } from './timeline_boxes.js';
import { colorOfText, inks } from './timeline_colors.js';
import { densities } from './timeline_density.js';
import { gutterLine } from './timeline_gutter.js';
import { loadTile } from './timeline_load.js';
import { paint, RULER } from './timeline_paint.js';
import { CELLS, fitted, panned, resolutionOf, tilesOf, wholeResolution, zoomed } from './timeline_scale.js';
import { standIns, tileStore } from './timeline_tiles.js';
import { GAP, lineAt, lineOf, linesOf, ROW } from './timeline_tree.js';

const REST = 100,
    SETTLED = 250,
    HATCH = 150,
    OVERTAKE = 60; /* ms */
const MOST_FIXED = 0.4,
    EASE = 0.4,
    NEAR = 3; /* px */

/**
 * @typedef {Object} Shown  what the page wants to see
 * @property {Object} trace
 * @property {{root: import('./timeline_tree.js').Lane, lanes: Map<string, import('./timeline_tree.js').Lane>}} tree
 * @property {number} perSecond
 * @property {string} origin
 * @property {number} end  ticks
 * @property {Object} parameters  preset and filter
 * @property {Set<string>} open
 * @property {string[]} pinned
 * @property {Set<string>} hidden
 * @property {string} sort
 * @property {number} depth
 * @property {string} [named]  only lanes with such a name
 * @property {'layer'|'name'|'category'|'process'} color
 * @property {import('./layers.js').Layer[]} layers
 * @property {import('./timeline_scale.js').Span|null} selection
 * @property {Set<string>|null} selected
 * @property {import('./timeline_boxes.js').Box|null} chosen
 * @property {string|null} only  name that stands out
 * @property {string|null} hits  condition of the events to outline
 * @property {(wanted: {chunk: import('./timeline_tree.js').Chunk, from: number, to: number}) => Object} [events]
 *   the boxes of a window, as the call timeline/events has them, where they do not come from the trace
 */

/**
 * @param {{onView: (view: import('./timeline_scale.js').Span) => void, onFold: (id: string) => void, onPin: (id:
 *   string) => void, onHide: (id: string) => void, onProblem: (problem: any) => void, onPaint: () => void, onNamed:
 *   (words: string) => void, onWhole: () => void}} options  onWhole: all that is in sight is here at its resolution
 */
export function timelineStage({ onView, onFold, onPin, onHide, onProblem, onPaint, onNamed, onWhole }) {
    const canvas = h('canvas', { tabindex: 0, class: 'tl-canvas', role: 'img' }),
        gutter = h('div', { class: 'tl-gutter' });
    const corner = h('input', {
        class: 'tl-corner',
        type: 'search',
        placeholder: 'Find a lane',
        'aria-label': 'Find a lane',
        autocomplete: 'off',
        spellcheck: 'false',
        oninput: () => onNamed(corner.value),
    });
    const space = h('div', { class: 'tl-space' }, h('div', { class: 'tl-stick' }, gutter, corner, canvas)),
        scroller = h('div', { class: 'tl-scroll' }, space);
    const element = h('div', { class: 'tl-stage', data: { state: 'loading' } }, scroller);
    const pen = penOf(canvas, { alpha: false });
    const colors = inks(() => draw()),
        thickness = densities();
    /** @type {Shown} */
    let shown = /** @type {any} */ (null);
    /** @type {import('./timeline_tree.js').Line[]} */
    let lines = [];
    let texts = noTexts(),
        store = null,
        asked = '',
        fixed = [],
        fixedHeight = 0;
    let view = null,
        target = null,
        hover = null,
        frame = 0,
        moved = 0,
        wanted = 0,
        bareSince = 0,
        closed = false,
        names = '',
        notified = null,
        later = 0,
        wasWhole = false;

    scroller.addEventListener('scroll', () => {
        moved = performance.now();
        draw();
    });
    const resize = new ResizeObserver(() => draw());
    resize.observe(scroller);

    /** @param {Shown} next */
    function update(next) {
        const request = JSON.stringify([next.trace.answers, next.parameters]);
        if (request !== asked) {
            asked = request;
            texts = noTexts();
            store?.close();
            store = tileStore({
                load: (one, signal) => loadTile(next, one, { texts, thickness }, signal),
                changed: draw,
                failed: onProblem,
                coarsest: () => wholeResolution(next.end),
            });
        }
        shown = next;
        if (document.activeElement !== corner) corner.value = next.named ?? '';
        const laid = linesOf(next.tree, next);
        lines = laid.lines;
        fixed = [];
        fixedHeight = 0;
        for (const lane of next.pinned.map((id) => next.tree.lanes.get(id)).filter(Boolean)) {
            const line = lineOf(lane, 0, fixedHeight, false, next.depth);
            fixed.push(line);
            fixedHeight += line.height;
        }
        setStyle(scroller, { '--content': `${laid.height + fixedHeight + RULER}px` });
        setStyle(space, { height: `${laid.height + fixedHeight + RULER}px` });
        names = '';
        draw();
    }

    /** What tiles of a kind depend on besides. */
    const whatOf = (kind) =>
        kind === 'hits'
            ? shown.hits
            : kind === 'density'
              ? ['name', 'category'].includes(shown.color)
                  ? shown.color
                  : 'layer'
              : '';
    const find = (one) => store.find({ ...one, what: whatOf(one.kind) });

    const size = () => ({ width: Math.max(1, canvas.clientWidth), height: Math.max(1, scroller.clientHeight) });
    const fixedShown = () => Math.min(fixedHeight, Math.round((scroller.clientHeight - RULER) * MOST_FIXED));

    /** The lines in sight, and how high they stand in the canvas. */
    function inSight() {
        const { height } = size(),
            top = RULER + fixedShown(),
            from = scroller.scrollTop,
            found = [];
        for (const line of fixed) if (line.top < top - RULER) found.push({ line, y: RULER + line.top, pinned: true });
        for (let at = Math.max(0, lineAt(lines, from)); at < lines.length && lines[at].top - from + top < height; at++)
            found.push({ line: lines[at], y: lines[at].top - from + top, pinned: false });
        return found;
    }

    function draw() {
        if (frame || closed) return;
        element.dataset.state = 'loading';
        frame = requestAnimationFrame(step);
    }

    function step() {
        frame = 0;
        const { width, height } = size();
        if (!shown || !view || closed || width < 2) return;
        const now = performance.now(),
            moving = ease(now),
            ratio = window.devicePixelRatio;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            setStyle(canvas, { height: `${height}px` });
        }
        const sight = inSight(),
            r = resolutionOf(view.to - view.from, width),
            tiles = tilesOf(view, r, shown.end),
            coarsest = wholeResolution(shown.end);
        const needed = needs(sight, r, tiles, coarsest);
        if (!moving || now - wanted > OVERTAKE) {
            wanted = now;
            store.want(now - moved > REST ? [...needed, ...ahead(sight, r, tiles, coarsest)] : needed);
        }
        const seen = paint(pen, sceneOf(ratio, bareSince > 0 && now - bareSince > HATCH, hover));
        if (seen.bare === 0) bareSince = 0;
        else if (bareSince === 0) bareSince = now;
        gutterOf(sight);
        const whole = needed.every((one) => store.has(one) || store.isRefused(one));
        const settled = !moving && whole && notified === view;
        Object.assign(element.dataset, {
            shown: seen.shown,
            bare: seen.bare,
            boxes: seen.boxes,
            state: moving ? 'moving' : settled ? 'whole' : 'loading',
        });
        onPaint();
        if (settled && !wasWhole) onWhole();
        wasWhole = settled;
        if (moving) draw();
        else rest(now, seen.bare > 0 && now - bareSince <= HATCH);
    }

    /** @returns {import('./timeline_paint.js').Scene} */
    function sceneOf(ratio, hatch, pointed) {
        const { width, height } = size(),
            r = resolutionOf(view.to - view.from, width),
            { selection, selected, chosen, perSecond, end, hits, only } = shown;
        return {
            width,
            height,
            ratio,
            view,
            perSecond,
            lines: inSight(),
            fixed: fixedShown(),
            r,
            tiles: tilesOf(view, r, end),
            coarsest: wholeResolution(end),
            find,
            texts,
            densities: thickness,
            palette: paletteOf(),
            frame: colors.frame,
            colorOf: colorOf(),
            only: only === null ? null : (texts.numbers.get(only) ?? null),
            hatch,
            hits: hits !== null,
            selection,
            selected,
            hover: pointed,
            chosen,
        };
    }

    /** Towards where the view is going; at once for those who want no motion. */
    function ease(now) {
        if (!target) return false;
        const left = Math.abs(target.from - view.from) + Math.abs(target.to - view.to),
            near = left < (view.to - view.from) / size().width / 2;
        view =
            near || matchMedia('(prefers-reduced-motion: reduce)').matches
                ? target
                : { from: view.from + (target.from - view.from) * EASE, to: view.to + (target.to - view.to) * EASE };
        moved = now;
        if (view === target) target = null;
        return target !== null;
    }

    /** What is left to do once nothing moves: neighbours, the address, hatching. */
    function rest(now, waits) {
        clearTimeout(later);
        const due = [
            moved + REST + 5,
            notified === view ? 0 : moved + SETTLED,
            waits ? bareSince + HATCH + 5 : 0,
        ].filter((time) => time > now);
        if (notified !== view && now >= moved + SETTLED) {
            notified = view;
            onView(view);
            draw();
        }
        if (due.length > 0) later = setTimeout(draw, Math.min(...due) - now);
    }

    function needs(sight, r, tiles, coarsest) {
        const found = new Map(),
            kinds = (line) => (line.rows === 0 ? ['density'] : shown.hits === null ? ['events'] : ['events', 'hits']);
        for (const { line } of sight)
            for (const kind of kinds(line))
                found.set(`${kind} ${line.lane.chunk.key}`, { kind, what: whatOf(kind), chunk: line.lane.chunk });
        const chunks = [...found.values()],
            of = (level, indexes) => chunks.flatMap((one) => indexes.map((index) => ({ ...one, r: level, index })));
        return r === coarsest ? of(r, tiles) : [...of(coarsest, [0]), ...of(r, tiles)];
    }

    /** What a next move is likely to need. */
    function ahead(sight, r, tiles, coarsest) {
        const last = Math.ceil(shown.end / (CELLS * r)) - 1,
            beside = [tiles[tiles.length - 1] + 1, tiles[0] - 1].filter((index) => index >= 0 && index <= last);
        const middle = (view.from + view.to) / 2,
            quarter = (view.to - view.from) / 4;
        return [
            ...needs(sight, r, beside, coarsest),
            ...(r > 1
                ? needs(
                      sight,
                      r / 2,
                      tilesOf({ from: middle - quarter, to: middle + quarter }, r / 2, shown.end),
                      coarsest,
                  )
                : []),
            ...(2 * r < coarsest ? needs(sight, 2 * r, tilesOf(view, 2 * r, shown.end), coarsest) : []),
        ];
    }

    const paletteOf = () => colors.of(shown.color === 'layer' ? shown.layers : null);

    function colorOf() {
        if (shown.color === 'layer') return (group, at) => group.layer[at] + 1;
        if (shown.color === 'name') return (group, at) => (group.name[at] < 0 ? 0 : texts.colors[group.name[at]] + 1);
        if (shown.color === 'category')
            return (group, at) => (group.category[at] < 0 ? 0 : texts.colors[group.category[at]] + 1);
        return (group, at, { lane }) => (lane.ink ??= colorOfText(`${lane.host_name} ${lane.pid}`) + 1);
    }

    function gutterOf(sight) {
        const key = sight.map(({ line, pinned }) => `${line.lane.id} ${pinned}`).join();
        if (key !== names) {
            names = key;
            refill(
                gutter,
                h(
                    'div',
                    { class: 'tl-names fixed' },
                    sight
                        .filter(({ pinned }) => pinned)
                        .map(({ line }) => gutterLine(line, true, { onFold, onPin, onHide })),
                ),
                h(
                    'div',
                    { class: 'tl-names' },
                    sight
                        .filter(({ pinned }) => !pinned)
                        .map(({ line }) => gutterLine(line, false, { onFold, onPin, onHide, pinned: shown.pinned })),
                ),
            );
        }
        setStyle(gutter, { '--fixed': `${fixedShown()}px` });
        const first = sight.find(({ pinned }) => !pinned),
            box = /** @type {HTMLElement} */ (gutter.lastElementChild);
        setStyle(box, { '--shift': `${first ? first.y - RULER - fixedShown() : 0}px` });
    }

    /** What is at a place of the canvas: a line, a row, a moment. */
    function placeAt(x, y) {
        const { width } = size(),
            time = view.from + (x / width) * (view.to - view.from);
        if (y < RULER) return { time, line: null, row: -1, ruler: true };
        const at = inSight().findLast(
            (one) => y >= one.y && y < one.y + one.line.height && (one.pinned || y >= RULER + fixedShown()),
        );
        return {
            time,
            line: at?.line ?? null,
            row:
                at && at.line.rows > 0
                    ? Math.max(0, Math.min(at.line.rows - 1, Math.floor((y - at.y - GAP / 2) / ROW)))
                    : -1,
            ruler: false,
        };
    }

    function boxUnder(x, y) {
        const { time, line, row } = placeAt(x, y);
        if (!line || row < 0) return null;
        const { width } = size(),
            r = resolutionOf(view.to - view.from, width),
            reach = (NEAR * (view.to - view.from)) / width;
        for (const { tile } of standIns(
            find,
            { kind: 'events', chunk: line.lane.chunk, r, index: Math.floor(time / (CELLS * r)) },
            wholeResolution(shown.end),
        )) {
            const box = boxAt(tile, line.lane, row, time, reach);
            if (box) return box;
        }
        return null;
    }

    /** Which labels run at a place of a folded lane: how many threads, on average over the cell. */
    function densityUnder(x, y) {
        const { time, line } = placeAt(x, y),
            { width } = size(),
            r = resolutionOf(view.to - view.from, width);
        if (!line || line.rows > 0) return null;
        const [found] = standIns(
                find,
                { kind: 'density', chunk: line.lane.chunk, r, index: Math.floor(time / (CELLS * r)) },
                wholeResolution(shown.end),
            ),
            labels = [];
        if (!found) return null;
        const { tile } = found,
            runs = tile.runs[line.lane.at],
            cell = Math.floor((time - tile.from) / tile.r);
        for (let at = 0; at < runs.length; at += 4)
            if (cell >= runs[at + 1] && cell < runs[at + 1] + runs[at + 2])
                labels.push({ label: tile.labels[runs[at]], threads: runs[at + 3] / tile.r });
        return { lane: line.lane, labels };
    }

    /** Goes there, gliding unless @at once. */
    function show(next, at = false) {
        if (at || !view) {
            view = next;
            target = null;
        } else target = next;
        moved = performance.now();
        draw();
    }

    return {
        element,
        canvas,
        scroller,
        update,
        draw,
        placeAt,
        boxUnder,
        densityUnder,
        show,
        get view() {
            return view;
        },
        get goal() {
            return target ?? view;
        },
        get sight() {
            return inSight();
        },
        /** The tiles that show a line now. */
        tilesOf: (line) => {
            const r = resolutionOf(view.to - view.from, size().width);
            return tilesOf(view, r, shown.end).flatMap((index) =>
                standIns(find, { kind: 'events', chunk: line.lane.chunk, r, index }, wholeResolution(shown.end)),
            );
        },
        get texts() {
            return texts;
        },
        /** The view as the address has it: nobody is notified. */
        adopt(next) {
            view = next;
            target = null;
            notified = next;
            draw();
        },
        zoom: (factor, at, once = false) => {
            const from = target ?? view;
            show(zoomed(from, factor, at ?? (from.from + from.to) / 2, shown.end), once);
        },
        pan: (ticks, once = false) => show(panned(target ?? view, ticks, shown.end), once),
        fit: (span, margin) => show(fitted(span, shown.end, margin)),
        /** Only these stand out, or all. */
        setOnly(name) {
            if (shown && shown.only !== name) {
                shown.only = name;
                draw();
            }
        },
        setHover(box) {
            if (box?.start !== hover?.start || box?.lane !== hover?.lane || box?.row !== hover?.row) {
                hover = box;
                draw();
            }
        },
        /** Scrolls until a lane is in sight. */
        reveal(id, row = 0) {
            const line = lines.find(({ lane }) => lane.id === id),
                visible = scroller.clientHeight - RULER - fixedShown();
            if (!line) return;
            const top = line.top + row * ROW;
            if (top < scroller.scrollTop || top + ROW > scroller.scrollTop + visible)
                scroller.scrollTop = Math.max(0, top - visible / 3);
            draw();
        },
        retry: () => store?.retry(),
        /** The same picture on another canvas. */
        paintInto: (other, ratio) => paint(other, sceneOf(ratio, false, null)),
        get frame() {
            return colors.frame;
        },
        palette: paletteOf,
        close() {
            closed = true;
            cancelAnimationFrame(frame);
            clearTimeout(later);
            resize.disconnect();
            colors.close();
            store?.close();
        },
    };
}
