/* series.js - the time series of one metric by layer: choice of metric and shape, legend, and chart. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { plural, text } from '../format.js';
import { go } from '../state.js';
import { bandOf } from './band.js';
import { chartCard } from './chart_card.js';
import { isCompatible } from './control_bar.js';
import { legend, toggled } from './legend.js';
import { lines } from './lines.js';
import { segmented } from './segmented.js';
import { columnOf } from './table.js';

/* What can be shown; only what adds up over layers can be stacked.  `compatible`: what DFAnalyzer calls it. */
const METRICS = [
    { key: 'time', compatible: 'time_sum', label: 'Call time', unit: 's', adds: true },
    { key: 'busy', label: 'Wall time', unit: 's' },
    { key: 'count', compatible: 'count_sum', label: 'Events', unit: 'count', adds: true },
    { key: 'size', compatible: 'size_sum', label: 'Bytes', unit: 'B', adds: true },
    { key: 'bw', compatible: 'bw_mean', label: 'Bandwidth per call', unit: 'B/s', rate: true },
    { key: 'bw_busy', label: 'Bandwidth of the job', unit: 'B/s', rate: true },
    { key: 'ops', compatible: 'ops_mean', label: 'Calls per second of call time', unit: '1/s', rate: true },
];

/* Areas have no more bins than a screen has pixels; lines are thinned while they are drawn, by their extremes. */
const MOST_AREAS = 1500,
    MOST_POINTS = 20000,
    FINER = 10; /* bins in a bin, whose least and most are shown */

/** The series card of a trace page. */
export function seriesCard() {
    const card = chartCard({ name: 'series', title: 'Over time', kind: lines });

    /**
     * @param {{trace: Object, tree: import('./layers.js').Layer[], present: Set<string>, parameters: Object, place:
     *   Object, granularity: number, usual?: string, ranks?: number}} view
     *   usual: the layer that is shown unless others are chosen; ranks: how many compute, so that a bin has as many
     *   times its width
     */
    function update(view) {
        const { trace, tree, present, place, granularity } = view;
        const offered = METRICS.filter((one) => !isCompatible(place) || one.compatible);
        const metric = offered.find((one) => one.key === place.metric) ?? offered[0];
        const column = isCompatible(place) ? metric.compatible : metric.key;
        const stacked = metric.adds && place.shape !== 'lines';
        const shown = shownLayers(view, stacked);
        const alone =
            isCompatible(place) && shown.size === 1
                ? [...shown][0]
                : undefined; /* all of them would take the join of their views */
        const path = `traces/${trace.id}/timeseries`,
            parameters = {
                ...view.parameters,
                layer: alone,
                metrics: column,
                granularity,
                max_points: stacked ? MOST_AREAS : MOST_POINTS,
            };
        const finer = { ...parameters, granularity: Number((granularity / FINER).toPrecision(6)) },
            banded = !stacked && !isCompatible(place) && granularity >= FINER * 1e-6;
        const ask = async (signal) => {
            const [answer, fine] = await Promise.all(
                (banded ? [parameters, finer] : [parameters]).map((one) => getOf(trace, path, one, signal)),
            );
            return { ...answer, fine };
        };
        card.update({
            what: `Computing ${metric.label.toLowerCase()} of ${present.size} layers`,
            path,
            parameters,
            load: (signal) => ask(signal),
            file: `${trace.name}-${metric.key}`,
            tools: tools(offered, metric, stacked),
            above: legend(
                tree.filter((layer) => present.has(layer.name)),
                shown,
                (name, alone) => choose(name, alone, shown, view, stacked),
            ),
            note: (answer) =>
                `in bins of ${text(answer.granularity ?? granularity, 's')}${answer.fine ? `, pale: the least and the most of bins of ${text(answer.fine.granularity, 's')}` : ''}; drag to choose a time range`,
            draw: (answer) =>
                present.size === 0
                    ? null
                    : dataOf(
                          answer,
                          tree.filter((layer) => shown.has(layer.name)),
                          metric,
                          (layer) => (alone ? column : `${layer.name}_${column}`),
                          stacked,
                          granularity,
                          metric.key === 'time' ? view.ranks : undefined,
                      ),
        });
    }
    return { element: card.element, update, close: card.close };
}

function dataOf(answer, layers, metric, columnFor, stacked, granularity, ranks) {
    const times = columnOf(answer, 'time_start');
    if (!times?.length) return null;
    const series = layers.map((layer) => ({
        name: layer.name,
        layer,
        values: columnOf(answer, columnFor(layer)) ?? [],
        band: answer.fine && bandOf(answer, answer.fine, columnFor(layer), { finer: FINER, rate: metric.rate }),
    }));
    const width = answer.granularity ?? granularity;
    return {
        times,
        width,
        capacity: ranks
            ? { value: ranks * width, words: `${plural(ranks, 'rank')} \u00d7 ${text(width, 's')}` }
            : undefined,
        unit: metric.unit,
        stacked,
        series,
        label: `${metric.label} by layer over time`,
    };
}

function tools(offered, metric, stacked) {
    return [
        h('label', { class: 'visually-hidden', for: 'metric' }, 'Metric'),
        h(
            'select',
            { id: 'metric', onchange: (event) => go({ metric: event.target.value }) },
            offered.map((one) => h('option', { value: one.key, selected: one === metric }, one.label)),
        ),
        segmented(
            'Shape',
            [
                ['stacked', 'Stacked'],
                ['lines', 'Lines'],
            ],
            stacked ? 'stacked' : 'lines',
            (shape) => go({ shape, layers: null }),
            metric.adds ? null : 'stacked',
            'This metric does not add up over layers',
        ),
    ];
}

/**
 * The URL's choice; else for lines every layer with events, stacked only those that hold no other: parents contain
 * their children's time.
 */
function shownLayers({ place, tree, present, usual = '' }, stacked) {
    if (place.layers !== undefined) return new Set(place.layers.split(',').filter((name) => present.has(name)));
    if (usual) return new Set([usual]);
    const holdsAnother = (layer) => tree.some((other) => other.parent === layer.name && present.has(other.name));
    return new Set(
        tree
            .filter((layer) => present.has(layer.name) && !(stacked && holdsAnother(layer)))
            .map((layer) => layer.name),
    );
}

function choose(name, alone, shown, view, stacked) {
    const next = toggled(shown, name, alone);
    const usual = shownLayers({ ...view, place: { ...view.place, layers: undefined } }, stacked);
    const same = next.size === usual.size && [...next].every((one) => usual.has(one));
    go({ layers: same ? null : [...next].join(',') || '-' });
}
