/* saved_queries.js - queries to come back to: those saved on the server, for everybody, and those this browser asked
 * before. */

import { get, send, session } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { moment } from '../format.js';
import { go, link } from '../state.js';
import { asked, openDialog } from './dialog.js';
import { remember, remembered } from './history.js';
import { attempt, failure, toast, waiting } from './notice.js';
import { NOTHING } from './query_boxes.js';
import { isPin } from './pins.js';
import { MEMBERS, placeOf, queryIn } from './query_request.js';

const HISTORY = 'questions';

/** Keeps a query that was answered; the usual one, which nobody wrote, is not kept. */
export function rememberQuery(place) {
    if (!MEMBERS.some((key) => place[key] !== undefined)) return;
    const kept = Object.fromEntries([...MEMBERS, 'filter', 'show', 'y'].map((key) => [key, place[key]]));
    remember(HISTORY, link(kept, {}));
}

/** @param {() => Object} request  the present query whole */
export async function saveQuery(request) {
    const values = await asked({
        title: 'Save this query',
        action: 'Save',
        fields: [
            { name: 'name', label: 'Name', value: '', required: true, hint: 'One that is there already is replaced' },
        ],
    });
    const name = values?.name.trim();
    if (!name) return;
    await attempt(async () => {
        await send('PUT', `queries/${encodeURIComponent(name)}`, { text: JSON.stringify(request()) });
        toast(`Saved as ${name}`);
    });
}

/** Everything there is to come back to. */
export function openQueries() {
    const saved = h('div', {}),
        before = h('div', {});
    const dialog = openDialog({
        title: 'Queries',
        wide: true,
        body: [h('h3', {}, 'Saved on the server'), saved, h('h3', {}, 'Asked in this browser'), before],
    });
    const take = (change) => {
        dialog.close();
        go({ ...NOTHING, ...change });
    };
    fill(saved, waiting({ what: 'Reading the saved queries', height: 72 }));
    fill(before, historyList(take));
    list();

    async function list() {
        try {
            const [{ queries }, { role }] = await Promise.all([get('queries'), session()]);
            const mine = queries.filter((query) => !isPin(query));
            fill(
                saved,
                mine.length === 0
                    ? h('p', { class: 'hint' }, 'None yet. Save keeps the query that stands above.')
                    : h(
                          'ul',
                          { class: 'saved-queries' },
                          mine.map((query) =>
                              entry({
                                  title: query.name,
                                  words: query.text,
                                  note: moment(query.changed),
                                  action: () => take(placeOf(query.text)),
                                  remove:
                                      role !== 'viewer' &&
                                      (async () => {
                                          await attempt(() =>
                                              send('DELETE', `queries/${encodeURIComponent(query.name)}`),
                                          );
                                          list();
                                      }),
                              }),
                          ),
                      ),
            );
        } catch (problem) {
            fill(saved, failure(problem, list));
        }
    }
}

function historyList(take) {
    const places = remembered(HISTORY).map((address) => Object.fromEntries(new URLSearchParams(address)));
    if (places.length === 0) return h('p', { class: 'hint' }, 'Nothing yet.');
    return h(
        'ul',
        { class: 'saved-queries' },
        places.map((place) =>
            entry({ title: '', words: wordsOf(place), action: () => take({ filter: null, ...place }) }),
        ),
    );
}

/**
 * @param {{title: string, words: string, note?: string, action: () => void, remove?: (() => void)|false}} options
 */
function entry({ title, words, note, action, remove }) {
    return h(
        'li',
        {},
        h(
            'button',
            { type: 'button', class: 'query-open', onclick: action },
            title && h('strong', {}, title),
            h('code', {}, words),
        ),
        note && h('small', {}, note),
        remove &&
            h(
                'button',
                {
                    type: 'button',
                    class: 'button small icon-only',
                    'aria-label': `Delete ${title}`,
                    title: 'Delete',
                    onclick: remove,
                },
                icon('trash'),
            ),
    );
}

/** A query in a line. */
function wordsOf(place) {
    const { ask, derive, group, agg, having, order, limit, q, columns } = queryIn(place);
    if (ask === 'json') return q;
    const parts = [
        ask === 'events'
            ? `events${columns && `: ${columns}`}`
            : [agg, group && `by ${group}`].filter(Boolean).join(' '),
        derive && `with ${derive}`,
        place.filter && `where ${place.filter}`,
        having && `keep ${having}`,
        order && `order ${order}`,
        limit && `first ${limit}`,
    ];
    return parts.filter(Boolean).join(' \u00b7 ');
}
