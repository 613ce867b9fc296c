/* layer_tree.js - the summary as a table: every layer under its parent, over the whole job and summed over ranks. */

import { h, icon } from '../dom.js';
import { text } from '../format.js';
import { pageLink } from '../state.js';
import { isPresent, swatch } from './layers.js';
import { bar, table } from './table.js';

/* What stands above the heads; a column names its group. */
const GROUPS = {
    clock: { label: '', title: 'Time during which at least one event of the layer was running' },
    ranks: { label: 'Summed over ranks', title: 'Each rank counted for itself, then added up' },
    events: { label: 'Events', title: 'Each event counted for itself, then added up' },
    bandwidth: { label: 'Bandwidth', title: 'While data was read or written' },
    uncovered: {
        label: 'Unoverlapped',
        title: 'In time bins in which the layer took longer than compute, as DFAnalyzer sees it',
    },
};

/**
 * @param {Object[]} rows  the summary's layers
 * @param {import('./layers.js').Layer[]} tree
 * @param {Set<string>} chosen  layers to mark
 * @param {(name: string) => void} onLayer
 * @param {{compatible?: boolean, jobTime?: number, span?: number}} [semantics]  compatible: rows are those of
 *   DFAnalyzer; span: seconds that are shown
 */
export function layerTable(rows, tree, chosen, onLayer, { compatible = false, jobTime, span = jobTime } = {}) {
    const byName = new Map(rows.map((row) => [row.name, row]));
    const ordered = tree
        .filter((layer) => byName.has(layer.name))
        .map((layer) => ({ ...byName.get(layer.name), layer }));
    const decorate = (row, element) => {
        element.classList.toggle('absent', !isPresent(row));
        element.classList.toggle('chosen', chosen.has(row.name));
    };
    const name = { key: 'name', label: 'Layer', class: 'head', cell: (row) => nameCell(row, onLayer, chosen) };
    const columns = [name, ...(compatible ? compatibleColumns(jobTime) : exactColumns(span, jobTime))].filter(
        (column) => column.group !== 'ranks' || ordered.some((row) => (row[column.key] ?? null) !== null),
    );
    const groups = groupsOf(columns, (span ?? 0) < (jobTime ?? 0) ? 'Time range' : 'Whole job');
    return table({ columns, rows: ordered, caption: 'Layers', groups, decorate, class: 'layers' });
}

/** Neighbours of one group under one head; @scope is what is shown. */
function groupsOf(columns, scope) {
    const heads = [];
    for (const { group } of columns) {
        const last = heads[heads.length - 1];
        if (last && last.group === group) last.span++;
        else
            heads.push({
                group,
                span: 1,
                label: group === 'clock' ? scope : (GROUPS[group]?.label ?? ''),
                title: GROUPS[group]?.title,
            });
    }
    return heads;
}

const exactColumns = (span, jobTime) => [
    {
        key: 'share',
        label: span < jobTime ? 'Share of range' : 'Share of job',
        class: 'bar-cell',
        title: 'Part of that time in which at least one event was running, anywhere in the job; pale: overlapped with compute',
        cell: (row) => shareCell(row, row.busy / span, row.hidden_share),
    },
    { key: 'busy', group: 'clock', label: 'Wall time', unit: 's', title: 'Length of the union of all events' },
    {
        key: 'exposed_group_sum',
        group: 'ranks',
        label: 'Not overlapped',
        unit: 's',
        title: 'Wall time during which the same rank was not computing',
    },
    {
        key: 'hidden_share',
        group: 'ranks',
        label: 'Overlapped',
        unit: 'share',
        title: 'Part of the wall time that overlapped with compute of the same rank',
    },
    {
        key: 'self_group_sum',
        group: 'ranks',
        label: 'Self',
        unit: 's',
        title: 'Wall time during which none of its children ran',
    },
    { key: 'time', group: 'events', label: 'Call time', unit: 's', title: 'Sum of the durations of all events' },
    { key: 'count', group: 'events', label: 'Count', unit: 'count', title: 'Number of events' },
    {
        key: 'size',
        group: 'events',
        label: 'Size',
        unit: 'B',
        title: 'Bytes read and written',
        get: (row) => row.size || null,
    },
    { key: 'bw', group: 'bandwidth', label: 'Per call', unit: 'B/s', title: 'Size over time: what one call got' },
    {
        key: 'bw_busy',
        group: 'bandwidth',
        label: 'Aggregate',
        unit: 'B/s',
        title: 'Size over wall time: what the job got while it was transferring',
    },
];

/* metrics.md section 8. */
function compatibleColumns(jobTime) {
    return [
        {
            key: 'share',
            label: 'Share of job',
            class: 'bar-cell',
            title: 'Time over job time; pale: overlapped by compute',
            cell: (row) => shareCell(row, row.time / jobTime, row.overlap),
        },
        {
            key: 'time',
            group: 'events',
            label: 'Call time',
            unit: 's',
            title: 'Sum over time bins of the longest time of any thread',
        },
        { key: 'count', group: 'events', label: 'Count', unit: 'count', title: 'Number of events' },
        { key: 'size', group: 'events', label: 'Size', unit: 'B', title: 'Bytes read and written' },
        { key: 'ops', group: 'events', label: 'Calls/s', unit: '1/s', title: 'Count over time' },
        { key: 'bandwidth', group: 'events', label: 'Bandwidth', unit: 'B/s', title: 'Size over time' },
        {
            key: 'u_time',
            group: 'uncovered',
            label: 'Not overlapped',
            unit: 's',
            title: 'Beyond the time of compute in the same bin',
        },
        {
            key: 'overlap',
            group: 'uncovered',
            label: 'Overlap',
            unit: 'share',
            title: 'Part of the time that is not unoverlapped',
        },
        { key: 'num_files', label: 'Files', unit: 'count' },
        {
            key: 'num_processes',
            label: 'Threads',
            unit: 'count',
            title: 'Distinct (host, process, thread) in the busiest bin',
        },
    ];
}

function nameCell(row, onLayer, chosen) {
    return [
        h(
            'button',
            {
                class: 'layer-name',
                data: { layer: row.name },
                'aria-pressed': String(chosen.has(row.name)),
                title: `${row.layer.label}: click to show only this layer in the chart`,
                style: { '--depth': row.layer.depth },
                onclick: () => onLayer(row.name),
            },
            swatch(row.layer),
            row.name,
        ),
        isPresent(row) &&
            h(
                'a',
                {
                    class: 'layer-open',
                    href: pageLink('layer', { layer: row.name }),
                    title: `${row.layer.label}: by time, process and file`,
                    'aria-label': `Page of ${row.name}`,
                },
                icon('open'),
            ),
    ];
}

function shareCell(row, share, hiddenShare) {
    if (!Number.isFinite(share) || !isPresent(row)) return null;
    const hidden = hiddenShare ? `, ${text(hiddenShare, 'share')} of it overlapped with compute` : '';
    return h(
        'span',
        { class: 'bar-with-figure' },
        bar(Math.min(1, share), row.layer.color, hiddenShare, `${text(share, 'share')} of the time${hidden}`),
        h('span', { class: 'figure' }, text(share, 'share')),
    );
}
