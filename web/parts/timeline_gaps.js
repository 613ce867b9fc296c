/* timeline_gaps.js - when nothing ran: the longest gaps of the selection, of threads, processes or whole ranks. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { at } from '../format.js';
import { go } from '../state.js';
import { copyMenu } from './copy.js';
import { segmented } from './segmented.js';
import { opened } from './timeline_tree.js';
import { laneWords } from './timeline_words.js';

const MOST = 1000;

/** @type {[string, string][]} */
const SCOPES = [
    ['thread', 'Threads'],
    ['process', 'Processes'],
    ['rank_group', 'Ranks'],
];

const scopeOf = ({ scope }) => (SCOPES.some(([key]) => key === scope) ? scope : 'thread');

/** Of what the gaps are, and the same as curl or a file. */
export function gapTools(trace, place, asked) {
    const scope = scopeOf(place);
    return [
        segmented('Gaps of', SCOPES, scope, (key) => go({ scope: key }, { replace: true })),
        copyMenu(`traces/${trace.id}/gaps`, { ...asked, scope }, `${trace.name}-gaps`),
    ];
}

/**
 * @param {{trace: Object, place: Object, view: import('./timeline_drawer.js').DrawerView, asked: Object, panel: any,
 *   list: Function}} options  asked: the window and lanes; list: shows a response as rows
 */
export function showGaps({ trace, place, view, asked, panel, list }) {
    const path = `traces/${trace.id}/gaps`,
        request = { ...asked, scope: scopeOf(place), limit: MOST };
    panel.send({
        request: ['gaps', request],
        what: 'Looking for gaps',
        path,
        height: 200,
        load: (signal) => getOf(trace, path, request, signal),
        show: (answer) => {
            const open = (row) =>
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'row-name',
                        title: 'Go to this gap',
                        onclick: () =>
                            go({
                                from: row.start,
                                to: row.end,
                                lanes: row.lane,
                                view: null,
                                open: [...opened(view.shown.open, view.shown.tree, row.lane)].join(','),
                            }),
                    },
                    at(row.start),
                );
            const event = (id, name) =>
                id &&
                h(
                    'button',
                    { type: 'button', class: 'row-name name', onclick: () => go({ event: id, panel: 'event' }) },
                    name ?? '(no name)',
                );
            list(
                answer,
                [
                    { key: 'start', label: 'From', class: 'head', cell: open },
                    { key: 'time', label: 'For', unit: 's' },
                    {
                        key: 'lane',
                        label: 'Where',
                        cell: ({ lane }) => h('span', { class: 'name' }, laneWords(lane)),
                    },
                    { key: 'before', label: 'After', cell: (row) => event(row.before, row.before_name) },
                    { key: 'after', label: 'Before', cell: (row) => event(row.after, row.after_name) },
                ],
                place.sort ?? '-time',
                'Gaps',
            );
        },
    });
}
