/* series.js - the time series of one metric by layer: choice of metric and shape, legend, chart, and the brush that sets the
 * page's time range. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { chart, legend } from './chart.js';
import { copyMenu } from './copy.js';
import { empty, loading } from './notice.js';

/* What can be shown; only what adds up over layers can be stacked. */
const METRICS = [
    { key: 'time', label: 'Time in calls', unit: 's', adds: true },
    { key: 'busy', label: 'Busy time', unit: 's' },
    { key: 'count', label: 'Events', unit: 'count', adds: true },
    { key: 'size', label: 'Bytes', unit: 'B', adds: true },
    { key: 'bw', label: 'Bandwidth per stream', unit: 'B/s' },
    { key: 'bw_busy', label: 'Bandwidth of the job', unit: 'B/s' },
    { key: 'ops', label: 'Calls per second of call time', unit: '1/s' },
];

const HEIGHT = 260;
const POINTS = 240;

/**
 * Bin widths that people count in; the narrowest that gives at most POINTS bins over @span seconds.
 * @param {number} span
 */
export function niceGranularity(span) {
    const raw = Math.max(span, 1e-6) / POINTS;
    const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
    return Math.max(1e-6, Number(step.toPrecision(3)));
}

/** The series card of a trace page. */
export function seriesCard() {
    const head = h('div', { class: 'card-tools' }), note = h('small', {});
    const chips = h('div', {});
    const box = h('div', { class: 'series-box' });
    const picture = chart({ onRange: (from, to) => go({ from: round(from), to: round(to) }) });
    const element = h('section', { class: 'card', 'aria-label': 'Time series' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Over time'), note, head), chips, box);
    let work = null, asked = null, answer = null;

    /**
     * @param {{trace: Object, tree: import('./layers.js').Layer[], present: Set<string>, parameters: Object, place: Object, granularity: number}} view
     */
    function update(view) {
        const metric = METRICS.find((one) => one.key === view.place.metric) ?? METRICS[0];
        const stacked = metric.adds && view.place.shape !== 'lines';
        const shown = shownLayers(view, stacked);
        const parameters = { ...view.parameters, metrics: metric.key, granularity: view.granularity };
        const path = `traces/${view.trace.id}/timeseries`;
        const asTable = view.place.as === 'table';
        fill(head, tools(metric, stacked, asTable, path, parameters, view));
        fill(chips, legend(view.tree.filter((layer) => view.present.has(layer.name)), shown, (name, alone) => toggle(name, alone, shown, view, stacked)));
        const show = () => draw(view, metric, stacked, shown, asTable);
        const question = JSON.stringify([path, parameters, view.trace.version]);
        if (question === asked && answer) { show(); return; }
        asked = question;
        work?.abort();
        answer = null;
        work = loading(box, {
            what: `Computing ${metric.label.toLowerCase()} of ${view.present.size} layers`, height: HEIGHT,
            load: (signal) => get(path, parameters, signal),
            show: (table) => { answer = table; show(); },
            retry: () => { asked = null; update(view); },
        });
    }

    function draw(view, metric, stacked, shown, asTable) {
        const times = column(answer, 'time_start');
        if (!times || times.length === 0 || view.present.size === 0) {
            fill(box, empty('No events here', h('p', {}, 'No layer has an event in this time range that passes the filter.')));
            return;
        }
        if (picture.element.parentElement !== box) fill(box, picture.element);
        const layers = view.tree.filter((layer) => shown.has(layer.name));
        const series = layers.map((layer) => ({ name: layer.name, layer, values: column(answer, `${layer.name}_${metric.key}`) ?? [] }));
        const width = answer.granularity ?? view.granularity;
        fill(note, `in bins of ${text(width, 's')}; drag to choose a time range`);
        picture.update({ times, width, unit: metric.unit, stacked, series, label: `${metric.label} by layer over time` }, asTable);
    }

    function tools(metric, stacked, asTable, path, parameters, view) {
        return [
            h('label', { class: 'visually-hidden', for: 'metric' }, 'Metric'),
            h('select', { id: 'metric', onchange: (event) => go({ metric: event.target.value }) },
                METRICS.map((one) => h('option', { value: one.key, selected: one === metric }, one.label))),
            segmented('Shape', [['stacked', 'Stacked'], ['lines', 'Lines']], stacked ? 'stacked' : 'lines', (shape) => go({ shape, layers: null }),
                metric.adds ? null : 'stacked', 'This metric does not add up over layers'),
            segmented('Show as', [['chart', 'Chart'], ['table', 'Table']], asTable ? 'table' : 'chart', (as) => go({ as: as === 'table' ? 'table' : null })),
            copyMenu(path, parameters, `${view.trace.name}-${metric.key}`, [{ text: 'Save as PNG', action: () => savePng(picture, view.trace.name, metric.key) }]),
        ];
    }
    return { element, update, close() { work?.abort(); picture.close(); } };
}

function savePng(picture, name, metric) {
    const address = picture.png();
    if (address) h('a', { href: address, download: `${name}-${metric}.png` }).click();
}

function round(seconds) {
    return Number(seconds.toFixed(6));
}

function column(answer, name) {
    const index = answer.columns.indexOf(name);
    return index < 0 ? null : answer.data.map((row) => row[index]);
}

/** The URL's choice; else for lines every layer with events, stacked only those that hold no other: parents contain their children's time. */
function shownLayers({ place, tree, present }, stacked) {
    if (place.layers !== undefined) return new Set(place.layers.split(',').filter((name) => present.has(name)));
    const holdsAnother = (layer) => tree.some((other) => other.parent === layer.name && present.has(other.name));
    return new Set(tree.filter((layer) => present.has(layer.name) && !(stacked && holdsAnother(layer))).map((layer) => layer.name));
}

function toggle(name, alone, shown, view, stacked) {
    const next = alone ? new Set([name]) : new Set(shown);
    if (!alone && !next.delete(name)) next.add(name);
    const usual = shownLayers({ ...view, place: { ...view.place, layers: undefined } }, stacked);
    const same = next.size === usual.size && [...next].every((one) => usual.has(one));
    go({ layers: same ? null : [...next].join(',') || '-' });
}

function segmented(label, options, chosen, onChoose, disabled, why) {
    return h('div', { class: 'segmented', role: 'group', 'aria-label': label }, options.map(([key, words]) =>
        h('button', { 'aria-pressed': String(key === chosen), disabled: key === disabled, title: key === disabled ? why : null, onclick: () => onChoose(key) }, words)));
}
