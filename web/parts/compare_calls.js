/* compare_calls.js - which calls grew and which shrank: two runs' calls as one flame graph, red and blue. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { change } from './compare_change.js';
import { copyMenu } from './copy.js';
import { flame, nameOf } from './flame.js';
import { callTree, mergedTrees, nodeAt, pathOf } from './flame_layout.js';
import { empty } from './notice.js';
import { segmented } from './segmented.js';
import { chartTable, recordsOf } from './table.js';
import { inks } from './timeline_colors.js';

const MOST = 20000,
    FINE = 0.0002,
    FULL = 0.5; /* of a node's time: a change that has the full colour */
const COLORS = /** @type {any[]} */ ([{ color: 'var(--bad)' }, { color: 'var(--accent)' }]),
    SHOWN = 6;

export function compareCalls() {
    const tools = h('div', { class: 'card-tools' }),
        note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Calls' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Calls'), note, tools),
        box,
    );
    const computing = latestRequest(box),
        colors = inks(() => latest?.()),
        graph = flame({ onPick: zoom, onRoot: zoom });
    let latest = null;

    function zoom(node) {
        go({ root: pathOf(node).join('\u001f') || null });
    }

    /**
     * @param {{runs: import('./compare_runs.js').Run[], parameters: Object, place: Object,
     *          scale: import('./compare_scale.js').Scale}} view
     */
    function update({ runs, parameters, place, scale }) {
        const [before, ...others] = runs,
            now = others.find(({ id }) => id === place.against) ?? others[0],
            asTable = (place.as ?? '').split(',').includes('calls');
        const { preset, filters, filter, from, to } = parameters,
            asked = { preset, filters: filters ?? 'on', filter, from, to, min_share: FINE, limit: MOST };
        const path = `traces/${now.id}/calltree`;
        refill(
            tools,
            others.length > 1 &&
                h(
                    'select',
                    { 'aria-label': 'Compared run', onchange: (event) => go({ against: event.target.value }) },
                    others.map((run) => h('option', { value: run.id, selected: run === now }, run.name)),
                ),
            place.root &&
                h('button', { type: 'button', class: 'button small', onclick: () => go({ root: null }) }, 'Show all'),
            segmented(
                'Show as',
                [
                    ['chart', 'Chart'],
                    ['table', 'Table'],
                ],
                asTable ? 'table' : 'chart',
                () =>
                    go({
                        as: asTable
                            ? (place.as ?? '')
                                  .split(',')
                                  .filter((one) => one !== 'calls')
                                  .join(',')
                            : [place.as, 'calls'].filter(Boolean).join(','),
                    }),
            ),
            copyMenu(path, asked, `${now.name}-calls`),
        );
        fill(
            note,
            `${now.name} against ${before.name}: red grew, blue shrank; a frame is as wide as the longer of the two, a click zooms`,
        );
        computing.send({
            request: [before.id, now.id, before.trace.answers, now.trace.answers, asked, scale.per],
            what: 'Merging the calls of both runs',
            path,
            height: 240,
            load: async (signal) => {
                const trees = await Promise.all(
                    [now, before].map(async (run) =>
                        scaledTree(
                            await getOf(run.trace, `traces/${run.id}/calltree`, asked, signal),
                            runs.indexOf(run),
                            scale,
                        ),
                    ),
                );
                return callTree(mergedTrees(trees[0], trees[1]));
            },
            show: (root) => {
                latest = () => draw(root, place, asTable);
                latest();
            },
        });
    }

    function draw(root, place, asTable) {
        if (root.children.length === 0) {
            fill(box, empty('No calls here', h('p', {}, 'In none of the runs an event passes the filter.')));
            return;
        }
        if (asTable) {
            fill(box, tableOf(root));
            return;
        }
        if (graph.element.parentElement !== box) fill(box, graph.element);
        graph.update({
            root: nodeAt(root, (place.root ?? '').split('\u001f').filter(Boolean)),
            color: colorOf,
            words,
            label: 'Calls that grew and shrank. The same numbers are available as a table.',
        });
    }

    function colorOf(node) {
        const [none, grew, shrank] = colors.of(COLORS),
            before = node.before ?? node.total,
            most = Math.max(before, node.total),
            share = most > 0 ? (node.total - before) / most / FULL : 0;
        const ink = share > 0 ? grew : shrank,
            shade = Math.round(Math.min(1, Math.abs(share)) * SHOWN);
        return node.kind !== 'node' || shade === 0
            ? { fill: none.fills[2], ink: none.inks[2] }
            : { fill: ink.fills[shade + 1], ink: ink.inks[shade + 1] };
    }

    return {
        element,
        update,
        close() {
            computing.close();
            colors.close();
            graph.close();
        },
    };
}

/** The calls of a run for each rank, step or sample, as the figures of the page are. */
function scaledTree(answer, run, scale) {
    return callTree(
        recordsOf(answer).map((node) => ({
            ...node,
            count: scale.of(run, 'count', node.count),
            total: scale.of(run, 'time', node.total),
            self: scale.of(run, 'time', node.self),
        })),
    );
}

function words(node) {
    const row = (label, content) => h('tr', {}, h('th', {}, label), h('td', {}, content));
    return [
        h('strong', { class: 'name' }, nameOf(node)),
        h(
            'table',
            {},
            row('Now', text(node.total, 's')),
            node.before !== undefined && [
                row('Baseline', text(node.before, 's')),
                row('Change', change(node.total, node.before, 's', 'lower')),
            ],
        ),
    ];
}

/** All nodes but the smallest, those that changed most first. */
function tableOf(root) {
    const rows = [],
        visit = (node) => {
            for (const child of node.children) {
                rows.push(child);
                visit(child);
            }
        };
    visit(root);
    rows.sort((a, b) => Math.abs(b.total - b.before) - Math.abs(a.total - a.before));
    return chartTable('Calls that grew and shrank', rows, [
        {
            key: 'label',
            label: 'Call',
            class: 'head',
            cell: (node) => h('span', { class: 'name', title: pathOf(node).join(' \u203a ') }, nameOf(node)),
        },
        {
            key: 'above',
            label: 'In',
            cell: (node) => h('span', { class: 'name quiet' }, node.above.kind === 'root' ? '' : nameOf(node.above)),
        },
        {
            key: 'change',
            label: 'Change',
            class: 'number',
            cell: (node) => change(node.total, node.before, 's', 'lower'),
        },
        { key: 'total', label: 'Now', unit: 's' },
        { key: 'before', label: 'Baseline', unit: 's' },
    ]);
}
