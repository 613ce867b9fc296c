/* rows_by.js - by what a layered view has its rows: how its keys are written, and what a click on one filters by. */

import { h } from '../dom.js';
import { range } from '../format.js';
import { equals, literal, toggle } from './narrow.js';
import { processConditions } from './processes.js';
import { showRange } from './time.js';

/* Keys of the row, the most particular first: its column is the row's name. */
const EXACT = [
    { by: 'time_range', label: 'Time', head: 'Bin', keys: ['time_range'] },
    { by: 'process', label: 'Process', keys: ['pid', 'host_name'] },
    { by: 'thread', label: 'Thread', keys: ['tid', 'pid', 'host_name'] },
    { by: 'host_name', label: 'Host', keys: ['host_name'] },
    { by: 'file_name', label: 'File', keys: ['file_name'] },
    { by: 'file_dir', label: 'Directory', keys: ['file_dir'] },
    { by: 'file_pattern', label: 'Pattern', keys: ['file_pattern'] },
    { by: 'func_name', label: 'Function', keys: ['func_name'] },
    { by: 'cat', label: 'Category', keys: ['cat'] },
    { by: 'epoch', label: 'Epoch', keys: ['epoch'] },
    { by: 'step', label: 'Step', keys: ['step'] },
];

const COMPATIBLE = [
    { by: 'time_range', label: 'Time', head: 'Bin', keys: ['time_range'] },
    { by: 'proc_name', label: 'Thread', keys: ['proc_name'] },
    { by: 'file_name', label: 'File', keys: ['file_name'] },
];

const LOGICAL = {
    host_name: 'Host',
    proc_id: 'Process',
    thread_id: 'Thread number',
    file_dir: 'Directory',
    file_pattern: 'Pattern',
};

/* What a logical view of exact tables is made of. */
const EXPRESSIONS = { file_pattern: 'replace(file_name, "[0-9]+", "[0-9]")' };

/**
 * @typedef {{by: string, label: string, keys: string[], head?: string, expression?: string}} RowsBy
 */

/**
 * The views that a preset has.
 * @param {{views?: {name: string, expression: string}[]}} preset
 * @param {boolean} compatible
 * @returns {RowsBy[]}
 */
export function viewsOf(preset, compatible) {
    if (!compatible) return EXACT;
    return [
        ...COMPATIBLE,
        ...(preset.views ?? []).map(({ name, expression }) => ({
            by: name,
            label: LOGICAL[name] ?? name,
            keys: [name],
            expression,
        })),
    ];
}

/**
 * The parameters by which a view is asked: DFAnalyzer needs the grouping in advance.
 * @param {RowsBy} rowsBy
 * @param {boolean} compatible
 */
export function viewParameters({ by, expression }, compatible) {
    const ofFiles = /file/.test(expression ?? by);
    return { by, views: compatible && ofFiles ? 'time_range,proc_name,file_name' : undefined };
}

/**
 * What a row is called.
 * @param {RowsBy} rowsBy
 * @param {Object} row
 * @param {number} granularity
 * @param {number} last  where the job ends: all bins of a table are written alike
 */
export function rowName({ by, keys }, row, granularity, last) {
    const key = row[keys[0]];
    if (key === null || key === undefined) return 'none';
    if (by === 'time_range') return range(key * granularity, (key + 1) * granularity, granularity, last);
    return String(key);
}

/** Shows only what the row holds: a click again, and everything is shown. */
export function pick(rowsBy, row, granularity) {
    if (rowsBy.by === 'time_range') showRange(row.time_range * granularity, (row.time_range + 1) * granularity);
    else toggle(...conditionsOf(rowsBy, row));
}

/** The columns of what tells rows apart besides their names: of a single host nobody need read the name. */
export function otherKeys({ keys }, { hosts }) {
    return keys
        .slice(1)
        .filter((key) => key !== 'host_name' || hosts > 1)
        .map((key, at) => ({ key, label: key === 'pid' ? 'Process' : 'Host', class: `pin pin-${at + 1}` }));
}

/** The name of a row, which filters by it. */
export function rowButton(rowsBy, row, granularity, last) {
    const words = rowName(rowsBy, row, granularity, last),
        cut = /^file_/.test(rowsBy.by) ? words.lastIndexOf('/') : -1;
    return h(
        'button',
        {
            type: 'button',
            class: 'row-name name',
            title: `${words}\nClick: show only this`,
            onclick: () => pick(rowsBy, row, granularity),
        },
        cut < 0 ? words : [h('span', { class: 'path-dir' }, words.slice(0, cut)), h('span', {}, words.slice(cut))],
    );
}

function conditionsOf({ by, keys, expression }, row) {
    if (keys.includes('pid')) return processConditions(/** @type {any} */ (row));
    const value = row[keys[0]];
    if (/^file_/.test(by) && value === null) return ['file_name.isna()'];
    if (by === 'file_dir' && value === '.') return ['not file_name.str.contains("/")', 'file_name.notna()'];
    if (by === 'file_dir') return [`dirname(file_name) == ${literal(value)}`];
    return [equals(expression ?? EXPRESSIONS[by] ?? by, value)];
}
