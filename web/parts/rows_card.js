/* rows_card.js - the rows of a layered view: a table of any length, sorted by the server, with a choice of columns. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { columnChooser } from './columns.js';
import { copyMenu } from './copy.js';
import { grid } from './grid.js';
import { empty } from './notice.js';
import { paged } from './paged.js';

/**
 * @typedef {Object} RowsView
 * @property {string} title
 * @property {any} [note]
 * @property {any} [tools]
 * @property {{answers: string}} trace
 * @property {string} path  of the call
 * @property {Object} parameters
 * @property {string[]} keys  columns that name a row
 * @property {{name: string, label: string, title?: string}[]} offered  columns to choose from
 * @property {string[]} chosen  of those
 * @property {string[]} [shown]  the columns to ask for; the chosen ones when left out
 * @property {string[]} [beside]  columns that cells need besides
 * @property {string[]} [unseen]  columns that only links need, which no export has
 * @property {(source: import('./paged.js').Paged) => import('./table.js').Column[]} columns  of the table, keys first
 * @property {(columns: import('./table.js').Column[]) => {label: any, span: number, title?: string}[]} [groups]
 * @property {string} [sort]
 * @property {(row: any, element: HTMLElement) => void} [decorate]
 * @property {string} file
 * @property {(sort: string) => void} [onSort]  what else than the place's sort changes
 * @property {string} [nothing]  why there are no rows
 * @property {(problem: any) => any} [fail]
 * @property {() => void} [done]
 */

/** @param {{onChoose: (names: string[]|null) => void}} options */
export function rowsCard({ onChoose }) {
    const heading = h('h2', {}),
        note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        box = h('div', {});
    const chooser = columnChooser({ label: 'Columns', onChoose });
    const rows = grid();
    const element = h('section', { class: 'card' }, h('header', { class: 'card-head' }, heading, note, tools), box);
    const computing = latestRequest(box);

    /** @param {RowsView} view */
    function update(view) {
        const parameters = {
            ...view.parameters,
            columns: [...view.keys, ...(view.shown ?? view.chosen), ...(view.beside ?? [])].join(','),
            sort: view.sort,
        };
        const wanted = { ...parameters, columns: [parameters.columns, ...(view.unseen ?? [])].join(',') };
        element.setAttribute('aria-label', view.title);
        fill(heading, view.title);
        fill(note, view.note);
        chooser.update(view.offered, view.chosen);
        if (!tools.contains(chooser.element))
            fill(tools, h('span', { class: 'card-tools' }), chooser.element, h('span', {}));
        refill(tools.firstElementChild, view.tools);
        refill(tools.lastElementChild, copyMenu(view.path, parameters, view.file));
        computing.send({
            request: [view.path, wanted],
            what: `Computing the rows of ${view.title}`,
            path: view.path,
            height: 320,
            load: (signal) => paged((page) => getOf(view.trace, view.path, { ...wanted, ...page }, signal)),
            show: (source) => {
                view.done?.();
                show(source, view);
            },
            fail: view.fail,
        });
    }

    function show(source, view) {
        if (source.count === 0) {
            fill(
                box,
                empty(
                    'No rows here',
                    h('p', {}, view.nothing ?? 'No event of this layer in this time range passes the filter.'),
                ),
            );
            return;
        }
        const columns = view.columns(source);
        if (rows.element.parentElement !== box) fill(box, rows.element);
        rows.update({
            columns,
            source,
            caption: view.title,
            groups: view.groups?.(columns),
            sort: view.sort,
            onSort: view.onSort ?? ((sort) => go({ sort })),
            decorate: view.decorate,
        });
    }
    return {
        element,
        update,
        close() {
            computing.close();
            rows.close();
        },
    };
}
