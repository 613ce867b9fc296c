/* heat.js - a kind of chart: a heat map, rows such as processes over the job's time. */

import { at, instant, range, text } from '../format.js';
import { axisText, GRID, nameAxis, tip, tooltip } from './axes.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

/**
 * @typedef {Object} HeatData
 * @property {number} first  number of the first bin
 * @property {number} bins  how many there are
 * @property {number} width  of one, in seconds
 * @property {string[]} rows
 * @property {[bin: number, row: number, value: number][]} cells  those with events; bins counted from `first`
 * @property {string} unit
 * @property {string} color
 * @property {string} label
 * @property {string} [head]  what the rows are
 */

/** @type {import('./plot.js').Kind} */
export const heat = {
    option, table,
    height: (data) => Math.max(120, Math.min(560, 68 + data.rows.length * 18)),
    binned: true,
    timeAt: (data, x) => start(data, x),
    placeOf: (data, time) => Math.floor(time / data.width) - data.first,
};

const start = (data, bin) => (data.first + bin) * data.width;

/** @param {HeatData} data */
function option(data) {
    const highest = data.cells.reduce((most, cell) => Math.max(most, cell[2]), 0);
    const times = Array.from({ length: data.bins }, (_, bin) => instant(start(data, bin), data.width));
    return {
        grid: { ...GRID, bottom: 32 },
        xAxis: nameAxis(times),
        yAxis: nameAxis(data.rows, { inverse: true }),
        tooltip: tooltip('item', ({ value: [bin, row, number] }) => tip([data.rows[row], ', ', range(start(data, bin), start(data, bin + 1), data.width)], [{ head: data.label, number, unit: data.unit }])),
        visualMap: { min: 0, max: highest || 1, orient: 'horizontal', right: 20, bottom: 0, itemWidth: 8, itemHeight: 160, textStyle: axisText(), text: [text(highest, data.unit), text(0, data.unit)],
            inRange: { color: ['var(--paper) 88%', 'var(--paper) 35%', 'var(--ink) 0%', 'var(--ink) 35%'].map((mix) => resolved(`color-mix(in oklab, ${data.color}, ${mix})`)) } },
        series: [{ type: 'heatmap', data: data.cells, progressive: 5000, emphasis: { disabled: true }, itemStyle: { borderWidth: 0 } }],
    };
}

function table(data) {
    return chartTable(data.label, data.cells, [
        { key: 'row', label: data.head ?? 'Row', class: 'head', cell: (cell) => data.rows[cell[1]] },
        { key: 'from', label: 'From', cell: (cell) => at(start(data, cell[0]), data.width) },
        { key: 'value', label: data.label, unit: data.unit, get: (cell) => cell[2] },
    ]);
}
