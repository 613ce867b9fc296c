/* lines.js - a kind of chart: lines or stacked areas over the job's time. */

import { h } from '../dom.js';
import { at, range, text } from '../format.js';
import { decalOf, GRID, timeAxis, valueAxis } from './axes.js';
import { swatch } from './layers.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

/**
 * @typedef {Object} Series
 * @property {string} name
 * @property {import('./layers.js').Layer} layer
 * @property {(number|null)[]} values  one per time
 *
 * @typedef {Object} LinesData
 * @property {number[]} times  start of each bin, seconds
 * @property {number} width  of a bin, seconds
 * @property {string} unit  of the values
 * @property {boolean} stacked
 * @property {Series[]} series
 * @property {string} label  what is shown, for screen readers and the table
 */

/** @type {import('./plot.js').Kind} */
export const lines = { option, table, tip, timeAt: (data, x) => x, placeOf: (data, time) => time };

/** @param {LinesData} data */
function option(data) {
    const first = data.times[0] ?? 0, last = (data.times[data.times.length - 1] ?? 0) + data.width;
    return {
        grid: GRID, xAxis: timeAxis(first, last), yAxis: valueAxis(data.unit, highestOf(data)),
        series: data.series.map((series) => seriesOption(series, data)),
    };
}

function highestOf(data) {
    const at = (index) => data.series.map((series) => series.values[index] ?? 0);
    const heights = data.times.map((_, index) => data.stacked ? at(index).reduce((sum, part) => sum + part, 0) : Math.max(0, ...at(index)));
    return heights.reduce((a, b) => Math.max(a, b), 0);
}

/** A bin is a step from its start to its end; the last one is closed by a repeated value. */
function seriesOption(series, data) {
    const points = data.times.map((time, index) => [time, data.stacked ? series.values[index] ?? 0 : series.values[index]]);
    if (points.length > 0) points.push([points[points.length - 1][0] + data.width, points[points.length - 1][1]]);
    const color = resolved(series.layer.color);
    return {
        name: series.name, type: 'line', step: 'end', symbol: 'none', data: points, sampling: data.stacked ? undefined : 'minmax',
        color, itemStyle: { color, decal: decalOf(series.layer) }, stack: data.stacked ? 'all' : undefined, connectNulls: false, silent: true,
        lineStyle: { color, width: data.stacked ? (data.times.length > 500 ? 0 : 0.5) : 1.5, type: !data.stacked && series.layer.hatched ? [4, 2] : 'solid' },
        areaStyle: data.stacked ? { color, opacity: 1 } : undefined,
        emphasis: { disabled: true },
    };
}

/**
 * Bins without events may be left out, so the last one that begins before the pointer is looked for.
 * @type {import('./plot.js').Kind['tip']}
 */
function tip(data, [x]) {
    const index = data.times.findLastIndex((time) => time <= x);
    if (index < 0) return null;
    const rows = data.series.map((series) => ({ series, number: series.values[index] ?? null })).filter((row) => row.number !== null);
    if (data.stacked) rows.reverse();
    const total = rows.reduce((sum, row) => sum + row.number, 0);
    return h('div', { class: 'chart-tip' },
        h('p', {}, range(data.times[index], data.times[index] + data.width, data.width)),
        rows.length === 0 && h('p', {}, 'nothing'),
        h('table', {}, h('tbody', {},
            rows.map((row) => h('tr', {}, h('th', {}, swatch(row.series.layer), row.series.name), h('td', {}, text(row.number, data.unit)))),
            data.stacked && rows.length > 1 && h('tr', { class: 'total' }, h('th', {}, 'together'), h('td', {}, text(total, data.unit))))));
}

function table(data) {
    return chartTable(data.label, data.times.map((_, index) => index), [
        { key: 'time', label: 'From', class: 'head', cell: (row) => at(data.times[row], data.width) },
        ...data.series.map((series) => ({ key: series.name, label: series.name, unit: data.unit, get: (row) => series.values[row] })),
    ]);
}
