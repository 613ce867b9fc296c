/* task_tables.js - the chains of tasks that decide how long a computation takes, and what went between workers, as
 * tables. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped } from '../format.js';
import { latestRequest } from './latest_request.js';
import { copyMenu } from './copy.js';
import { empty } from './notice.js';
import { segmented } from './segmented.js';
import { literal } from './narrow.js';
import { recordsOf, scrolling, table } from './table.js';
import { go, pageLink } from '../state.js';

const MOST_ROWS = 500;

const TASK = [
    { key: 'step', label: 'Step', unit: 'count' },
    { key: 'name', label: 'Function', class: 'head' },
    { key: 'key', label: 'Task', class: 'name' },
    { key: 'host', label: 'Host' },
    { key: 'worker', label: 'Worker' },
];
const CHAINS = {
    critical_path: [
        ...TASK,
        { key: 'duration', label: 'Duration', unit: 's' },
        { key: 'total', label: 'Total', unit: 's', title: 'of the steps so far' },
    ],
    as_it_ran: [
        ...TASK,
        { key: 'start', label: 'Start', unit: 's', title: 'from the begin of the first task' },
        { key: 'wait', label: 'Wait', unit: 's', title: 'from the end of the step before' },
        {
            key: 'worker_busy',
            label: 'Worker busy',
            unit: 's',
            title: 'part of the wait in which the worker ran other tasks',
        },
        { key: 'idle', label: 'Idle', unit: 's', title: 'the rest of the wait' },
        { key: 'duration', label: 'Duration', unit: 's' },
    ],
};
const TRANSFERS = [
    { key: 'from_host', label: 'From host' },
    { key: 'from_worker', label: 'Worker', class: 'head' },
    { key: 'to_host', label: 'To host' },
    { key: 'to_worker', label: 'Worker' },
    { key: 'count', label: 'Results', unit: 'count' },
    { key: 'size', label: 'Size', unit: 'B' },
];

const LONGEST_LINK = 8000; /* characters that fit into the head of a request */

const MOST_OPENED = 64; /* workers whose lanes are open at once */

/** The lanes of the workers that ran these tasks, and those of their hosts. */
function lanesOf(rows) {
    const lanes = new Set(),
        workers = new Set();
    for (const { host, worker } of rows) {
        const named = `worker-${host}-`,
            number = worker?.startsWith(named) ? worker.slice(named.length) : '';
        if (/^\d+$/.test(number) && workers.size < MOST_OPENED) workers.add(`r:${host}:${Number(number)}`);
        lanes.add(`h:${host}`);
    }
    return [...lanes, ...workers].join(',');
}

/** To the timeline, where the tasks of the chain stand out. */
function onTimeline(rows) {
    const find = `=args.key in [${rows.map(({ key }) => literal(key)).join(', ')}]`;
    return (
        rows.length > 0 &&
        find.length <= LONGEST_LINK && [
            ' ',
            h('a', { href: pageLink('timeline', { find, open: lanesOf(rows) }) }, 'On the timeline'),
        ]
    );
}

/** A card with one table of the trace. */
function rowsCard(title, choose) {
    const tools = h('div', { class: 'card-tools' }),
        note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': title },
        h('header', { class: 'card-head' }, h('h2', {}, title), note, tools),
        box,
    );
    const computing = latestRequest(box);

    /** @param {import('./task_charts.js').TasksView} view */
    function update({ trace, place, parameters }) {
        const { name, columns, control, words, more } = choose(place);
        const path = `traces/${trace.id}/dasf/${name}`,
            asked = { ...parameters, limit: MOST_ROWS };
        refill(tools, control, copyMenu(path, parameters, `${trace.name}-${name}`));
        computing.send({
            request: [path, asked],
            what: title,
            path,
            height: 200,
            load: (signal) => getOf(trace, path, asked, signal),
            show: (answer) => {
                fill(
                    note,
                    answer.row_count > MOST_ROWS
                        ? `the first ${grouped(MOST_ROWS)} of ${grouped(answer.row_count)}; the CSV has them all`
                        : words,
                    more?.(recordsOf(answer)),
                );
                fill(
                    box,
                    answer.row_count === 0
                        ? empty('Nothing here')
                        : scrolling(title, table({ columns, rows: recordsOf(answer), caption: title })),
                );
            },
        });
    }
    return { element, update, close: computing.close };
}

export function chainCard() {
    return rowsCard('Chains of tasks', (place) => {
        const name = place.chain === 'as_it_ran' ? 'as_it_ran' : 'critical_path';
        return {
            name,
            columns: CHAINS[name],
            words:
                name === 'as_it_ran'
                    ? 'from the task that ended last back to the input that came last'
                    : 'each task takes the result of the one before; the longest by duration',
            more: onTimeline,
            control: segmented(
                'Which chain',
                [
                    ['critical_path', 'Longest'],
                    ['as_it_ran', 'As it ran'],
                ],
                name,
                (one) => go({ chain: one === 'critical_path' ? null : one }),
            ),
        };
    });
}

export function transfersCard() {
    return rowsCard('Results that other workers needed', () => ({
        name: 'transfers',
        columns: TRANSFERS,
        words: 'each once for each worker that it went to',
        control: null,
    }));
}
