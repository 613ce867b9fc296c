/* query_chart.js - a response as a chart: lines where a key is a bin of time, else bars, a bar for each row. */

import { bars } from './bars.js';
import { lines } from './lines.js';
import { keysOf, keyText, unitIn } from './query_columns.js';
import { listed, nameOf } from './query_text.js';

const MOST_BARS = 30,
    MOST_LINES = 12,
    HUES = 12;
export const MOST_ROWS = 20000;

/**
 * @typedef {Object} Chart
 * @property {import('./plot.js').Kind} kind
 * @property {any} data
 * @property {string|null} note  what it leaves out
 */

/** The columns that can be drawn. */
export function drawable({ columns, rows }, query) {
    const keys = new Set(keysOf(query).map(({ name }) => name));
    return columns.filter((name, at) => !keys.has(name) && rows.some((row) => typeof row[at] === 'number'));
}

/**
 * @param {{columns: string[], units: Object<string, string>, rows: any[][], count: number}} answer
 * @param {import('./query_request.js').Query} query
 * @param {string} measure  the column to draw
 * @returns {Chart}
 */
export function chartOf(answer, query, measure) {
    const keys = keysOf(query),
        time = keys.find(({ width }) => width);
    const at = (name) => answer.columns.indexOf(name);
    const unit =
        { us: 'number', null: wholeNumbers(answer.rows, at(measure)) ? 'count' : 'number' }[
            String(unitIn(measure, answer.units, query))
        ] ?? unitIn(measure, answer.units, query);
    const rest = (time ? keys.filter((key) => key !== time) : keys).filter((key) => at(key.name) >= 0);
    const nameIn = (row) =>
        rest.map((key) => keyText(key, row[at(key.name)], answer.units[key.name])).join(' \u00b7 ');
    return time
        ? overTime(answer, { query, measure, unit, time, at, nameIn })
        : inBars(answer, { measure, unit, at, rest, nameIn });
}

function wholeNumbers(rows, at) {
    return rows.every((row) => row[at] === null || Number.isInteger(row[at]));
}

function inBars({ columns, rows, count }, { measure, unit, at, rest, nameIn }) {
    const shown = rows.slice(0, MOST_BARS);
    const names =
        rest.length > 0
            ? shown.map(nameIn)
            : shown.map((row, index) =>
                  typeof row[0] === 'string' && columns[0] !== measure ? row[0] : `row ${index + 1}`,
              );
    const series = [{ name: measure, color: 'var(--layer-6)', values: shown.map((row) => row[at(measure)]) }];
    return {
        kind: bars,
        data: {
            names,
            series,
            unit,
            lying: true,
            label: `${measure} by ${rest.map(({ name }) => name).join(', ') || 'row'}`,
            head: rest.map(({ name }) => name).join(', ') || 'Row',
        },
        note: count > shown.length ? `the first ${shown.length} of ${count} rows` : null,
    };
}

/** Bins in which nothing happened are 0 for what counts and sums, else a gap. */
function overTime({ rows, count }, { query, measure, unit, time, at, nameIn }) {
    const adds = /^(count\(\)|sum\([^()]*\))$/.test(
        listed(query.agg).find((item) => nameOf(item) === measure)?.expression ?? '',
    );
    const bins = rows.map((row) => row[at(time.name)]).filter((bin) => bin !== null);
    const first = bins.reduce((a, b) => Math.min(a, b), Infinity),
        last = bins.reduce((a, b) => Math.max(a, b), -Infinity);
    const length = bins.length === 0 || last - first > MOST_ROWS ? 0 : last - first + 1;
    const byName = new Map();
    for (const row of rows) {
        const name = nameIn(row) || measure;
        if (!byName.has(name))
            byName.set(
                name,
                Array.from({ length }, () => (adds ? 0 : null)),
            );
        byName.get(name)[row[at(time.name)] - first] = row[at(measure)];
    }
    const total = (values) => values.reduce((sum, one) => sum + (one ?? 0), 0);
    const shown = [...byName].sort((a, b) => total(b[1]) - total(a[1])).slice(0, MOST_LINES);
    const series = shown.map(([name, values], index) => ({
        name,
        values,
        layer: /** @type {any} */ ({ name, color: `var(--layer-${((index * 5 + 5) % HUES) + 1})`, hatched: false }),
    }));
    return {
        kind: lines,
        data:
            length === 0
                ? null
                : {
                      times: Array.from({ length }, (_, index) => (first + index) * time.width),
                      width: time.width,
                      unit,
                      stacked: adds && series.length > 1,
                      series,
                      label: `${measure} over time`,
                  },
        note:
            length === 0
                ? 'too many bins to draw'
                : byName.size > shown.length
                  ? `the ${shown.length} with most of ${byName.size}`
                  : rows.length < count
                    ? `the first ${rows.length} of ${count} rows`
                    : null,
    };
}
