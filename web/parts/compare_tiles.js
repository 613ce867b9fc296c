/* compare_tiles.js - the figures of whole runs beside each other. */

import { fill, h } from '../dom.js';
import { value } from '../format.js';
import { change } from './compare_change.js';
import { runSwatch } from './compare_runs.js';

/**
 * key: what it adds up like, where it does.
 * @type {{label: string, key?: string, unit: string, better: import('./compare_change.js').Better, get: (summary:
 *   Object, io:
 * Object) => number|null, title?: string}[]}
 */
const FIGURES = [
    {
        label: 'Job time',
        unit: 's',
        better: 'lower',
        get: (summary) => summary.job_time,
        title: 'From the first event to the end of the last',
    },
    { label: 'Events', key: 'events', unit: 'count', better: 'neither', get: (summary) => summary.events },
    { label: 'Processes', unit: 'count', better: 'neither', get: (summary) => summary.processes },
    { label: 'Files', unit: 'count', better: 'neither', get: (summary) => summary.files },
    {
        label: 'Read',
        key: 'size',
        unit: 'B',
        better: 'neither',
        get: (summary, io) => io?.read_size,
        title: 'By POSIX and STDIO calls',
    },
    {
        label: 'Written',
        key: 'size',
        unit: 'B',
        better: 'neither',
        get: (summary, io) => io?.write_size,
        title: 'By POSIX and STDIO calls',
    },
    {
        label: 'I/O time',
        key: 'time',
        unit: 's',
        better: 'lower',
        get: (summary, io) => io?.time,
        title: 'Time in POSIX and STDIO calls, added up',
    },
    {
        label: 'I/O bandwidth',
        key: 'bw_busy',
        unit: 'B/s',
        better: 'higher',
        get: (summary, io) => io?.bw_busy,
        title: 'Bytes over the time during which any I/O call was running',
    },
];

/**
 * @param {import('./compare_runs.js').Run[]} runs  the baseline first
 * @param {{summary: Object, io: Object}[]} answers  of each run
 * @param {import('./compare_scale.js').Scale} scale
 */
export function compareTiles(runs, answers, scale) {
    return fill(
        h('dl', { class: 'tiles compare-tiles', style: { '--tiles': 4 } }),
        FIGURES.map(({ label, key, unit, better, get, title }) => {
            const numbers = answers.map(({ summary, io }, at) => scale.of(at, key ?? '', get(summary, io)));
            return h(
                'div',
                { class: 'tile', title },
                h('dt', {}, label),
                runs.map((run, at) =>
                    h(
                        'dd',
                        { class: 'run-figure', title: run.name },
                        runSwatch(run),
                        h('span', { class: 'visually-hidden' }, `${run.name}: `),
                        h('span', { class: 'figure' }, value(numbers[at], unit)),
                        !run.baseline && change(numbers[at], numbers[0], unit, better, { delta: false }),
                    ),
                ),
            );
        }),
    );
}
