/* layer_tree.js - the summary as a table: every layer under its parent, on the clock and summed over ranks. */

import { h } from '../dom.js';
import { text } from '../format.js';
import { swatch } from './layers.js';
import { bar, table } from './table.js';

const GROUPS = [
    { label: '', span: 2 },
    { label: 'On the clock', span: 1, title: 'Time during which at least one event of the layer was running' },
    { label: 'Summed over ranks', span: 3, title: 'Each rank counted for itself, then added up' },
    { label: 'Events', span: 3, title: 'Each event counted for itself, then added up' },
    { label: 'Bandwidth', span: 2 },
];

/**
 * @param {Object[]} rows  the summary's layers
 * @param {import('./layers.js').Layer[]} tree
 * @param {Set<string>} chosen  layers to mark
 * @param {(name: string) => void} onLayer
 */
export function layerTable(rows, tree, chosen, onLayer) {
    const byName = new Map(rows.map((row) => [row.name, row]));
    const ordered = tree.filter((layer) => byName.has(layer.name)).map((layer) => ({ ...byName.get(layer.name), layer }));
    const decorate = (row, element) => {
        element.classList.toggle('absent', row.count === 0);
        element.classList.toggle('chosen', chosen.has(row.name));
    };
    return table({ columns: columnsOf(onLayer, chosen), rows: ordered, caption: 'Layers', groups: GROUPS, decorate, class: 'layers' });
}

function columnsOf(onLayer, chosen) {
    return [
        { key: 'name', label: 'Layer', class: 'head', cell: (row) => nameCell(row, onLayer, chosen) },
        { key: 'share', label: 'Share of job', class: 'bar-cell', title: 'Busy time of the busiest process over job time; pale: hidden behind compute', cell: shareCell },
        { key: 'busy', label: 'Busy', unit: 's', title: 'Length of the union of all events' },
        { key: 'exposed_group_sum', label: 'Exposed', unit: 's', title: 'Busy while the same rank was not computing' },
        { key: 'hidden_share', label: 'Hidden', unit: 'share', title: 'Part of the busy time that was hidden behind compute' },
        { key: 'self_group_sum', label: 'Self', unit: 's', title: 'Busy while none of its children was' },
        { key: 'time', label: 'Time', unit: 's', title: 'Sum of the durations of all events' },
        { key: 'count', label: 'Count', unit: 'count', title: 'Number of events' },
        { key: 'size', label: 'Size', unit: 'B', title: 'Bytes read and written', get: (row) => row.size || null },
        { key: 'bw', label: 'Per stream', unit: 'B/s', title: 'Size over time: what one call got' },
        { key: 'bw_busy', label: 'Job', unit: 'B/s', title: 'Size over busy time: what the job got while it was transferring' },
    ];
}

function nameCell(row, onLayer, chosen) {
    const button = h('button', { class: 'layer-name', data: { layer: row.name }, 'aria-pressed': String(chosen.has(row.name)), title: `${row.layer.label}: click to show only this layer in the chart`,
        style: { '--depth': row.layer.depth }, onclick: () => onLayer(row.name) }, swatch(row.layer), row.name);
    return button;
}

function shareCell(row) {
    const share = row.time_share;
    if (share === null || share === undefined) return null;
    const hidden = row.hidden_share ? `, ${text(row.hidden_share, 'share')} of it hidden behind compute` : '';
    return h('span', { class: 'bar-with-figure' }, bar(Math.min(1, share), row.layer.color, row.hidden_share, `${text(share, 'share')} of the job time${hidden}`),
        h('span', { class: 'figure' }, text(share, 'share')));
}
