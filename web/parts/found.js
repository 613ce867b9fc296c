/* found.js - trace folders that lie in the server's folders but are not added yet: a click adds one. */

import { get } from '../api.js';
import { h, icon } from '../dom.js';
import { grouped, moment } from '../format.js';

const MOST_ROOTS = 8,
    MOST = 12;

/** Those in the roots themselves and one level below, the latest first. */
export async function findFolders() {
    const { entries } = await get('browse');
    const inside = await Promise.all(
        entries
            .filter(({ candidate }) => !candidate)
            .slice(0, MOST_ROOTS)
            .map(({ path }) => get('browse', { path }).catch(() => ({ entries: [] }))),
    );
    const all = [entries, ...inside.map((answer) => answer.entries)].flat();
    const found = new Map(
        all
            .filter(({ candidate, kind, trace }) => candidate && kind === 'folder' && !trace)
            .map((entry) => [entry.path, entry]),
    );
    return [...found.values()].sort((a, b) => (a.modified < b.modified ? 1 : -1));
}

/**
 * @param {Object[]} found
 * @param {(path: string) => void} onAdd
 */
export function foundCard(found, onAdd) {
    return h(
        'section',
        { class: 'card', 'aria-label': 'Found, not added yet' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'Found, not added yet'),
            h('small', {}, 'trace folders that this server may read'),
        ),
        h(
            'div',
            { class: 'folder-list found' },
            h(
                'ul',
                {},
                found
                    .slice(0, MOST)
                    .map(({ path, modified }) =>
                        h(
                            'li',
                            { class: 'candidate' },
                            icon('trace'),
                            h('span', { class: 'name' }, path),
                            h('span', { class: 'facts' }, h('span', { class: 'when' }, moment(modified))),
                            h(
                                'button',
                                { class: 'button small', onclick: () => onAdd(path), 'aria-label': `Add ${path}` },
                                icon('plus'),
                                'Add',
                            ),
                        ),
                    ),
            ),
        ),
        found.length > MOST &&
            h('p', { class: 'hint' }, `${grouped(found.length - MOST)} more; Add a trace lists them.`),
    );
}
