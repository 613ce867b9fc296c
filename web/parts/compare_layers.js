/* compare_layers.js - the layers of runs beside each other: of two runs all metrics, of more one metric at a time. */

import { h } from '../dom.js';
import { go } from '../state.js';
import { change, changeWords } from './compare_change.js';
import { runSwatch } from './compare_runs.js';
import { copyMenu } from './copy.js';
import { isPresent, swatch } from './layers.js';
import { segmented } from './segmented.js';
import { scrolling, table } from './table.js';

/**
 * @type {{key: string, label: string, unit: string, better: import('./compare_change.js').Better, title: string}[]}
 */
export const METRICS = [
    { key: 'time', label: 'Call time', unit: 's', better: 'lower', title: 'Sum of the durations of all events' },
    { key: 'busy', label: 'Wall time', unit: 's', better: 'lower', title: 'Length of the union of all events' },
    {
        key: 'exposed_group_sum',
        label: 'Not overlapped',
        unit: 's',
        better: 'lower',
        title: 'Wall time during which the same rank was not computing, added up over ranks',
    },
    { key: 'size', label: 'Size', unit: 'B', better: 'neither', title: 'Bytes read and written' },
    {
        key: 'bw_busy',
        label: 'Bandwidth',
        unit: 'B/s',
        better: 'higher',
        title: 'Size over busy time: what the job got while it was transferring',
    },
    { key: 'count', label: 'Events', unit: 'count', better: 'neither', title: 'Number of events' },
];

/** The metrics that a preset's layers have: what is not overlapped is there only beside compute. */
export function metricsOf(preset) {
    return METRICS.filter(({ key }) => key !== 'exposed_group_sum' || preset.overlap_with);
}

/** What /compare is asked for. */
export function layerColumns(preset) {
    const columns = metricsOf(preset).flatMap(({ key }) => [key, `${key}_baseline`, `${key}_delta`, `${key}_ratio`]);
    return ['name', 'trace', ...columns].join(',');
}

/**
 * @param {Object} view
 * @param {import('./compare_runs.js').Run[]} view.runs
 * @param {Object} view.answer  of /compare: for each layer a row of each run, in their order
 * @param {import('./layers.js').Layer[]} view.tree
 * @param {Object} view.parameters
 * @param {Object} view.place
 * @param {Object} view.preset
 * @param {import('./compare_scale.js').Scale} view.scale
 */
export function compareLayers({ runs, answer, tree, parameters, place, preset, scale }) {
    const byLayer = new Map(),
        metrics = metricsOf(preset);
    for (const [index, values] of answer.data.entries()) {
        const whole = Object.fromEntries(answer.columns.map((name, at) => [name, values[at]]));
        const scaled = metrics.map(({ key }) => [key, scale.of(index % runs.length, key, whole[key])]);
        const row = { ...whole, ...Object.fromEntries(scaled) };
        if (!byLayer.has(row.name)) byLayer.set(row.name, []);
        byLayer.get(row.name)[index % runs.length] = row;
    }
    const rows = tree
        .filter((layer) => byLayer.get(layer.name)?.some(isPresent))
        .map((layer) => ({ layer, of: byLayer.get(layer.name) }));
    const others = runs.map((run, at) => ({ run, at })).slice(1);
    const metric = metrics.find(({ key }) => key === place.layer_metric) ?? metrics[0];
    /** @type {{label: any, title?: string, columns: import('./table.js').Column[]}[]} */
    const groups =
        others.length === 1
            ? metrics.map((one) => ({
                  label: one.label,
                  title: one.title,
                  columns: pairColumns(one, others[0], runs[0]),
              }))
            : [
                  {
                      label: [runSwatch(runs[0]), ` ${runs[0].name}`],
                      columns: [valueColumn(metric, { run: runs[0], at: 0 }, 'baseline')],
                  },
                  ...others.map((other) => ({
                      label: [runSwatch(other.run), ` ${other.run.name}`],
                      columns: pairColumns(metric, other, null),
                  })),
              ];
    return h(
        'section',
        { class: 'card', 'aria-label': 'Layers' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'Layers'),
            h(
                'div',
                { class: 'card-tools' },
                others.length > 1 &&
                    segmented(
                        'Metric',
                        metrics.map(({ key, label, title }) => [key, label, title]),
                        metric.key,
                        (key) => go({ layer_metric: key }),
                    ),
                copyMenu('compare', parameters, 'compare-layers'),
            ),
        ),
        scrolling(
            'Layer table',
            table({
                caption: 'Layers',
                class: 'layers compare',
                rows,
                columns: [
                    { key: 'name', label: 'Layer', class: 'head', cell: nameCell },
                    ...groups.flatMap(({ columns }) => columns),
                ],
                groups: [
                    { label: '', span: 1 },
                    ...groups.map(({ label, title, columns }) => ({ label, title, span: columns.length })),
                ],
            }),
        ),
        changeWords(),
    );
}

function nameCell({ layer }) {
    return h(
        'button',
        {
            type: 'button',
            class: 'layer-name',
            title: `${layer.label}: click to show it over time`,
            style: { '--depth': layer.depth },
            onclick: () => go({ layer: layer.name }),
        },
        swatch(layer),
        layer.name,
    );
}

/** @returns {import('./table.js').Column} */
function valueColumn({ key, unit }, { run, at }, label) {
    return { key: `${key} ${run.id}`, label, unit, get: ({ of }) => numberOf(of[at], key) };
}

/** @returns {import('./table.js').Column[]} */
function pairColumns(metric, other, baseline) {
    const { key, unit, better } = metric;
    return [
        {
            key: `${key} change ${other.run.id}`,
            label: 'change',
            class: 'number',
            cell: ({ of }) => change(numberOf(of[other.at], key), numberOf(of[0], key), unit, better),
        },
        valueColumn(metric, other, 'now'),
        ...(baseline ? [valueColumn(metric, { run: baseline, at: 0 }, 'baseline')] : []),
    ];
}

/** Layers that move no bytes have no size. */
function numberOf(row, key) {
    return (key === 'size' ? row?.size || null : row?.[key]) ?? null;
}
