/* notes_card.js - what people wrote of the runs that are compared: a text each, with who and when. */

import { get, send, session } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { moment } from '../format.js';
import { attempt, failure } from './notice.js';

export function notesCard() {
    const box = h('div', { class: 'stack' });
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Notes' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Notes'), h('small', {}, 'on each run, for everybody')),
        box,
    );
    let shown = '',
        turn = 0;

    /** @param {{id: string, trace: {name: string}}[]} runs */
    function update(runs) {
        const key = runs.map(({ id }) => id).join();
        if (key !== shown) read(runs);
        shown = key;
    }

    async function read(runs) {
        const mine = ++turn;
        try {
            const [{ role }, ...answers] = await Promise.all([
                session(),
                ...runs.map(({ id }) => get(`traces/${id}/notes`)),
            ]);
            if (mine === turn)
                fill(
                    box,
                    runs.map((run, at) => notesOf(run, answers[at].notes, role !== 'viewer', () => read(runs))),
                );
        } catch (problem) {
            if (mine === turn)
                fill(
                    box,
                    failure(problem, () => read(runs)),
                );
        }
    }

    return { element, update };
}

function notesOf({ id, trace }, notes, editor, changed) {
    const field = h('input', {
        type: 'text',
        maxlength: 10000,
        placeholder: 'Write a note',
        'aria-label': `Note on ${trace.name}`,
    });
    const add = async (event) => {
        event.preventDefault();
        if (!field.value.trim()) return;
        if (await attempt(() => send('POST', `traces/${id}/notes`, { text: field.value.trim() }))) changed();
    };
    const remove = async (note) => {
        await attempt(() => send('DELETE', `traces/${id}/notes/${note.id}`));
        changed();
    };
    return h(
        'div',
        { class: 'notes' },
        h('h3', {}, trace.name),
        h(
            'ul',
            {},
            notes.map((note) =>
                h(
                    'li',
                    {},
                    h('span', {}, note.text),
                    h('small', {}, [note.who, moment(note.time)].filter(Boolean).join(', ')),
                    editor &&
                        h(
                            'button',
                            {
                                class: 'button small icon-only',
                                'aria-label': `Delete the note: ${note.text}`,
                                onclick: () => remove(note),
                            },
                            icon('trash'),
                        ),
                ),
            ),
        ),
        editor &&
            h('form', { class: 'card-tools', onsubmit: add }, field, h('button', { class: 'button small' }, 'Add')),
    );
}
