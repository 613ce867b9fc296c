/* timeline_tools.js - the controls above the lanes, the search among them, and what colours mean below. */

import { get } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped } from '../format.js';
import { go, here } from '../state.js';
import { field } from './control_bar.js';
import { swatch } from './layers.js';
import { literal } from './narrow.js';
import { attempt } from './notice.js';
import { segmented } from './segmented.js';
import { mixedColor } from './timeline_colors.js';
import { exportMenu } from './timeline_export.js';

const SORTS = [
    ['', 'by name'],
    ['-busy', 'busiest first'],
    ['-events', 'most events first'],
    ['first', 'earliest first'],
    ['-longest', 'longest event first'],
];
const DEPTHS = [
        ['4', '4 rows'],
        ['8', '8 rows'],
        ['', '24 rows'],
        ['100', '100 rows'],
        ['1000000', 'all rows'],
    ],
    FILTERED = [
        ['', 'off'],
        ['on', 'on'],
    ];
const LIKE = [
    ['', 'nothing'],
    ['name', 'same name'],
    ['file_name', 'same file'],
    ['step', 'same step'],
];

/** @type {[string, string][]} */
const COLORS = [
    ['layer', 'Layer'],
    ['name', 'Name'],
    ['category', 'Category'],
    ['process', 'Process'],
];

/** What the place colours by. */
export function colorBy(place) {
    return /** @type {'layer'|'name'|'category'|'process'} */ (
        COLORS.some(([one]) => one === place.color) ? place.color : 'layer'
    );
}

/** Colours by the next thing. */
export function nextColor(place) {
    const next = COLORS[(COLORS.findIndex(([one]) => one === colorBy(place)) + 1) % COLORS.length][0];
    go({ color: next === 'layer' ? null : next }, { replace: true });
}

/** The condition of what is looked for: a part of a name, or after = any. */
export function findCondition(words) {
    const wanted = (words ?? '').trim();
    if (wanted === '' || wanted === '=') return null;
    return wanted.startsWith('=')
        ? wanted.slice(1).trim()
        : `func_name.str.contains(${literal(wanted)}, regex=false, case=false)`;
}

/**
 * What is looked for, and the way from one found event to the next.
 * @param {Object} trace
 * @param {() => {parameters: Object, from: {event: string}|{at: number}}} where  from where on
 */
export function timelineSearch(trace, where) {
    const search = h('input', {
        id: 'find',
        type: 'search',
        placeholder: 'Find by name, or =filter',
        'aria-label': 'Find events',
        autocomplete: 'off',
        spellcheck: 'false',
        onchange: () => find(search.value),
        onkeydown: onKey,
    });
    const count = h('span', { class: 'quiet tl-count', role: 'status' });
    const stepper = (words, sign, direction) =>
        h(
            'button',
            {
                type: 'button',
                class: 'button icon-only small',
                'aria-label': words,
                title: words,
                onclick: () => step(direction),
            },
            sign,
        );

    function onKey(event) {
        if (event.key === 'Escape') search.blur();
        if (event.key === 'Enter' && search.value === (here().find ?? '')) step('next');
    }

    async function find(words) {
        fill(count);
        go({ find: words });
        if (findCondition(words)) await step('next');
    }

    /** The next event that is found, or the one before: from the chosen one, else from where the view begins. */
    async function step(direction) {
        const condition = findCondition(here().find),
            {
                parameters: { filter, preset, filters },
                from,
            } = where();
        if (!condition) return;
        await attempt(async () => {
            const answer = await get(`traces/${trace.id}/timeline/search`, {
                preset,
                filters,
                filter: filter ? `(${filter}) and (${condition})` : condition,
                direction,
                ...from,
            });
            fill(count, answer.matches === 0 ? 'none' : `${grouped(answer.index + 1)} of ${grouped(answer.matches)}`);
            if (answer.event) go({ event: answer.event.id, panel: 'event' });
        });
    }

    return {
        element: h(
            'span',
            { class: 'tl-find' },
            search,
            stepper('Previous found (N)', '\u2039', 'previous'),
            stepper('Next found (n)', '\u203a', 'next'),
            count,
        ),
        step,
        focus: () => search.focus(),
        update(words) {
            if (document.activeElement !== search) search.value = words ?? '';
            if (!words) fill(count);
        },
    };
}

/**
 * @param {{trace: Object, stage: ReturnType<import('./timeline_stage.js').timelineStage>, search: {element:
 *   HTMLElement}, window: () => Object, whole: () => void}} options
 */
export function timelineTools({ trace, stage, search, window, whole }) {
    const left = h('div', {}),
        right = h('span', { class: 'card-tools' }),
        element = h('div', { class: 'tl-bar' }, left, search.element, right),
        key = h('div', { class: 'legend tl-legend' });
    const choice = (id, label, options, chosen, title = '') =>
        field(
            label,
            h(
                'select',
                { id, title, onchange: (event) => go({ [id]: event.target.value }, { replace: true }) },
                options.map(([one, words]) => h('option', { value: one, selected: one === chosen }, words)),
            ),
        );
    const zoom = (sign, words, factor) =>
        h(
            'button',
            {
                type: 'button',
                class: 'button small',
                'aria-label': words,
                title: words,
                onclick: () => stage.zoom(factor),
            },
            sign,
        );

    /**
     * @param {Object} place
     * @param {import('./timeline_stage.js').Shown} shown
     * @param {{density: Object, left: number}} known
     */
    function update(place, shown, known) {
        const { layers, perSecond, hidden, color } = shown,
            legend = color === 'layer' ? layers : [];
        refill(
            left,
            h(
                'div',
                { class: 'field' },
                h('span', {}, 'Colour by'),
                segmented('Colour by', COLORS, color, (one) =>
                    go({ color: one === 'layer' ? null : one }, { replace: true }),
                ),
            ),
            choice('lanesort', 'Sort lanes', SORTS, shown.sort),
            choice(
                'depth',
                'Rows of a thread',
                DEPTHS,
                DEPTHS.some(([one]) => one === place.depth) ? place.depth : '',
                'Deeper rows of an open thread show how much runs in them',
            ),
            choice(
                'filtered',
                'Preset filters',
                FILTERED,
                place.filtered === 'on' ? 'on' : '',
                'Whether events that the preset drops are left out here',
            ),
            choice('like', 'Highlight', LIKE, place.like ?? '', 'What stands out with the event under the pointer'),
        );
        refill(
            right,
            hidden.size > 0 &&
                h(
                    'button',
                    { type: 'button', class: 'button small', onclick: () => go({ hide: null }, { replace: true }) },
                    `Show ${hidden.size} hidden`,
                ),
            zoom('+', 'Zoom in (w)', 0.5),
            zoom('\u2212', 'Zoom out (s)', 2),
            h(
                'button',
                { type: 'button', class: 'button small', title: 'The whole job (0)', onclick: whole },
                'Whole job',
            ),
            exportMenu({
                trace,
                stage,
                window,
                span: () => [stage.view.from / perSecond, stage.view.to / perSecond],
                legend: () => legend,
            }),
        );
        drawKey(legend, known, color);
    }

    function drawKey(legend, { density, left: more }, color) {
        const present = new Set(density.cells.label.map((label) => density.labels[label]));
        fill(
            key,
            legend
                .filter(({ name }) => present.has(name))
                .map((layer) => h('span', { class: 'legend-item' }, swatch(layer), layer.name)),
            color !== 'layer' &&
                h(
                    'span',
                    { class: 'hint' },
                    Array.from({ length: 8 }, (_, at) =>
                        swatch(/** @type {any} */ ({ color: mixedColor(at), hatched: false })),
                    ),
                    ` a colour for each ${color}`,
                ),
            h('span', { class: 'hint tl-hint' }, 'w s zoom, a d move, drag pans, Shift and drag selects, ? all keys'),
            more > 0 && h('span', { class: 'hint' }, `${grouped(more)} more lanes do not fit.`),
        );
    }

    return { element, key, update };
}
