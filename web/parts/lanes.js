/* lanes.js - a kind of chart: intervals of many units, such as ranks, each in a lane over the job's time. */

import { at, range, text } from '../format.js';
import { GRID, nameAxis, timeAxis, tip } from './axes.js';
import { painted } from './painted.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

const LANE = 20 /* px */,
    NARROW = 10; /* of many */

/**
 * @typedef {Object} LanesData
 * @property {number} first
 * @property {number} last  seconds
 * @property {string[]} lanes
 * @property {[from: number, to: number, lane: number][]} intervals
 * @property {string} color
 * @property {string} label
 * @property {(place: number[]) => string|null} [address]  where a click on an interval leads: of a moment and a lane
 */

/** @type {import('./plot.js').Kind} */
export const lanes = {
    option,
    table,
    tip: tipOf,
    timeAt: (data, x) => x,
    placeOf: (data, time) => time,
    height: (data) => 48 + Math.max(2, data.lanes.length) * (data.lanes.length > 32 ? NARROW : LANE),
};

/** @param {LanesData} data */
function option(data) {
    return {
        grid: GRID,
        xAxis: timeAxis(data.first, data.last),
        yAxis: nameAxis(data.lanes, { inverse: true }),
        series: [painted([data.first, 0], (pen, ground) => paintIntervals(pen, ground, data))],
    };
}

/** Each at least a pixel wide. */
function paintIntervals(pen, { height, x }, data) {
    const lane = height / data.lanes.length,
        thick = Math.round(lane * 0.6);
    pen.fillStyle = resolved(data.color);
    for (const [from, to, which] of data.intervals)
        pen.fillRect(
            Math.floor(x(from)),
            Math.round((which + 0.5) * lane - thick / 2),
            Math.max(1, Math.round(x(to) - x(from))),
            thick,
        );
}

const NEAR = 0.002; /* of the shown time: short intervals can be pointed at */

/**
 * The interval under the pointer, else the nearest one beside it.
 * @param {any} data
 * @param {number[]} at
 */
function tipOf(data, [time, lane]) {
    const apart = ([from, to, its]) => (its === lane ? Math.max(from - time, time - to, 0) : Infinity);
    const nearest = data.intervals.reduce((best, one) => (apart(one) < apart(best) ? one : best), data.intervals[0]);
    if (!(apart(nearest) <= (data.last - data.first) * NEAR)) return null;
    return tip(
        [data.lanes[lane], ', ', range(nearest[0], nearest[1])],
        [{ head: 'for', number: nearest[1] - nearest[0], unit: 's' }],
    );
}

function table(data) {
    return chartTable(data.label, data.intervals, [
        { key: 'lane', label: 'Where', class: 'head', cell: ([, , lane]) => data.lanes[lane] },
        { key: 'from', label: 'From', class: 'number', cell: ([from]) => at(from) },
        { key: 'to', label: 'To', class: 'number', cell: ([, to]) => at(to) },
        { key: 'time', label: 'Duration', class: 'number', cell: ([from, to]) => text(to - from, 's') },
    ]);
}
