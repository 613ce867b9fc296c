/* compare_series.js - a metric of one layer over time, all runs over each other, each from its own start. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { chartCard } from './chart_card.js';
import { legend, toggled } from './legend.js';
import { lines } from './lines.js';
import { columnOf } from './table.js';

/* `adds`: where nothing happened it is 0, not missing. */
const METRICS = [
    { key: 'time', adds: true, label: 'Call time', unit: 's' },
    { key: 'busy', adds: true, label: 'Wall time', unit: 's' },
    { key: 'bw_busy', label: 'Bandwidth of the job', unit: 'B/s' },
    { key: 'size', adds: true, label: 'Bytes', unit: 'B' },
    { key: 'count', adds: true, label: 'Events', unit: 'count' },
];

export function compareSeries() {
    const card = chartCard({ name: 'series', title: 'Over time', kind: lines });

    /**
     * @param {Object} view
     * @param {import('./compare_runs.js').Run[]} view.runs
     * @param {import('./layers.js').Layer[]} view.layers  that have events
     * @param {import('./layers.js').Layer} view.layer
     * @param {Object} view.parameters
     * @param {Object} view.place
     * @param {number} view.granularity
     * @param {import('./compare_scale.js').Scale} view.scale
     */
    function update({ runs, layers, layer, parameters, place, granularity, scale }) {
        const metric = METRICS.find(({ key }) => key === place.metric) ?? METRICS[0];
        const asked = { ...parameters, metrics: metric.key, granularity };
        const path = (run) => `traces/${run.id}/timeseries`;
        const hidden = new Set((place.hide ?? '').split(',')),
            shown = new Set(runs.map(({ id }) => id).filter((id) => !hidden.has(id)));
        const marks = runs.map(
            (run) => /** @type {any} */ ({ name: run.name, color: run.color, hatched: !run.baseline }),
        );
        const shownNames = new Set(runs.filter(({ id }) => shown.has(id)).map(({ name }) => name));
        const hide = (name, alone) => {
            const next = toggled(shownNames, name, alone);
            go({
                hide: runs
                    .filter((run) => !next.has(run.name))
                    .map(({ id }) => id)
                    .join(','),
            });
        };
        card.update({
            what: `Computing ${metric.label.toLowerCase()} of ${runs.length} runs`,
            path: path(runs[0]),
            parameters: asked,
            besides: runs.map(({ id }) => id),
            file: `compare-${layer.name}-${metric.key}`,
            exported: {
                path: 'compare',
                parameters: {
                    traces: runs.map(({ id }) => id).join(','),
                    baseline: runs[0].id,
                    ...parameters,
                    view: 'layer',
                    layer: layer.name,
                    by: 'time_range',
                    granularity,
                    columns: `time_range,trace,${metric.key}`,
                },
            },
            load: (signal) => Promise.all(runs.map((run) => getOf(run.trace, path(run), asked, signal))),
            tools: [
                select(
                    'Layer',
                    'compare-layer',
                    layers.map(({ name }) => [name, name]),
                    layer.name,
                    (name) => go({ layer: name }),
                ),
                select(
                    'Metric',
                    'compare-metric',
                    METRICS.map(({ key, label }) => [key, label]),
                    metric.key,
                    (key) => go({ metric: key }),
                ),
            ],
            above: legend(marks, shownNames, hide, 'Runs shown'),
            note: `each from its own start, in bins of ${text(granularity, 's')}; drag to choose a time range`,
            draw: (answers) => dataOf(answers, { runs, marks, shown, layer, metric, granularity, scale }),
        });
    }
    return { element: card.element, update, close: card.close };
}

function select(label, id, options, chosen, onChoose) {
    return [
        h('label', { class: 'visually-hidden', for: id }, label),
        h(
            'select',
            { id, onchange: (event) => onChoose(event.target.value) },
            options.map(([key, words]) => h('option', { value: key, selected: key === chosen }, words)),
        ),
    ];
}

/** All runs have the times of all: where one has ended, its line does too. */
function dataOf(answers, { runs, marks, shown, layer, metric, granularity, scale }) {
    const width = answers[0].granularity ?? granularity;
    const bins = answers.map((answer) =>
        (columnOf(answer, 'time_start') ?? []).map((time) => Math.round(time / width)),
    );
    const all = bins.flat();
    if (all.length === 0) return null;
    const first = all.reduce((a, b) => Math.min(a, b)),
        last = all.reduce((a, b) => Math.max(a, b));
    const series = runs.map((run, at) => {
        const found = columnOf(answers[at], `${layer.name}_${metric.key}`) ?? [],
            none = metric.adds && found.length > 0 ? 0 : null;
        const values = Array.from({ length: last - first + 1 }, (_, index) =>
            (first + index) * width < run.trace.job_time ? none : null,
        );
        bins[at].forEach((bin, index) => {
            values[bin - first] = found[index] === undefined ? none : scale.of(at, metric.key, found[index]);
        });
        return { run, name: run.name, layer: marks[at], values };
    });
    return {
        times: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * width),
        width,
        unit: metric.unit,
        stacked: false,
        series: series.filter(({ run }) => shown.has(run.id)),
        label: `${metric.label} of ${layer.name} over time, by run`,
    };
}
