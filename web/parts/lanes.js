/* lanes.js - a kind of chart: intervals of many units, such as ranks, each in a lane over the job's time. */

import { at, range, text } from '../format.js';
import { GRID, nameAxis, timeAxis, tip, tooltip } from './axes.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

const LANE = 20; /* px */

/**
 * @typedef {Object} LanesData
 * @property {number} first
 * @property {number} last  seconds
 * @property {string[]} lanes
 * @property {[from: number, to: number, lane: number][]} intervals
 * @property {string} color
 * @property {string} label
 */

/** @type {import('./plot.js').Kind} */
export const lanes = { option, table, timeAt: (data, x) => x, placeOf: (data, time) => time, height: (data) => 48 + Math.max(2, data.lanes.length) * LANE };

/** @param {LanesData} data */
function option(data) {
    const color = resolved(data.color);
    return {
        grid: GRID, xAxis: timeAxis(data.first, data.last), yAxis: nameAxis(data.lanes, { inverse: true }),
        tooltip: tooltip('item', ({ value: [from, to, lane] }) => tip([data.lanes[lane], ', ', range(from, to)], [{ head: 'for', number: to - from, unit: 's' }])),
        series: [{ type: 'custom', clip: true, encode: { x: [0, 1], y: 2 }, data: data.intervals, renderItem: (_, api) => bar(api, color) }],
    };
}

function bar(api, color) {
    const [left, middle] = api.coord([api.value(0), api.value(2)]), [right] = api.coord([api.value(1), api.value(2)]);
    const height = api.size([0, 1])[1] * 0.6;
    return { type: 'rect', shape: { x: left, y: middle - height / 2, width: Math.max(right - left, 1), height }, style: { fill: color } };
}

function table(data) {
    return chartTable(data.label, data.intervals, [
        { key: 'lane', label: 'Where', class: 'head', cell: ([, , lane]) => data.lanes[lane] },
        { key: 'from', label: 'From', class: 'number', cell: ([from]) => at(from) },
        { key: 'to', label: 'To', class: 'number', cell: ([, to]) => at(to) },
        { key: 'time', label: 'Time', class: 'number', cell: ([from, to]) => text(to - from, 's') },
    ]);
}
