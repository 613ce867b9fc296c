/* layer_tree.js - the summary as a table: every layer under its parent, on the clock and summed over ranks. */

import { h } from '../dom.js';
import { text } from '../format.js';
import { swatch } from './layers.js';
import { bar, table } from './table.js';

/* What stands above the heads; a column names its group. */
const GROUPS = {
    clock: { label: 'On the clock', title: 'Time during which at least one event of the layer was running' },
    ranks: { label: 'Summed over ranks', title: 'Each rank counted for itself, then added up' },
    events: { label: 'Events', title: 'Each event counted for itself, then added up' },
    bandwidth: { label: 'Bandwidth', title: 'While data was read or written' },
};

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
    const columns = columnsOf(onLayer, chosen).filter((column) => column.group !== 'ranks' || ordered.some((row) => (row[column.key] ?? null) !== null));
    return table({ columns, rows: ordered, caption: 'Layers', groups: groupsOf(columns), decorate, class: 'layers' });
}

/** Neighbours of one group under one head. */
function groupsOf(columns) {
    const heads = [];
    for (const { group } of columns) {
        const last = heads[heads.length - 1];
        if (last && last.group === group) last.span++;
        else heads.push({ group, span: 1, label: GROUPS[group]?.label ?? '', title: GROUPS[group]?.title });
    }
    return heads;
}

function columnsOf(onLayer, chosen) {
    return [
        { key: 'name', label: 'Layer', class: 'head', cell: (row) => nameCell(row, onLayer, chosen) },
        { key: 'share', label: 'Share of job', class: 'bar-cell', title: 'Busy time of the busiest process over job time; pale: hidden behind compute', cell: shareCell },
        { key: 'busy', group: 'clock', label: 'Busy', unit: 's', title: 'Length of the union of all events' },
        { key: 'exposed_group_sum', group: 'ranks', label: 'Exposed', unit: 's', title: 'Busy while the same rank was not computing' },
        { key: 'hidden_share', group: 'ranks', label: 'Hidden', unit: 'share', title: 'Part of the busy time that was hidden behind compute' },
        { key: 'self_group_sum', group: 'ranks', label: 'Self', unit: 's', title: 'Busy while none of its children was' },
        { key: 'time', group: 'events', label: 'Time', unit: 's', title: 'Sum of the durations of all events' },
        { key: 'count', group: 'events', label: 'Count', unit: 'count', title: 'Number of events' },
        { key: 'size', group: 'events', label: 'Size', unit: 'B', title: 'Bytes read and written', get: (row) => row.size || null },
        { key: 'bw', group: 'bandwidth', label: 'Per stream', unit: 'B/s', title: 'Size over time: what one call got' },
        { key: 'bw_busy', group: 'bandwidth', label: 'Job', unit: 'B/s', title: 'Size over busy time: what the job got while it was transferring' },
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
