/* calls_panel.js - which call was inside which: as a flame graph, as a tree, and around one name as callers and
 * callees. */

import { getOf, url } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped, text } from '../format.js';
import { go, pageLink } from '../state.js';
import { latestRequest } from './latest_request.js';
import { copyMenu } from './copy.js';
import { flame, nameOf } from './flame.js';
import { callTree, nodeAt, pathOf } from './flame_layout.js';
import { grid } from './grid.js';
import { equals } from './narrow.js';
import { empty } from './notice.js';
import { whole } from './paged.js';
import { recordsOf } from './table.js';
import { colorOfText, inks, SHADES } from './timeline_colors.js';

const MOST = 20000,
    FINE = 0.0005,
    DEEP = 40;

/** @type {[string, string][]} */
export const CALL_TABS = [
    ['flame', 'Flame graph'],
    ['tree', 'Call tree'],
    ['sandwich', 'Callers and callees'],
];

/**
 * @param {Object} trace
 * @param {{onFind?: (label: string) => void}} [options]  what a click on a frame does besides
 */
export function callsPanel(trace, { onFind } = {}) {
    const head = h('div', { class: 'card-head calls-head' }),
        box = h('div', {}),
        element = h('div', { class: 'stack calls' }, head, box);
    const colors = inks(() => update(view)),
        asked = latestRequest(box),
        rows = grid();
    const down = flame({ onPick: pick, onRoot: root }),
        up = flame({ onPick: pick, onRoot: sandwich }),
        below = flame({ onPick: pick, onRoot: sandwich });
    /** @type {{place: Object, parameters: Object, tab: string}} */
    let view = /** @type {any} */ (null);
    let chosen = null;
    const path = `traces/${trace.id}/calltree`;

    /** @param {{place: Object, parameters: Object, tab: string}} next */
    function update(next) {
        if (!next) return;
        view = next;
        ({ flame: graph, tree, sandwich: around })[view.tab]();
    }

    function graph() {
        const { place, parameters } = view,
            wanted = { ...parameters, min_share: FINE, limit: MOST };
        asked.send({
            request: ['flame', wanted],
            what: 'Merging the calls',
            path,
            height: 240,
            load: async (signal) => {
                const answer = await getOf(trace, path, wanted, signal);
                return { answer, tree: callTree(recordsOf(answer)) };
            },
            show: ({ answer, tree: whole }) => {
                const at = nodeAt(whole, (place.root ?? '').split('\u001f').filter(Boolean));
                drawHead(
                    wanted,
                    at.above &&
                        h(
                            'button',
                            { type: 'button', class: 'button small', onclick: () => go({ root: null }) },
                            'Show all',
                        ),
                    answer.row_count > answer.data.length &&
                        h(
                            'small',
                            {},
                            `the first ${grouped(answer.data.length)} of ${grouped(answer.row_count)} nodes`,
                        ),
                );
                if (whole.children.length === 0) {
                    fill(box, nothing());
                    return;
                }
                if (down.element.parentElement !== box) fill(box, down.element);
                down.update({
                    root: at,
                    color: colorOf,
                    chosen,
                    label: `Flame graph: ${whole.children
                        .slice(0, 3)
                        .map((node) => `${nameOf(node)} ${text(node.total, 's')}`)
                        .join(', ')}; the tab Call tree has it as a table`,
                });
            },
        });
    }

    function tree() {
        const wanted = { ...view.parameters, limit: MOST };
        asked.send({
            request: ['tree', wanted],
            what: 'Merging the calls',
            path,
            height: 240,
            load: (signal) => getOf(trace, path, wanted, signal),
            show: (answer) => {
                drawHead(wanted);
                if (answer.data.length === 0) {
                    fill(box, nothing());
                    return;
                }
                if (rows.element.parentElement !== box) fill(box, rows.element);
                rows.update({
                    caption: 'Call tree',
                    source: whole(answer),
                    columns: [
                        {
                            key: 'label',
                            label: 'Call',
                            class: 'head',
                            cell: (row) =>
                                h(
                                    'span',
                                    { class: 'calls-name name', style: { '--depth': Math.min(row.depth, DEEP) - 1 } },
                                    row.kind === 'other'
                                        ? h('span', { class: 'quiet' }, `other (${grouped(row.nodes)})`)
                                        : h(
                                              'button',
                                              {
                                                  type: 'button',
                                                  class: 'row-name name',
                                                  title: 'Its callers and callees',
                                                  onclick: () => go({ panel: 'sandwich', name: row.label }),
                                              },
                                              row.label ?? '(no name)',
                                          ),
                                ),
                        },
                        { key: 'total', label: 'Call time (sum)', unit: 's' },
                        { key: 'self', label: 'Self time', unit: 's' },
                        { key: 'count', label: 'Events', unit: 'count' },
                        { key: 'min', label: 'Shortest', unit: 's' },
                        { key: 'max', label: 'Longest', unit: 's' },
                        { key: 'size', label: 'Size', unit: 'B', get: (row) => row.size || null },
                    ],
                });
            },
        });
    }

    /** Without a name the one with the most self time. */
    function around() {
        const { place, parameters } = view,
            statistics = `traces/${trace.id}/timeline/statistics`;
        asked.send({
            request: ['sandwich', parameters, place.name],
            what: 'Looking for callers and callees',
            path,
            height: 240,
            load,
            show,
        });

        async function load(signal) {
            const { scope: _, ...window } = parameters,
                names = await getOf(trace, statistics, { ...window, label: parameters.label, limit: 1000 }, signal);
            const labels = names.data.map(([label]) => label),
                name = place.name ?? [...names.data].sort((a, b) => b[3] - a[3])[0]?.[0];
            if (name === undefined) return null;
            const [callers, callees] = await Promise.all(
                ['callers', 'callees'].map((direction) =>
                    getOf(trace, path, { ...parameters, name, direction, min_share: FINE, limit: MOST }, signal),
                ),
            );
            return {
                name,
                labels,
                of: callees.of,
                callers: callTree(recordsOf(callers)),
                callees: callTree(recordsOf(callees)),
            };
        }

        function show(found) {
            if (!found) {
                drawHead({ ...parameters });
                fill(box, nothing());
                return;
            }
            const { name, labels, of, callers, callees } = found;
            drawHead(
                { ...parameters, name, direction: 'callers' },
                h(
                    'label',
                    { class: 'field' },
                    h('span', {}, 'Around'),
                    h(
                        'select',
                        {
                            'aria-label': 'Around',
                            class: 'name',
                            onchange: (event) => go({ name: event.target.value }),
                        },
                        [...new Set([name, ...labels])]
                            .filter(Boolean)
                            .sort()
                            .map((label) => h('option', { value: label, selected: label === name }, label)),
                    ),
                ),
                h(
                    'small',
                    {},
                    `${grouped(of.count)} calls, ${text(of.total, 's')} in all, ${text(of.self, 's')} self`,
                ),
            );
            if (callees.children.length === 0) {
                fill(box, empty('Not here', h('p', {}, `No event is called ${name}.`)));
                return;
            }
            if (up.element.parentElement !== box)
                fill(box, h('h2', {}, 'Callers'), up.element, h('h2', {}, 'Callees'), below.element);
            const top = callers.children[0],
                under = callees.children[0];
            for (const one of [top, under]) one.above = null;
            up.update({ root: top, color: colorOf, upwards: true, chosen, label: `Callers of ${name}` });
            below.update({ root: under, color: colorOf, chosen, label: `Callees of ${name}` });
        }
    }

    const nothing = () => empty('No calls here', h('p', {}, 'No event touches this part of the trace.'));

    function colorOf(node) {
        const ink = colors.of(null)[node.kind === 'node' ? colorOfText(node.label ?? '') + 1 : 0];
        return { fill: ink.fills[SHADES - 1], ink: ink.inks[SHADES - 1] };
    }

    function drawHead(parameters, ...tools) {
        const file = `${trace.name}-calls`,
            { limit: _, min_share: __, name: ___, direction: ____, ...plain } = parameters;
        const lead = chosen?.kind === 'node' &&
            view.tab !== 'tree' && [
                h('span', { class: 'name' }, nameOf(chosen)),
                view.tab === 'flame' &&
                    h('button', { type: 'button', class: 'button small', onclick: () => root(chosen) }, 'Zoom to it'),
                h(
                    'button',
                    { type: 'button', class: 'button small', onclick: () => sandwich(chosen) },
                    'Callers and callees',
                ),
                !onFind &&
                    parameters.label !== 'layer' &&
                    h(
                        'a',
                        {
                            class: 'button small',
                            href: pageLink('timeline', {
                                find: `=${equals(parameters.label === 'category' ? 'cat' : 'func_name', chosen.label)}`,
                            }),
                        },
                        'On the timeline',
                    ),
            ];
        refill(
            head,
            tools,
            lead,
            h(
                'div',
                { class: 'card-tools' },
                copyMenu(path, parameters, file, [
                    {
                        text: 'Save folded stacks',
                        href: url(path, { ...plain, format: 'folded' }),
                        download: `${file}.folded`,
                    },
                    {
                        text: 'Save for speedscope',
                        href: url(path, { ...plain, format: 'speedscope' }),
                        download: `${file}.speedscope.json`,
                    },
                    ...(view.tab === 'flame'
                        ? [
                              {
                                  text: 'Save as PNG',
                                  action: () =>
                                      h('a', { href: down.canvas.toDataURL(), download: `${file}.png` }).click(),
                              },
                          ]
                        : []),
                ]),
            ),
        );
    }

    function pick(node) {
        chosen = node;
        if (node.kind === 'node') onFind?.(node.label);
        update(view);
    }

    function root(node) {
        chosen = null;
        go({ root: pathOf(node).join('\u001f') });
    }

    function sandwich(node) {
        if (node.kind !== 'node') return;
        chosen = null;
        go({ panel: 'sandwich', name: node.label });
    }

    return {
        element,
        update,
        close() {
            asked.close();
            colors.close();
            rows.close();
            for (const one of [down, up, below]) one.close();
        },
    };
}
