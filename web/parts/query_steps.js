/* query_steps.js - how a result was computed: the steps that the server took, what each read, and how long it took. */

import { h } from '../dom.js';
import { plural, text } from '../format.js';
import { scrolling, table } from './table.js';

const COLUMNS = [
    { key: 'name', label: 'Step', class: 'head' },
    { key: 'detail', label: 'What' },
    { key: 'rows_in', label: 'Rows in', unit: 'count' },
    { key: 'rows_out', label: 'Rows out', unit: 'count' },
    { key: 'blocks_read', label: 'Row groups read', unit: 'count' },
    {
        key: 'blocks_skipped',
        label: 'Skipped',
        unit: 'count',
        title: 'Row groups whose statistics say that no row can pass',
    },
    { key: 'seconds', label: 'Time', unit: 's' },
    { key: 'memory', label: 'Memory', unit: 'B' },
    { key: 'spilled', label: 'Spilled', unit: 'B', title: 'Written to disk because the memory setting was reached' },
];

/**
 * @param {{seconds: number, blocks_read: number, blocks_skipped: number}[]} steps
 * @param {number} rows
 */
export function stepsFold(steps, rows) {
    const sum = (key) => steps.reduce((total, step) => total + step[key], 0);
    return h(
        'details',
        { class: 'steps', hidden: steps.length === 0 },
        h(
            'summary',
            {},
            `${plural(rows, 'row')} in ${text(sum('seconds'), 's')}; ${plural(sum('blocks_read'), 'row group')} read, ${sum('blocks_skipped')} skipped`,
        ),
        scrolling('Steps', table({ columns: COLUMNS, rows: steps, caption: 'Steps' })),
    );
}
