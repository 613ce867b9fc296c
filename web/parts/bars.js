/* bars.js - a kind of chart: bars of one or several series over names, such as processes, files or size bins. */

import { setStyle, h } from '../dom.js';
import { text } from '../format.js';
import { axisText, decalOf, GRID, nameAxis, tip, tooltip, valueAxis } from './axes.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

const ROW = 24; /* px a lying bar takes */
const MANY = 400; /* bars that are thinner than hatching, and drawn as one path */

/**
 * @typedef {Object} BarsData
 * @property {string[]} names
 * @property {string[]} [ticks]  the names as the axis has them
 * @property {{name: string, color: string, hatched?: boolean, values: (number|null)[]}[]} series
 * @property {string} unit
 * @property {string} label
 * @property {string} [head]  what the names are
 * @property {boolean} [lying]  bars from left to right, the first name above
 * @property {boolean} [stacked]
 * @property {boolean} [log]
 * @property {(index: number) => void} [onPick]
 */

/** @type {import('./plot.js').Kind} */
export const bars = { option, table, height: (data) => (data.lying ? 48 + data.names.length * ROW : 320) };

/** @param {BarsData} data */
function option(data) {
    const above = data.series
        .flatMap((one) => one.values)
        .filter((x) => x !== null)
        .filter((x) => x > 0);
    const highest = data.stacked
        ? Math.max(0, ...data.names.map((_, at) => data.series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0)))
        : above.reduce((a, b) => Math.max(a, b), 0);
    const values = valueAxis(data.unit, highest, {
        log: data.log,
        lowest: above.reduce((a, b) => Math.min(a, b), highest || 1),
    });
    const names = nameAxis(data.ticks ?? data.names, { inverse: data.lying });
    return {
        grid: { ...GRID, right: 24 },
        xAxis: data.lying ? { ...values, position: 'top' } : names,
        yAxis: data.lying ? names : values,
        tooltip: tooltip('axis', (hits) => content(data, hits[0].dataIndex)),
        series: data.series.map((one) => seriesOption(one, data)),
    };
}

function seriesOption(one, data) {
    const color = resolved(one.color);
    const figures = !data.stacked && data.series.length === 1 && data.names.length <= 40;
    return {
        name: one.name,
        type: 'bar',
        data: one.values.map((x) => (data.log && !(x > 0) ? null : x)),
        color,
        itemStyle: { color, ...(data.names.length <= MANY && { decal: decalOf({ hatched: false, ...one }) }) },
        large: data.names.length > MANY,
        largeThreshold: MANY,
        stack: data.stacked ? 'all' : undefined,
        barMaxWidth: data.lying ? 14 : 48,
        barCategoryGap: data.names.length > 100 ? 0 : '25%',
        emphasis: { disabled: true },
        cursor: data.onPick ? 'pointer' : 'default',
        label: {
            show: figures,
            position: data.lying ? 'right' : 'top',
            ...axisText(),
            formatter: ({ value }) => (value > 0 ? text(value, data.unit) : ''),
        },
        labelLayout: { hideOverlap: true },
    };
}

function mark(color) {
    const element = h('span', { class: 'swatch' });
    setStyle(element, { '--color': color });
    return element;
}

function content(data, index) {
    const rows = data.series
        .map((one) => ({ head: [mark(one.color), one.name], number: one.values[index] ?? null, unit: data.unit }))
        .filter((row) => row.number !== null);
    return tip(data.names[index], rows, data.onPick && 'click: show only this');
}

function table(data) {
    return chartTable(
        data.label,
        data.names.map((_, index) => index),
        [
            { key: 'name', label: data.head ?? 'Name', class: 'head', cell: (row) => data.names[row] },
            ...data.series.map((one) => ({
                key: one.name,
                label: one.name,
                unit: data.unit,
                get: (row) => one.values[row],
            })),
        ],
    );
}
