/* access_card.js - how files are accessed: calls by what they do to the offset, bytes moved again, files that ranks
 * share, and reads of the first epoch against later ones. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { value } from '../format.js';
import { latestRequest } from './latest_request.js';
import { stallRequest } from './causes.js';
import { whenNear } from './near.js';
import { scrolling, table } from './table.js';

const UNEVEN = 'Files of which the slowest and the fastest rank differ by 15 %';

/* Members of the response: what they are called, their unit, and what they mean. */
const ROWS = [
    ['ops', 'Calls with a size', 'count'],
    ['known', 'Of known offset', 'count'],
    ['consecutive', 'Consecutive', 'count', 'Where the one before it of the same file ended'],
    ['sequential', 'Sequential', 'count', 'Further on in the file'],
    ['random', 'Random', 'count', 'Before the end of the one before it'],
    ['first', 'First of a file', 'count'],
    ['unknown', 'Of unknown offset', 'count'],
    ['known_bytes', 'Bytes at known offsets', 'B'],
    ['distinct_bytes', 'Different bytes', 'B', 'Each byte of a file counts once in an epoch'],
    ['shared_files', 'Shared files', 'count', 'Two ranks at least move data of each'],
    ['shared_ops', 'Calls to shared files', 'count'],
    ['shared_small', 'of these below 1 MiB', 'count', 'Of the calls to shared files'],
    ['shared_uneven_size', 'Shared files uneven by bytes', 'count', UNEVEN],
    ['shared_worst_size', 'largest difference of bytes', 'share', "Of the file's bytes"],
    ['shared_uneven_time', 'Shared files uneven by time', 'count', UNEVEN],
    ['shared_worst_time', 'largest difference of time', 'share', 'Of the time of all'],
    [
        'shared_uneven',
        'Shared files uneven by rank',
        'count',
        'Files of which the ranks with most and fewest bytes differ by 30 %',
    ],
    ['shared_worst', 'largest difference of ranks', 'share', 'Of the most bytes'],
    ['first_epoch_bw', 'Bandwidth, first epoch', 'B/s', 'Bytes divided by the time in which a rank reads, over ranks'],
    ['later_epochs_bw', 'Bandwidth, later ones', 'B/s', 'The median of the other epochs'],
];

export function accessCard() {
    const box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'File access' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'File access'),
            h('small', {}, 'what calls do to the offset, and how ranks share files'),
        ),
        box,
    );
    const reading = latestRequest(box),
        sight = whenNear(element);

    /** @param {{trace: any, place: Object}} view */
    function update({ trace, place }) {
        const { filters: _, ...request } = stallRequest(place, trace),
            path = `traces/${trace.id}/access`;
        sight.act(() =>
            reading.send({
                request: [trace.answers, request],
                what: 'Following the offsets',
                path,
                height: 480,
                load: (signal) =>
                    Promise.all(
                        ['read', 'write'].map((kind) => getOf(trace, path, { ...request, kind, limit: 1 }, signal)),
                    ),
                show: draw,
            }),
        );
    }

    function draw([read, write]) {
        const column = (label, facts) => ({
            key: label,
            label,
            class: 'number',
            cell: ({ key, unit }) => value(facts[key] ?? null, unit),
        });
        fill(
            box,
            scrolling(
                'Reads and writes',
                table({
                    caption: 'File access',
                    rows: ROWS.filter(([key]) => read[key] || write[key]).map(([key, label, unit, title]) => ({
                        key,
                        label,
                        unit,
                        title,
                    })),
                    decorate: ({ key, title }, line) => {
                        line.dataset.fact = key;
                        if (title) line.title = title;
                    },
                    columns: [
                        { key: 'label', label: 'Figure', class: 'head' },
                        column('Reads', read),
                        column('Writes', write),
                    ],
                }),
            ),
        );
    }

    return {
        element,
        update,
        close() {
            sight.close();
            reading.close();
        },
    };
}
