/* slopes.js - a kind of chart: how much of the time how much of the calls take.
 *
 * Rows stand in order of their slope, share of the time over share of the calls, the steepest first; the curve adds
 * both shares up.  A straight line from corner to corner means that all calls cost the same; the steeper it begins,
 * the more time a few calls take. */

import { value } from '../format.js';
import { GRID, tip, tooltip, valueAxis } from './axes.js';
import { SCORES } from './metrics.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

/**
 * @typedef {{name: string, calls: number, time: number, slope: number, score: number}} Slope  calls, time: shares
 *
 * @typedef {Object} SlopesData
 * @property {Slope[]} rows
 * @property {string} label
 * @property {(index: number) => void} [onPick]  index into `rows` in order of slope
 */

/** @type {import('./plot.js').Kind} */
export const slopes = { option, table };

/** @param {SlopesData} data */
function option(data) {
    const axis = (name) => ({
        ...valueAxis('share', 1),
        name,
        nameLocation: 'middle',
        nameGap: 28,
        max: 1,
        interval: 0.2,
        nameTextStyle: { color: resolved('var(--ink-3)') },
    });
    return {
        grid: { ...GRID, left: 40, bottom: 28 },
        xAxis: { ...axis('calls'), splitLine: { show: false } },
        yAxis: { ...axis('time'), nameGap: 44 },
        tooltip: tooltip(
            'item',
            ({ data: { row } }) =>
                row &&
                tip(
                    row.name,
                    [
                        { head: 'calls', number: row.calls, unit: 'share' },
                        { head: 'time', number: row.time, unit: 'share' },
                        { head: 'slope', number: row.slope, unit: 'number' },
                    ],
                    `score ${row.score}, ${SCORES[row.score]}`,
                ),
        ),
        series: [
            {
                type: 'line',
                data: [
                    [0, 0],
                    [1, 1],
                ],
                symbol: 'none',
                silent: true,
                lineStyle: { color: resolved('var(--line-strong)'), width: 1, type: [4, 4] },
            },
            ...stretches(data.rows).map(({ score, points }) => ({
                type: 'line',
                data: points,
                symbol: 'circle',
                symbolSize: data.rows.length > 400 ? 3 : 6,
                cursor: data.onPick ? 'pointer' : 'default',
                color: resolved(`var(--score-${score})`),
                lineStyle: { width: 2.5 },
                emphasis: { disabled: true },
            })),
        ],
    };
}

/** The curve cut where the score changes; each stretch begins where the last one ended. */
function stretches(rows) {
    /** @type {{score: number, points: Object[]}[]} */
    const all = [];
    let calls = 0,
        time = 0;
    for (const [index, row] of rows.entries()) {
        if (all.length === 0 || all[all.length - 1].score !== row.score)
            all.push({ score: row.score, points: [{ value: [calls, time], symbol: 'none' }] });
        calls += row.calls;
        time += row.time;
        all[all.length - 1].points.push({ value: [calls, time], row, index });
    }
    return all;
}

function table(data) {
    return chartTable(data.label, data.rows, [
        { key: 'name', label: 'Name', class: 'head', cell: (row) => row.name },
        { key: 'calls', label: 'Calls', unit: 'share' },
        { key: 'time', label: 'Call time', unit: 'share' },
        { key: 'slope', label: 'Slope', unit: 'number' },
        { key: 'score', label: 'Score', cell: (row) => [value(row.score, 'count'), ` ${SCORES[row.score]}`] },
    ]);
}
