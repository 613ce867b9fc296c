/* kinds.js - the kinds of calls that a layer consists of, as its derived metrics tell them apart. */

import { h } from '../dom.js';
import { text } from '../format.js';
import { copyMenu } from './copy.js';
import { toggle } from './narrow.js';
import { bar, scrolling, table } from './table.js';

/** When all data calls are reads, or all writes, `data` repeats that kind and is left out. */
function isDouble(kind, all) {
    const same = (one) => ['count', 'time', 'size'].every((key) => one[key] === kind[key]);
    return kind.name === 'data' && all.some((one) => one !== kind && same(one));
}

/**
 * @param {import('./distribution.js').LayerView} view
 */
export function kindsCard({ trace, parameters, layer, metrics, row }) {
    /** @type {Object[]} */
    const all = metrics.map(({ name, condition }) => ({
        name,
        condition,
        ...Object.fromEntries(['count', 'time', 'busy', 'size', 'bw'].map((key) => [key, row[`${name}_${key}`]])),
    }));
    const rows = all.filter((kind) => kind.count > 0 && !isDouble(kind, all)).sort((a, b) => b.time - a.time);
    const columns = [
        {
            key: 'name',
            label: 'Calls',
            class: 'head',
            cell: (kind) =>
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'row-name name',
                        title: `${kind.condition}\nClick: show only these`,
                        onclick: () => toggle(`(${kind.condition})`),
                    },
                    kind.name,
                ),
        },
        {
            key: 'share',
            label: 'Share of time',
            class: 'bar-cell',
            cell: (kind) => {
                const share = row.time > 0 ? kind.time / row.time : null,
                    words = text(share, 'share');
                return h(
                    'span',
                    { class: 'bar-with-figure' },
                    bar(share, layer.color, 0, `${words} of the time of ${layer.name}`),
                    h('span', { class: 'figure' }, words),
                );
            },
        },
        { key: 'time', label: 'Call time', unit: 's', title: 'Sum of the durations' },
        { key: 'mean', label: 'Per call', unit: 's', get: (kind) => kind.time / kind.count },
        { key: 'busy', label: 'Wall time', unit: 's', title: 'Length of the union' },
        { key: 'count', label: 'Events', unit: 'count' },
        { key: 'size', label: 'Size', unit: 'B', get: (kind) => kind.size || null },
        { key: 'bw', label: 'Bandwidth per call', unit: 'B/s', title: 'Size over time' },
    ].filter((column) => !['size', 'bw'].includes(column.key) || rows.some((kind) => kind.size > 0));
    return h(
        'section',
        { class: 'card', 'aria-label': 'Kinds of calls' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'Kinds of calls'),
            h('small', {}, 'an event may be of several kinds, or of none'),
            h(
                'div',
                { class: 'card-tools' },
                copyMenu(`traces/${trace.id}/summary`, parameters, `${trace.name}-summary`),
            ),
        ),
        scrolling('Kinds of calls', table({ columns, rows, caption: 'Kinds of calls', class: 'layers' })),
    );
}
