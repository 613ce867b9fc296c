/* slopes.js - a kind of chart: how much of the time how much of the calls take.
 *
 * Rows stand in order of their slope, share of the time over share of the calls, the steepest first; the curve adds
 * both shares up.  A straight line from corner to corner means that all calls cost the same; the steeper it begins,
 * the more time a few calls take. */

import { value } from '../format.js';
import { GRID, tip, tooltip, valueAxis } from './axes.js';
import { SCORES } from './metrics.js';
import { resolved } from './palette.js';
import { dot, line, shapes } from './strokes.js';
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
            shapes(
                [[0, 0]],
                (coord) => [
                    line([coord([0, 0]), coord([1, 1])], { stroke: resolved('var(--line-strong)'), lineDash: [4, 4] }),
                ],
                { silent: true },
            ),
            ...segments(data.rows).map(({ score, points }) => {
                const color = resolved(`var(--score-${score})`),
                    radius = data.rows.length > 400 ? 1.5 : 3;
                const draw = (coord, at) => {
                    const place = coord(points[at].value);
                    return [
                        at > 0 && line([coord(points[at - 1].value), place], { stroke: color, lineWidth: 2.5 }),
                        points[at].row && dot(place, radius, { fill: color }),
                    ];
                };
                return shapes(points, draw, { cursor: data.onPick ? 'pointer' : 'default' });
            }),
        ],
    };
}

/** The curve cut where the score changes; each segment begins where the last one ended. */
function segments(rows) {
    /** @type {{score: number, points: Object[]}[]} */
    const all = [];
    let calls = 0,
        time = 0;
    for (const [index, row] of rows.entries()) {
        if (all.length === 0 || all[all.length - 1].score !== row.score)
            all.push({ score: row.score, points: [{ value: [calls, time] }] });
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
