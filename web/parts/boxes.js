/* boxes.js - a kind of chart: how a number is spread over many, as boxes from the lower to the upper quartile. */

import { h } from '../dom.js';
import { axisText, GRID, nameAxis, tip, tooltip, valueAxis } from './axes.js';
import { resolved } from './palette.js';
import { area } from './strokes.js';
import { chartTable } from './table.js';

/**
 * @typedef {{name: string, color: string, count: number, min: number, q1: number, median: number, q3: number, max:
 *   number, mean: number}} Box
 *
 * @typedef {Object} BoxesData
 * @property {Box[]} boxes
 * @property {string} unit
 * @property {string} of  what was counted, such as "processes"
 * @property {boolean} [log]
 * @property {string} label
 * @property {(index: number) => void} [onPick]
 */

/** @type {import('./plot.js').Kind} */
export const boxes = { option, table };

/**
 * The five numbers of some values, quantiles interpolated linearly.
 * @param {number[]} values
 */
export function spread(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const quantile = (share) => {
        const at = share * (sorted.length - 1),
            below = Math.floor(at);
        return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
    };
    return {
        count: sorted.length,
        min: sorted[0],
        q1: quantile(0.25),
        median: quantile(0.5),
        q3: quantile(0.75),
        max: sorted[sorted.length - 1],
        mean: sorted.reduce((sum, x) => sum + x, 0) / sorted.length,
    };
}

const FIVE = [
    ['max', 'most'],
    ['q3', 'upper quartile'],
    ['median', 'median'],
    ['mean', 'mean'],
    ['q1', 'lower quartile'],
    ['min', 'least'],
];

/** @param {BoxesData} data */
function option(data) {
    const highest = Math.max(0, ...data.boxes.map((box) => box.max));
    const positive = data.boxes.flatMap((box) => [box.min, box.q1, box.median]).filter((x) => x > 0);
    const least = Math.min(highest || 1, ...positive);
    const clip = (x) => (data.log ? Math.max(x, least) : x);
    return {
        grid: GRID,
        xAxis: nameAxis(
            data.boxes.map((box) => box.name),
            { axisLabel: { ...axisText(), interval: 0, hideOverlap: true } },
        ),
        yAxis: valueAxis(data.unit, highest, { log: data.log, lowest: least }),
        tooltip: tooltip('axis', (hits) => content(data, hits[0].dataIndex)),
        series: [
            {
                type: 'custom',
                zlevel: 0,
                cursor: data.onPick ? 'pointer' : 'default',
                encode: { x: 0, y: [1, 2, 3, 4, 5] },
                data: data.boxes.map((box, index) => [
                    index,
                    ...[box.min, box.q1, box.median, box.q3, box.max, box.mean].map(clip),
                ]),
                renderItem: (_, api) => shapeOf(api, data.boxes[api.value(0)].color),
            },
        ],
    };
}

/** The box between the quartiles with its median, whiskers to the least and the most, and a mark at the mean. */
function shapeOf(api, color) {
    const [x, ...y] = [
            api.coord([api.value(0), api.value(1)])[0],
            ...[1, 2, 3, 4, 5, 6].map((at) => api.coord([api.value(0), api.value(at)])[1]),
        ],
        half = Math.max(8, Math.min(56, api.size([1, 0])[0] * 0.6)) / 2;
    const stroke = resolved(`color-mix(in oklab, ${color}, var(--ink) 30%)`),
        line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: 1.5 } });
    return {
        type: 'group',
        children: [
            line(x, y[0], x, y[1]),
            line(x, y[3], x, y[4]),
            line(x - half, y[0], x + half, y[0]),
            line(x - half, y[4], x + half, y[4]),
            {
                type: 'rect',
                shape: { x: x - half, y: y[3], width: 2 * half, height: y[1] - y[3] },
                style: { fill: resolved(`color-mix(in oklab, ${color}, var(--paper) 60%)`), stroke, lineWidth: 1.5 },
            },
            line(x - half, y[2], x + half, y[2]),
            area(
                [
                    [x - 4, y[5]],
                    [x, y[5] - 4],
                    [x + 4, y[5]],
                    [x, y[5] + 4],
                ],
                { fill: resolved('var(--ink)') },
            ),
        ],
    };
}

function content(data, index) {
    const box = data.boxes[index];
    return tip(
        `${box.name}, ${box.count} ${data.of}`,
        FIVE.map(([key, words]) => ({ head: words, number: box[key], unit: data.unit })),
    );
}

function table(data) {
    const heads = [
        { key: 'name', label: 'Name', class: 'head', cell: (box) => h('span', {}, box.name) },
        { key: 'count', label: data.of, unit: 'count' },
    ];
    return chartTable(data.label, data.boxes, [
        ...heads,
        ...[...FIVE].reverse().map(([key, label]) => ({ key, label, unit: data.unit })),
    ]);
}
