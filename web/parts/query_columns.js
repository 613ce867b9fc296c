/* query_columns.js - how the columns of any answer look: what is a key, a number or a text, and what a click on a key
 * does. */

import { h } from '../dom.js';
import { at as moment, DASH, range, text, value } from '../format.js';
import { equals, toggle } from './narrow.js';
import { listed, nameOf } from './query_text.js';
import { showRange } from './time.js';

/* What the columns of events are called; as the title of a head stands what the request calls them. */
const WORDS = {
    func_name: 'Function',
    cat: 'Category',
    host_name: 'Host',
    pid: 'Process',
    tid: 'Thread',
    file_name: 'File',
    file_dir: 'Directory',
    time_start: 'Start',
    time_end: 'End',
    ts: 'Start',
    te: 'End',
    time: 'Duration',
    dur: 'Duration',
    size: 'Size',
    offset: 'Offset',
    io_cat: 'Kind of I/O',
    image_id: 'Sample',
    step: 'Step',
    epoch: 'Epoch',
    rank: 'Rank',
    trace: 'Run',
};

const BIN = /^bin\(\s*(time_start|time_end|ts|te)\s*,\s*([\d.]+(?:e[+-]?\d+)?)\s*\)$/i;

/**
 * @typedef {Object} Key
 * @property {string} name  of the column
 * @property {string} expression
 * @property {number|null} width  seconds of a bin of time, else null
 * @property {boolean} plain  the filter knows it too
 */

/**
 * The keys of a query's groups.
 * @param {import('./query_request.js').Query} query
 * @returns {Key[]}
 */
export function keysOf(query) {
    if (query.ask !== 'groups') return [];
    const derived = listed(query.derive).map(nameOf);
    return listed(query.group).map((item) => {
        const [, column, width] = BIN.exec(item.expression) ?? [];
        const width_s = column ? Number(width) / (/^t[se]$/.test(column) ? 1e6 : 1) : null;
        return {
            name: nameOf(item),
            expression: item.expression,
            width: width_s && width_s > 0 ? width_s : null,
            plain: !derived.some((name) => new RegExp(`\\b${name}\\b`).test(item.expression)),
        };
    });
}

/**
 * The unit of a result: the server's, or that of a rate that the query itself spells out.
 * @param {string} name
 * @param {Object<string, string>} units
 * @param {import('./query_request.js').Query} query
 * @returns {string|null}  a key of UNITS, or "us"
 */
export function unitIn(name, units, query) {
    if (units[name]) return units[name];
    const expression = listed(query.agg).find((item) => nameOf(item) === name)?.expression ?? '';
    if (/^sum\(\s*size\s*\)\s*\/\s*(busy\(\)|sum\(\s*time\s*\))$/.test(expression)) return 'B/s';
    if (/^count\(\)\s*\/\s*(busy\(\)|sum\(\s*time\s*\))$/.test(expression)) return '1/s';
    return null;
}

/**
 * @param {{columns: string[], units: Object<string, string>, rows: any[][]}} answer
 * @param {import('./query_request.js').Query} query
 * @param {Set<string>} [numeric]  columns that are known to hold numbers, if they hold anything
 * @returns {import('./table.js').Column[]}
 */
export function columnsOf({ columns, units, rows }, query, numeric = new Set()) {
    const keys = new Map(keysOf(query).map((key) => [key.name, key]));
    const given = ownNames(query);
    return columns.map((name, at) => {
        const sample = rows.find((row) => row[at] !== null)?.[at];
        const isNumber = typeof sample === 'number' || (sample === undefined && (numeric.has(name) || name in units));
        const key = keys.get(name);
        const column = key
            ? keyColumn(key, isNumber, units[name])
            : isNumber
              ? numberColumn(name, unitIn(name, units, query), query)
              : { cell: (record) => words(record[name]) };
        const own = given.has(name),
            ticks = isNumber && !key && units[name] === 'us';
        const label = (own ? name : (WORDS[name] ?? name)) + (ticks ? ', \u00b5s' : '');
        return { key: name, label, title: name, ...column, ...(at === 0 && { class: 'head' }) };
    });
}

/** The names that whoever asks has given, which stay as they are. */
function ownNames({ derive, group, agg }) {
    return new Set([derive, group, agg].flatMap((words) => listed(words).flatMap(({ name }) => name ?? [])));
}

/** Counts and sums are grouped by thousands; identifiers, which events have, are not. */
function numberColumn(name, unit, query) {
    if (/^time_(start|end)$/.test(name)) return { class: 'number', cell: (record) => moment(record[name]) };
    if (unit === 'us') return { unit: 'count' };
    if (unit === 'B') return { unit, get: (record) => record[name] || null };
    if (unit) return { unit };
    const aggregate = query.ask === 'json' || listed(query.agg).some((item) => nameOf(item) === name);
    if (!aggregate) return { class: 'number', cell: (record) => words(record[name]) };
    return {
        unit: 'number',
        cell: (record) => value(record[name], Number.isInteger(record[name]) ? 'count' : 'number'),
    };
}

/** @param {Key} key */
function keyColumn(key, numeric, unit) {
    const shown = (found) => keyText(key, found, unit);
    const pick = (found) =>
        key.width ? showRange(found * key.width, (found + 1) * key.width) : toggle(equals(key.expression, found));
    const cell = (record) => {
        const found = record[key.name];
        if (found === null || (!key.plain && !key.width)) return words(found);
        return h(
            'button',
            {
                type: 'button',
                class: 'row-name name',
                title: `${shown(found)}\nClick: show only this`,
                onclick: () => pick(found),
            },
            ended(shown(found)),
        );
    };
    return { cell, class: numeric && !key.width ? 'number' : undefined };
}

/** A key in words: a bin of time as its range. */
export function keyText(key, found, unit) {
    if (found === null || found === undefined) return 'none';
    if (key.width) return range(found * key.width, (found + 1) * key.width, key.width);
    return unit === 'B' || unit === 's' ? text(found, unit) : String(found) || '(empty)';
}

function words(found) {
    if (found === null || found === undefined) return h('span', { class: 'missing', title: 'no value' }, DASH);
    const whole = Array.isArray(found) ? found.join(', ') : String(found);
    return h(
        'span',
        { class: typeof found === 'string' ? 'name path-words' : null, title: whole.length > 40 ? whole : null },
        ended(whole),
    );
}

const LONG_PATH = 40,
    LONG_NAME = 16,
    ENDING = 6; /* characters at most, of a file name's extension */

/** Of a long path, or of a long name of a class's function, the end, which tells most, is not cut. */
export function ended(words) {
    const slash = words.lastIndexOf('/'),
        dot = words.lastIndexOf('.');
    const named = slash < 0 && words.length > LONG_NAME && words.length - dot > ENDING;
    const cut = words.length > LONG_PATH && slash >= 0 ? slash : named ? dot : -1;
    return cut < 0 ? words : [h('span', { class: 'path-dir' }, words.slice(0, cut)), h('span', {}, words.slice(cut))];
}
