/* whatif_scenario.js - a scenario by sliders; the place holds it, a key for each factor. */

import { h } from '../dom.js';
import { go } from '../state.js';
import { field } from './control_bar.js';

/** X: key in the place, member of the scenario, label, range, and what a value means. */
const SLIDERS = [
    {
        key: 'workers',
        label: 'Workers a rank',
        min: 0,
        max: 32,
        step: 1,
        traced: (model) => model.workers,
        words: (value) => (value === 0 ? 'none' : String(value)),
    },
    {
        key: 'prefetch',
        label: 'Prefetch',
        min: 1,
        max: 16,
        step: 1,
        traced: (model) => model.prefetch ?? 2,
        words: (value) => `${value} a worker`,
    },
    ...[
        ['storage', 'Storage takes'],
        ['preprocess', 'Preprocessing takes'],
        ['other', 'Other work takes'],
        ['compute', 'Computing takes'],
        ['checkpoint', 'Checkpoints take'],
    ].map(([key, label]) => ({ key, label, min: 0, max: 2, step: 0.05, traced: () => 1, words: factorWords })),
];

function factorWords(value) {
    return value === 0 ? 'no time' : value === 1 ? 'as traced' : `${Number(value.toFixed(2))} \u00d7`;
}

/** The scenario that a place holds, as the API has it; values that make no sense are left out. */
export function scenarioOf(place) {
    const scenario = {};
    for (const { key, min, max } of SLIDERS) {
        const value = Number(place[`if_${key}`]);
        if (place[`if_${key}`] !== undefined && value >= min && value <= max) scenario[key] = value;
    }
    if (Number(place.if_cache) > 0) scenario.cache = { bytes: Math.round(Number(place.if_cache) * 1024 ** 3) };
    if (place.if_stragglers === 'median') scenario.stragglers = 'median';
    if (place.if_barrier === 'true' || place.if_barrier === 'false') scenario.barrier = place.if_barrier === 'true';
    return scenario;
}

function slider({ key, label, min, max, step, traced, words }, scenario, model) {
    const value = scenario[key] ?? traced(model),
        shown = h('output', {}, words(value));
    return h(
        'div',
        { class: 'field' },
        h('label', { for: `if-${key}` }, `${label}: `, shown),
        h('input', {
            id: `if-${key}`,
            type: 'range',
            min,
            max,
            step,
            value,
            oninput: (event) => {
                shown.textContent = words(Number(event.target.value));
            },
            onchange: (event) =>
                go({ [`if_${key}`]: Number(event.target.value) === traced(model) ? null : event.target.value }),
        }),
    );
}

/**
 * The controls of a scenario.
 * @param {Object} place
 * @param {Object} answer  of the API: its model says what was traced
 */
export function scenarioBar(place, { model }) {
    const scenario = scenarioOf(place);
    const choice = (key, label, options) =>
        field(
            label,
            h(
                'select',
                { id: `if-${key}`, onchange: (event) => go({ [`if_${key}`]: event.target.value }) },
                options.map(([value, words]) =>
                    h('option', { value, selected: (place[`if_${key}`] ?? '') === value }, words),
                ),
            ),
        );
    const none = Object.fromEntries(
        [...SLIDERS.map(({ key }) => key), 'cache', 'stragglers', 'barrier'].map((key) => [`if_${key}`, null]),
    );
    return [
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'What if'),
            h(
                'div',
                { class: 'card-tools' },
                h(
                    'button',
                    { class: 'button small', disabled: Object.keys(scenario).length === 0, onclick: () => go(none) },
                    'As it was',
                ),
            ),
        ),
        h(
            'div',
            { class: 'controls' },
            SLIDERS.map((one) => slider(one, scenario, model)),
            choice('cache', 'Page cache a host', [
                ['', 'none'],
                ['1', '1 GiB'],
                ['16', '16 GiB'],
                ['64', '64 GiB'],
                ['256', '256 GiB'],
                ['1048576', 'for everything'],
            ]),
            choice('stragglers', 'Stragglers', [
                ['', 'as traced'],
                ['median', 'none: all as the median rank'],
            ]),
            choice('barrier', 'Barrier after steps', [
                ['', `as traced: ${model.barrier ? 'yes' : 'no'}`],
                ['true', 'yes'],
                ['false', 'no'],
            ]),
        ),
    ];
}
