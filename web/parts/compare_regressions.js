/* compare_regressions.js - what took longer than in the baseline, the most first: by function, category, file or
 * directory. */

import { send } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { change } from './compare_change.js';
import { runSwatch } from './compare_runs.js';
import { postMenu } from './copy.js';
import { grid } from './grid.js';
import { empty } from './notice.js';
import { whole } from './paged.js';
import { segmented } from './segmented.js';
import { sorted } from './table.js';

const MOST = 20000,
    USUAL = '-time_change';
const BY = [
    { key: 'func_name', label: 'Function', expression: 'func_name' },
    { key: 'cat', label: 'Category', expression: 'cat' },
    { key: 'file_dir', label: 'Directory', expression: 'dirname(file_name)' },
    { key: 'file', label: 'File', expression: 'basename(file_name)' },
];

/** @type {{key: string, label: string, unit: string, better: import('./compare_change.js').Better}[]} */
const MEASURES = [
    { key: 'time', label: 'Call time', unit: 's', better: 'lower' },
    { key: 'calls', label: 'Calls', unit: 'count', better: 'neither' },
    { key: 'mean', label: 'Time of a call', unit: 's', better: 'lower' },
    { key: 'bytes', label: 'Bytes', unit: 'B', better: 'neither' },
];

export function regressionsCard() {
    const note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Largest slow-downs' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Largest slow-downs'), note, tools),
        box,
    );
    const rows = grid();
    const comparing = latestRequest(box);
    let source = null,
        order = null;

    /**
     * @param {{runs: import('./compare_runs.js').Run[], parameters: Object, place: Object,
     *          scale: import('./compare_scale.js').Scale}} view
     */
    function update(view) {
        const by = BY.find(({ key }) => key === view.place.by) ?? BY[0];
        const body = requestFor(view, by);
        refill(
            tools,
            segmented(
                'Rows by',
                BY.map(({ key, label }) => [key, label]),
                by.key,
                (key) => go({ by: key }),
            ),
            postMenu('query', body, `compare-${by.key}`),
        );
        comparing.send({
            request: [body, view.runs.map(({ trace }) => trace.answers)],
            what: `Comparing ${by.label.toLowerCase()} by ${by.label.toLowerCase()}`,
            height: 320,
            load: (signal) => send('POST', 'query', body, signal),
            show: (answer) => show(answer, view, by),
        });
    }

    function show(answer, { runs, place, scale }, by) {
        const columns = columnsOf(runs, by),
            sort = columns.some(({ key }) => key === place.sort?.replace(/^-/, '')) ? place.sort : USUAL;
        const made = `${sort} ${scale.per}`;
        if (source?.answer !== answer || order !== made) source = sourceOf(answer, runs, sort, scale);
        order = made;
        fill(
            note,
            source.left > 0
                ? `of the first ${grouped(MOST)} rows; ${grouped(source.left)} more have changed less`
                : 'by time in calls; what is new counts with all its time',
        );
        if (source.count === 0) {
            fill(box, empty('Nothing here', h('p', {}, 'No event of the other runs passes the filter.')));
            return;
        }
        if (rows.element.parentElement !== box) fill(box, rows.element);
        const groups = [
            { label: '', span: columns.length - 3 * MEASURES.length },
            ...MEASURES.map(({ label }) => ({ label, span: 3 })),
        ];
        rows.update({
            columns,
            groups,
            source,
            caption: 'Largest slow-downs',
            sort,
            onSort: (next) => go({ sort: next === USUAL ? null : next }),
        });
    }
    return {
        element,
        update,
        close() {
            comparing.close();
            rows.close();
        },
    };
}

function requestFor({ runs, parameters }, by) {
    const { preset, filters, filter, from, to } = parameters;
    return {
        traces: Object.fromEntries(runs.map(({ name, id }) => [name, id])),
        ...Object.fromEntries(
            Object.entries({ preset, filters, from: from && Number(from), to: to && Number(to), filter }).filter(
                ([, value]) => value !== undefined && value !== '',
            ),
        ),
        group_by: [by.key === by.expression ? by.key : { [by.key]: by.expression }, 'trace'],
        aggregate: { time: 'sum(time)', calls: 'count()', mean: 'mean(time)', bytes: 'sum(size)' },
        compare: { baseline: runs[0].name, columns: MEASURES.map(({ key }) => key) },
        order_by: ['-time_delta'],
        limit: MOST,
    };
}

/**
 * The other runs' rows in order of a column; what one side lacks counts as 0 in a change, for it took no time there.
 */
function sourceOf(answer, runs, sort, scale) {
    const at = (name) => answer.columns.indexOf(name),
        key = sort.replace(/^-/, ''),
        changed = key.replace(/_change$/, '');
    const read =
        changed === key
            ? (row) => row[at(key)]
            : (row) => (row[at(changed)] ?? 0) - (row[at(`${changed}_baseline`)] ?? 0);
    const found = sorted(
        answer.data
            .filter((row) => row[at('trace')] !== runs[0].name)
            .map((row) => scaledRow(row, answer, runs, scale)),
        [{ key, label: key, get: read }],
        sort,
    );
    return { ...whole(answer, answer.columns, found), left: answer.row_count - answer.data.length };
}

/** A row with its sums for each rank, step or sample. */
function scaledRow(row, { columns }, runs, scale) {
    const run = runs.findIndex(({ name }) => name === row[columns.indexOf('trace')]);
    return row.map((value, index) => {
        const name = columns[index],
            key = name.replace(/_baseline$/, '');
        return typeof value === 'number' ? scale.of(name === key ? run : 0, key, value) : value;
    });
}

/** @returns {import('./table.js').Column[]} */
function columnsOf(runs, by) {
    const pair = ({ key, unit, better }) => {
        /* a dash where calls of neither run have bytes */
        const isThere = (row) => unit !== 'B' || row[key] > 0 || row[`${key}_baseline`] > 0,
            of = (name) => (row) => (isThere(row) ? row[name] : null),
            [now, before] = [of(key), of(`${key}_baseline`)];
        return [
            {
                key: `${key}_change`,
                label: 'change',
                class: 'number',
                cell: (row) => change(now(row), before(row), unit, better),
            },
            { key, label: 'now', unit, get: now },
            { key: `${key}_baseline`, label: 'baseline', unit, get: before },
        ];
    };
    return [
        {
            key: by.key,
            label: by.label,
            class: 'head',
            cell: (row) => h('span', { class: 'name', title: row[by.key] }, row[by.key] || '(empty)'),
        },
        ...(runs.length > 2
            ? [
                  {
                      key: 'trace',
                      label: 'Run',
                      cell: (row) => [runSwatch(runs.find(({ name }) => name === row.trace)), ` ${row.trace}`],
                  },
              ]
            : []),
        ...MEASURES.flatMap(pair),
    ];
}
