/* query_events.js - events as they are: every column and argument that there is, sorted by the server, in pages. */

import { h } from '../dom.js';
import { value } from '../format.js';
import { go, visit } from '../state.js';
import { eventAddress, IDENTITY } from './event_dialog.js';
import { columnsOf } from './query_columns.js';
import { listed, nameOf, written } from './query_text.js';
import { rowsCard } from './rows_card.js';

/* What events show when nothing is chosen, what is asked for most first. */
const USUAL = 'func_name time_start time size file_name cat pid tid host_name offset image_id step epoch'.split(' ');

export function eventsCard() {
    const card = rowsCard({ onChoose: (names) => go({ columns: names?.map(written).join(', ') }) });

    /**
     * @param {{trace: Object, query: import('./query_request.js').Query, parameters: Object, schema:
     *   import('./completion.js').Known[], fail: (problem: any) => boolean, done: () => void}} view
     */
    function update({ trace, query, parameters, schema, fail, done }) {
        const numeric = new Set(
            schema.filter(({ type }) => ['integer', 'number'].includes(type)).map(({ name }) => name),
        );
        const derived = listed(query.derive);
        const offered = [
            ...schema.map(({ name, note }) => ({ name, label: name, title: note })),
            ...derived.map((item) => ({ name: nameOf(item), label: nameOf(item), title: item.expression })),
        ];
        const wanted = listed(query.columns).map(({ expression }) => expression.replaceAll('`', ''));
        const chosen = wanted.length > 0 ? wanted : [...USUAL, ...derived.map(nameOf)];
        card.update({
            title: 'Events',
            trace,
            path: `traces/${trace.id}/events`,
            file: `${trace.name}-events`,
            parameters: { ...parameters, derive: derived.map((item) => `${nameOf(item)}:${item.expression}`) },
            keys: [],
            offered,
            chosen,
            unseen: IDENTITY.filter((name) => !chosen.includes(name)),
            decorate: openOnClick,
            sort: query.order || undefined,
            onSort: (order) => go({ order }),
            columns: (source) =>
                opening(
                    columnsOf(source, query, numeric).filter(
                        ({ key }) => chosen.includes(key) || !IDENTITY.includes(key),
                    ),
                ),
            nothing: 'No event in this time range passes the filter.',
            fail,
            done,
        });
    }
    return { element: card.element, update, close: card.close };
}

/** The first column opens the event: a link, so that keys and other windows can too. */
function opening(columns) {
    const [first, ...others] = columns;
    const words = (record) =>
        first.cell?.(record) ?? (first.unit ? value(record[first.key], first.unit) : record[first.key]);
    return [
        {
            ...first,
            cell: (record) =>
                h(
                    'a',
                    { class: 'row-name', href: eventAddress(record), title: 'Everything about this event' },
                    words(record),
                ),
        },
        ...others,
    ];
}

function openOnClick(record, row) {
    row.classList.add('opens');
    row.addEventListener('click', (event) => {
        if (!event.target.closest('a, button') && getSelection()?.isCollapsed) visit(eventAddress(record));
    });
}
