/* lines.js - a kind of chart: lines or stacked areas over the job's time. */

import { h } from '../dom.js';
import { at, range, text } from '../format.js';
import { GRID, timeAxis, valueAxis } from './axes.js';
import { swatch } from './layers.js';
import { inkOf, painted } from './painted.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

/**
 * @typedef {Object} Series
 * @property {string} name
 * @property {import('./layers.js').Layer} layer
 * @property {(number|null)[]} values  one per time
 * @property {[least: number, most: number][]} [band]  of the finer bins in each bin, at its scale
 *
 * @typedef {Object} LinesData
 * @property {number[]} times  start of each bin, seconds
 * @property {number} width  of a bin, seconds
 * @property {[number, number]} [range]  the time that is shown; without: from the first bin to the last
 * @property {string} unit  of the values
 * @property {boolean} stacked
 * @property {Series[]} series
 * @property {{value: number, words: string}} [capacity]  the most that a bin can hold; drawn across stacked areas,
 *   unless it lies far above them
 * @property {string} label  what is shown, for screen readers and the table
 */

/** @type {import('./plot.js').Kind} */
export const lines = { option, table, tip, timeAt: (data, x) => x, placeOf: (data, time) => time };

/** @param {LinesData} data */
function option(data) {
    const whole = [data.times[0] ?? 0, (data.times[data.times.length - 1] ?? 0) + data.width];
    const [first, last] = data.range ?? whole,
        highest = highestOf(data),
        capacity = data.stacked && data.capacity && data.capacity.value <= FAR * highest ? data.capacity : null;
    return {
        grid: GRID,
        xAxis: timeAxis(first, last),
        yAxis: valueAxis(data.unit, Math.max(highest, capacity?.value ?? 0)),
        series: [
            painted([first, 0], (pen, ground) => {
                (data.stacked ? paintAreas : paintSteps)(pen, ground, data);
                if (capacity) paintCapacity(pen, ground, capacity);
            }),
        ],
    };
}

const FAR = 4; /* times as high as the areas: a line up there would press them flat */

/** A dashed line with its words below it, on ground that keeps them readable. */
function paintCapacity(pen, { width, y }, { value, words }) {
    const ratio = window.devicePixelRatio,
        at = Math.max(1, Math.round(y(value)));
    pen.strokeStyle = resolved('var(--ink)');
    pen.lineWidth = ratio;
    pen.setLineDash([6 * ratio, 4 * ratio]);
    pen.beginPath();
    pen.moveTo(0, at);
    pen.lineTo(width, at);
    pen.stroke();
    pen.font = `${12 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = 'right';
    pen.textBaseline = 'top';
    const wide = pen.measureText(words).width;
    pen.fillStyle = resolved('var(--paper)');
    pen.fillRect(width - wide - 12 * ratio, at + 4 * ratio, wide + 8 * ratio, 18 * ratio);
    pen.fillStyle = resolved('var(--ink-2)');
    pen.fillText(words, width - 8 * ratio, at + 7 * ratio);
}

function highestOf(data) {
    const at = (index) => data.series.map(({ values, band }) => band?.[index][1] ?? values[index] ?? 0);
    const heights = data.times.map((_, index) =>
        data.stacked ? at(index).reduce((sum, part) => sum + part, 0) : Math.max(0, ...at(index)),
    );
    return heights.reduce((a, b) => Math.max(a, b), 0);
}

/**
 * Each series as steps, a bin from its start to its end; of bins narrower than a pixel the least and the most.  Around
 * them, pale, the least and the most of the finer bins in each.
 * @param {CanvasRenderingContext2D} pen
 * @param {import('./painted.js').Ground} ground
 * @param {LinesData} data
 */
function paintSteps(pen, { x, y }, { times, width, series }) {
    const ratio = window.devicePixelRatio;
    for (const { layer, values, band } of series) {
        pen.strokeStyle = pen.fillStyle = resolved(layer.color);
        pen.lineWidth = 1.5 * ratio;
        pen.setLineDash(layer.hatched ? [4 * ratio, 2 * ratio] : []);
        pen.globalAlpha = 0.2;
        for (const [index, [least, most]] of (band ?? []).entries()) {
            const from = x(times[index]);
            pen.fillRect(from, y(most), x(times[index] + width) - from, y(least) - y(most));
        }
        pen.globalAlpha = 1;
        pen.beginPath();
        let end = NaN; /* of the bin before, where it has a value */
        for (const [index, value] of values.entries()) {
            if (value === null) continue;
            const time = times[index],
                from = x(time);
            if (Math.abs(time - end) < width / 2) pen.lineTo(from, y(value));
            else pen.moveTo(from, y(value));
            end = time + width;
            pen.lineTo(x(end), y(value));
        }
        pen.stroke();
    }
}

/**
 * Areas upon each other, a rectangle for each run of pixels that are equally high.
 * @param {CanvasRenderingContext2D} pen
 * @param {import('./painted.js').Ground} ground
 * @param {LinesData} data
 */
function paintAreas(pen, { width, x, y }, data) {
    const below = new Float64Array(width);
    for (const series of data.series) {
        const heights = heightsOf(series.values, data, x, width);
        pen.fillStyle = inkOf(pen, series.layer);
        for (let first = 0, next = 0; first < width; first = next) {
            const bottom = Math.round(y(below[first])),
                top = Math.round(y(below[first] + heights[first]));
            for (
                next = first;
                next < width &&
                Math.round(y(below[next])) === bottom &&
                Math.round(y(below[next] + heights[next])) === top;
                next++
            )
                below[next] += heights[next];
            pen.fillRect(first, top, next - first, bottom - top);
        }
    }
}

/**
 * By column of pixels the mean of the bins in it: an area is as large as its bins, however narrow these are.  Bins
 * that have columns of their own end with one.
 */
function heightsOf(values, { times, width: bin }, x, width) {
    const heights = new Float64Array(width),
        edge = x(times[0] + bin) - x(times[0]) >= 2 ? Math.round : (place) => place;
    for (let index = 0; index < times.length; index++) {
        const from = Math.max(0, edge(x(times[index]))),
            to = Math.min(width, edge(x(times[index] + bin)));
        for (let column = Math.floor(from); column < to; column++)
            heights[column] += (values[index] ?? 0) * (Math.min(to, column + 1) - Math.max(from, column));
    }
    return heights;
}

/**
 * Bins without events may be left out, so the last one that begins before the pointer is looked for.
 * @param {any} data
 * @param {number[]} at
 */
function tip(data, [x]) {
    const index = data.times.findLastIndex((time) => time <= x);
    if (index < 0) return null;
    const rows = data.series
        .map((series) => ({ series, number: series.values[index] ?? null, band: series.band?.[index] }))
        .filter((row) => row.number !== null);
    if (data.stacked) rows.reverse();
    const total = rows.reduce((sum, row) => sum + row.number, 0);
    return h(
        'div',
        { class: 'chart-tip' },
        h('p', {}, range(data.times[index], data.times[index] + data.width, data.width)),
        rows.length === 0 && h('p', {}, 'nothing'),
        h(
            'table',
            {},
            h(
                'tbody',
                {},
                rows.map((row) =>
                    h(
                        'tr',
                        {},
                        h('th', {}, swatch(row.series.layer), row.series.name),
                        h('td', {}, text(row.number, data.unit)),
                        row.band && h('td', {}, row.band.map((value) => text(value, data.unit)).join(' \u2013 ')),
                    ),
                ),
                data.stacked &&
                    rows.length > 1 &&
                    h('tr', { class: 'total' }, h('th', {}, 'together'), h('td', {}, text(total, data.unit))),
            ),
        ),
    );
}

function table(data) {
    return chartTable(
        data.label,
        data.times.map((_, index) => index),
        [
            { key: 'time', label: 'From', class: 'head', cell: (row) => at(data.times[row], data.width) },
            ...data.series.map((series) => ({
                key: series.name,
                label: series.name,
                unit: data.unit,
                get: (row) => series.values[row],
            })),
        ],
    );
}
