/* hot_card.js - the files or folders that took the most time of I/O calls, five of them, leading on to their calls. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { plural } from '../format.js';
import { go, pageLink } from '../state.js';
import { latestRequest } from './latest_request.js';
import { empty } from './notice.js';
import { equals, narrowed } from './narrow.js';
import { segmented } from './segmented.js';
import { ended } from './query_columns.js';
import { recordsOf, scrolling, table } from './table.js';

const MOST = 5;
const KINDS = {
    files: { label: 'Files', head: 'File', expression: 'file_name' },
    folders: { label: 'Folders', head: 'Folder', expression: 'dirname(file_name)' },
};

export function hotCard() {
    const note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Hottest files' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Hottest files'), note, tools),
        box,
    );
    const reading = latestRequest(box);

    function update({ trace, place }) {
        const key = place.hot === 'folders' ? 'folders' : 'files',
            { expression } = KINDS[key];
        refill(
            tools,
            segmented(
                'Hottest',
                Object.entries(KINDS).map(([name, { label }]) => [name, label]),
                key,
                (name) => go({ hot: name === 'files' ? null : name }),
            ),
        );
        const calls = 'cat.str.contains("posix|stdio") and file_name.notna()';
        const q = JSON.stringify({
            filter: place.filter ? `(${place.filter}) and ${calls}` : calls,
            group_by: [{ hot: expression }],
            aggregate: { time: 'sum(time)', calls: 'count()', bytes: 'sum(size)' },
            order_by: ['-time'],
            limit: MOST,
        });
        const path = `traces/${trace.id}/query`,
            asked = {
                preset: place.preset ?? trace.preset.name,
                filters: place.filters,
                from: place.from,
                to: place.to,
                q,
            };
        reading.send({
            request: asked,
            what: `Looking for the hottest ${key}`,
            path,
            height: 200,
            load: (signal) => getOf(trace, path, asked, signal),
            show: (answer) => draw(answer, KINDS[key], place),
        });
    }

    function draw(answer, { head, expression }, place) {
        fill(note, `by time in I/O calls, of ${plural(answer.row_count, head.toLowerCase())}`);
        if (answer.row_count === 0) {
            fill(box, empty('No files', h('p', {}, 'No I/O call here names a file.')));
            return;
        }
        const name = (row) =>
            h(
                'a',
                {
                    class: 'path row-name',
                    title: `${row.hot}: show its slowest calls`,
                    href: pageLink('query', {
                        ask: 'events',
                        order: '-time',
                        filter: narrowed(place.filter ?? '', equals(expression, row.hot)),
                    }),
                },
                ended(row.hot),
            );
        fill(
            box,
            scrolling(
                `Hottest ${head.toLowerCase()}s`,
                table({
                    caption: `Hottest ${head.toLowerCase()}s`,
                    rows: recordsOf(answer),
                    columns: [
                        { key: 'hot', label: head, class: 'head', cell: name },
                        { key: 'time', label: 'Call time', unit: 's' },
                        { key: 'calls', label: 'Calls', unit: 'count' },
                        { key: 'bytes', label: 'Bytes', unit: 'B', get: (row) => row.bytes || null },
                    ],
                }),
                'hot',
            ),
        );
    }
    return { element, update, close: reading.close };
}
