/* timeline_counters.js - counters (CPU, memory, network, ..) as lines over the time that the canvas shows.
 *
 * Each lane is one counter: its mean over the records of a bin, with the least and the largest as a band.  The whole
 * of a counter is asked for once; what is in view is asked for again when the view rests, and drawn in its place where
 * it is finer. */

import { get } from '../api.js';
import { fill, h, penOf, setStyle } from '../dom.js';
import { go } from '../state.js';

const POINTS = 800,
    FIRST = 4,
    HIGH = 36,
    EDGE = 4,
    REST = 150; /* px, ms */

const words = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const compact = (value) => words.format(value);

/** @typedef {{from: number, width: number, rows: any[][], columns: Map<string, number>}} Part  times in ticks */

/**
 * @param {Object} trace
 * @param {ReturnType<import('./timeline_stage.js').timelineStage>} stage
 */
export function timelineCounters(trace, stage) {
    const lanes = h('div', { class: 'tl-counter-lanes' }),
        choice = h('select', { 'aria-label': 'Add a counter', onchange: () => choose([...names, choice.value]) });
    const element = h(
        'section',
        { class: 'tl-counters', 'aria-label': 'Counters', hidden: true },
        lanes,
        h('label', { class: 'tl-counter-choice' }, choice),
    );
    let counters = [],
        names = [],
        known = null,
        place = {},
        asked = '',
        later = 0,
        aborted = new AbortController();
    /** @type {Part|null} */
    let all = null;
    /** @type {Part|null} */
    let near = null;
    let drawn = [];

    /** @param {{perSecond: number, end: number}} next */
    async function update(nextPlace, next) {
        place = nextPlace;
        const anew = known?.perSecond !== next.perSecond || known?.end !== next.end;
        known = next;
        if (anew)
            ({ counters } = await get(`traces/${trace.id}/columns`, { limit: 1 }).catch(() => ({ counters: [] })));
        element.hidden = counters.length === 0;
        if (element.hidden) return;
        const listed = new Set(counters.map(({ counter }) => counter)),
            wanted =
                place.counters === undefined
                    ? counters.slice(0, FIRST).map(({ counter }) => counter)
                    : place.counters.split(',').filter((name) => listed.has(name));
        if (anew || wanted.join() !== names.join()) show(wanted);
        else draw();
    }

    function choose(next) {
        go({ counters: next.join(',') || 'none' }, { replace: true });
    }

    function show(next) {
        names = next;
        drawn = names.map((name) => {
            const { min, max } = counters.find(({ counter }) => counter === name),
                range = `${compact(min)} to ${compact(max)}`,
                caption = h('small', {}, range);
            const canvas = h('canvas', {
                class: 'tl-counter',
                role: 'img',
                'aria-label': `${name}: from ${range}`,
                onpointermove: (event) => {
                    caption.textContent = valueAt(name, event.offsetX / canvas.clientWidth) ?? range;
                },
                onpointerleave: () => {
                    caption.textContent = range;
                },
            });
            return { name, min, max, caption, canvas };
        });
        fill(
            lanes,
            drawn.map(({ name, caption, canvas }) =>
                h(
                    'div',
                    { class: 'tl-counter-lane', data: { counter: name } },
                    h(
                        'div',
                        { class: 'tl-counter-name', title: name },
                        h('span', {}, name),
                        caption,
                        h(
                            'button',
                            {
                                type: 'button',
                                'aria-label': `Hide ${name}`,
                                onclick: () => choose(names.filter((one) => one !== name)),
                            },
                            '\u00d7',
                        ),
                    ),
                    canvas,
                ),
            ),
        );
        const others = counters.map(({ counter }) => counter).filter((name) => !names.includes(name));
        fill(
            choice,
            h('option', { value: '' }, 'Add a counter'),
            others.map((name) => h('option', { value: name }, name)),
        );
        choice.hidden = others.length === 0;
        all = near = null;
        asked = '';
        if (names.length > 0)
            ask({}).then((part) => {
                all = part;
                draw();
            });
        draw();
    }

    /** @returns {Promise<Part|null>} */
    async function ask(window) {
        const { signal } = aborted,
            { perSecond } = known;
        try {
            const answer = await get(
                `traces/${trace.id}/timeseries`,
                { counter: names.join(','), max_points: POINTS, ...window },
                signal,
            );
            return {
                from: answer.data.length > 0 ? answer.data[0][1] * perSecond : 0,
                width: answer.granularity * perSecond,
                rows: answer.data,
                columns: new Map(answer.columns.map((name, at) => [name, at])),
            };
        } catch {
            return null;
        }
    }

    /** Asks for what is in view, once it rests and where the whole is coarser. */
    function rest() {
        const { view } = stage;
        if (!view || !all || names.length === 0 || view.to - view.from > known.end / 2) return;
        const from = Math.max(0, view.from / known.perSecond),
            to = Math.min(known.end, view.to) / known.perSecond,
            request = `${from} ${to} ${names}`;
        if (request === asked || to <= from) return;
        asked = request;
        aborted.abort();
        aborted = new AbortController();
        ask({ from, to }).then((part) => {
            if (part && request === asked) {
                near = part;
                draw();
            }
        });
    }

    function draw() {
        if (element.hidden || !stage.view || !known) return;
        for (const lane of drawn) paint(lane);
        clearTimeout(later);
        later = setTimeout(rest, REST);
    }

    /** The finest there is of a view. */
    function partOf(name, view) {
        const covers =
            near &&
            near.columns.has(name) &&
            near.rows.length > 0 &&
            near.from <= Math.max(0, view.from) + near.width &&
            near.from + near.rows.length * near.width >= Math.min(view.to, known.end) - near.width;
        const part = covers ? near : all;
        return part?.columns.has(name) ? part : null;
    }

    /** What a counter is at a share of the canvas, in words. */
    function valueAt(name, share) {
        const { view } = stage,
            part = view && partOf(name, view),
            row = part?.rows[Math.floor((view.from + share * (view.to - view.from) - part.from) / part.width)],
            column = part?.columns.get(name);
        if (!row || row[column] === null) return null;
        return row[column + 1] === row[column + 2]
            ? compact(row[column])
            : `${compact(row[column])} (${compact(row[column + 1])} to ${compact(row[column + 2])})`;
    }

    function paint({ name, min, max, canvas }) {
        const ratio = window.devicePixelRatio,
            width = Math.round(stage.canvas.clientWidth * ratio),
            height = HIGH * ratio,
            { view, frame } = stage;
        setStyle(canvas, { width: `${stage.canvas.clientWidth}px`, height: `${HIGH}px` });
        if (width === 0) return;
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        }
        const pen = penOf(canvas, { alpha: false }),
            x = (time) => ((time - view.from) / (view.to - view.from)) * width,
            y = (value) =>
                height - EDGE * ratio - (max > min ? (value - min) / (max - min) : 0.5) * (height - 2 * EDGE * ratio);
        pen.fillStyle = frame.paper;
        pen.fillRect(0, 0, width, height);
        const part = partOf(name, view);
        const column = part?.columns.get(name);
        if (!part || column === undefined) return;
        const points = part.rows
            .filter((row) => row[column] !== null)
            .map((row) => ({
                at: x(part.from + (row[0] - part.rows[0][0] + 0.5) * part.width),
                mean: y(row[column]),
                low: y(row[column + 1]),
                high: y(row[column + 2]),
            }));
        pen.fillStyle = frame.selection;
        for (const { at, low, high } of points) pen.fillRect(at - ratio, high, 2 * ratio, Math.max(ratio, low - high));
        pen.strokeStyle = frame.accent;
        pen.lineWidth = 1.5 * ratio;
        pen.beginPath();
        for (const { at, mean } of points) pen.lineTo(at, mean);
        pen.stroke();
        canvas.dataset.points = String(points.length);
    }

    return {
        element,
        update,
        draw,
        close() {
            clearTimeout(later);
            aborted.abort();
        },
    };
}
