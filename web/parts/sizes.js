/* sizes.js - how large a layer's transfers are, or how long its calls: histograms whose bins grow by factors. */

import { getOf } from '../api.js';
import { go } from '../state.js';
import { bars } from './bars.js';
import { chartCard } from './chart_card.js';
import { isCompatible } from './control_bar.js';
import { durationsOf } from './durations.js';
import { legend, toggled } from './legend.js';
import { SIZE_BINS } from './metrics.js';
import { segmented } from './segmented.js';
import { columnOf } from './table.js';

/* Kinds of transfers that DFAnalyzer distinguishes. */
const KINDS = [
    { name: 'all', color: null },
    { name: 'read', color: 'var(--layer-6)' },
    { name: 'write', color: 'var(--layer-2)' },
];

export function sizesCard() {
    const card = chartCard({ name: 'sizes', title: 'Over calls', kind: bars });

    /** @param {import('./distribution.js').LayerView} view */
    function update(view) {
        const { trace, place, parameters, layer, row, columns } = view;
        const compatible = isCompatible(place);
        const nameOf = (kind, bin) => (compatible ? `${kind === 'all' ? '' : `${kind}_`}${bin}_sum` : bin);
        const kinds = KINDS.map((kind) => ({ ...kind, color: kind.color ?? layer.color, hatched: false })).filter(
            (kind) => (compatible || kind.name === 'all') && columns.includes(nameOf(kind.name, SIZE_BINS[0].column)),
        );
        const bySize = row.size > 0 && kinds.length > 0,
            byDuration = view.condition !== undefined;
        card.element.hidden = !bySize && !byDuration;
        if (card.element.hidden) return;
        const log = place.sizes === 'log',
            duration = byDuration && (!bySize || place.calls === 'duration');
        const tools = [
            bySize &&
                byDuration &&
                segmented(
                    'Calls by',
                    [
                        ['size', 'Size'],
                        ['duration', 'Duration'],
                    ],
                    duration ? 'duration' : 'size',
                    (key) => go({ calls: key === 'size' ? null : key }),
                ),
            segmented(
                'Axis',
                [
                    ['linear', 'Linear'],
                    ['log', 'Log'],
                ],
                log ? 'log' : 'linear',
                (key) => go({ sizes: key === 'log' ? 'log' : null }),
            ),
        ];
        if (duration) {
            card.update({ ...durationsOf(view, log), tools });
            return;
        }
        const shown = new Set(place.kinds ? place.kinds.split(',') : kinds.map(({ name }) => name));
        const path = `traces/${trace.id}/views/layer`;
        const asked = {
            ...parameters,
            layer: layer.name,
            by: compatible ? 'proc_name' : 'process',
            columns: kinds.flatMap((kind) => SIZE_BINS.map(({ column }) => nameOf(kind.name, column))).join(','),
            limit: 100000,
        };
        card.update({
            what: `Counting the transfers of ${layer.name} by size`,
            path,
            parameters: asked,
            load: (signal) => getOf(trace, path, asked, signal),
            file: `${trace.name}-${layer.name}-sizes`,
            tools,
            note: 'by size',
            above:
                kinds.length > 1 &&
                legend(
                    /** @type {any} */ (kinds),
                    shown,
                    (name, alone) => go({ kinds: [...toggled(shown, name, alone)].join(',') || '-' }),
                    'Transfers shown',
                ),
            draw: (answer) => {
                const series = kinds
                    .filter(({ name }) => shown.has(name))
                    .map((kind) => ({
                        ...kind,
                        values: SIZE_BINS.map(({ column }) => sum(columnOf(answer, nameOf(kind.name, column)))),
                    }));
                if (series.every(({ values }) => values.every((count) => count === 0))) return null;
                return {
                    names: SIZE_BINS.map(({ label }) => label),
                    ticks: SIZE_BINS.map(({ tick }) => tick),
                    series,
                    unit: 'count',
                    log,
                    label: `Transfers of ${layer.name} by size`,
                    head: 'Size',
                };
            },
        });
    }
    return { element: card.element, update, close: card.close };
}

function sum(values) {
    return values.reduce((total, one) => total + (one ?? 0), 0);
}
