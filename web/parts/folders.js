/* folders.js - choosing a trace by walking the folders that the server may read. */

import { get, send } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { moment, text } from '../format.js';
import { go, here, link } from '../state.js';
import { openDialog } from './dialog.js';
import { failure, waiting } from './notice.js';

/**
 * Opens the dialog; the folder shown is `add` in the URL ("/" for the list of roots).
 * @param {{onAdded: (trace: Object, job: Object|null) => void, onClose: () => void}} options
 */
export function folderDialog({ onAdded, onClose }) {
    const said = h('div', { class: 'said' });
    const crumbs = h('nav', { class: 'crumbs', 'aria-label': 'Folder' });
    const list = h('div', { class: 'folder-list' });
    const input = h('input', {
        name: 'path',
        class: 'path-input',
        autofocus: true,
        'aria-label': 'Path of a folder or file',
        placeholder: 'or type the path of a folder or file',
        autocomplete: 'off',
        spellcheck: 'false',
    });
    const follow = h('input', { type: 'checkbox', name: 'follow' });
    const form = h(
        'form',
        {
            class: 'path-form',
            onsubmit: (event) => {
                event.preventDefault();
                addPath(input.value.trim());
            },
        },
        input,
        h('button', { class: 'button primary' }, 'Add'),
    );
    const choice = h(
        'label',
        { class: 'follow-choice', title: 'What is added to its files is read as they grow' },
        follow,
        'Follow: the job is still running',
    );
    const dialog = openDialog({ title: 'Add a trace', wide: true, body: [crumbs, list, form, choice, said], onClose });

    let shown = null;

    async function addPath(path) {
        if (!path) return;
        fill(said);
        try {
            const answer = await send('POST', 'traces', follow.checked ? { path, follow: true } : { path });
            onAdded(answer.trace, answer.job);
            fill(said, h('p', { class: 'notice', role: 'status' }, `Added ${answer.trace.name}. Another one?`));
        } catch (problem) {
            fill(said, failure(problem));
        }
    }

    /** @param {string} place  value of `add` */
    async function show(place) {
        if (place === shown) return;
        shown = place;
        if (list.childElementCount === 0) fill(list, waiting({ what: 'Reading the folder', height: 240 }));
        try {
            const answer = await get('browse', place === '/' ? {} : { path: place });
            if (place !== shown) return;
            input.value = answer.path ?? '';
            fill(crumbs, crumbsOf(answer));
            fill(list, entriesOf(answer, addPath));
        } catch (problem) {
            fill(
                list,
                failure(problem, () => {
                    shown = null;
                    show(place);
                }),
            );
        }
    }
    return { show, close: () => dialog.close() };
}

/** A link to a folder in the same dialog. */
function toFolder(path) {
    return link({ add: path });
}

function crumbsOf({ path, parent }) {
    if (!path) return h('span', {}, 'Folders that this server may read');
    return [
        h(
            'a',
            {
                class: 'button small icon-only',
                href: toFolder(parent ?? '/'),
                'aria-label': 'Folder above',
                title: 'Folder above',
            },
            icon('up'),
        ),
        h('span', { class: 'crumb-path' }, path),
    ];
}

function entriesOf(answer, addPath) {
    const entries = answer.entries;
    if (entries.length === 0)
        return h(
            'p',
            { class: 'hint' },
            answer.path
                ? 'This folder is empty.'
                : 'This server may read no folder yet: start it with --root DIR, or with a trace folder as argument.',
        );
    return [
        h(
            'ul',
            {},
            entries.map((entry) => entryRow(entry, addPath)),
        ),
        answer.truncated &&
            h('p', { class: 'hint' }, 'There are more entries than are listed here; type the path below.'),
    ];
}

function entryRow(entry, addPath) {
    const folder = entry.kind === 'folder';
    const name = folder
        ? h('a', { href: toFolder(entry.path) }, entry.name)
        : h('span', { class: 'name' }, entry.name);
    return h(
        'li',
        { class: entry.candidate ? 'candidate' : '' },
        icon(entry.candidate && folder ? 'trace' : folder ? 'folder' : 'file'),
        name,
        h(
            'span',
            { class: 'facts' },
            !folder && text(entry.bytes, 'B'),
            entry.modified && h('span', { class: 'when' }, moment(entry.modified)),
        ),
        entry.trace
            ? h('a', { class: 'button small', href: link({ page: 'overview', trace: entry.trace }, {}) }, 'Open')
            : entry.candidate
              ? h('button', { class: 'button small primary', onclick: () => addPath(entry.path) }, icon('plus'), 'Add')
              : null,
    );
}

/** Opens the dialog at the roots. */
export function startAdding() {
    go({ add: '/' }, { base: here() });
}
