/* curves.js - a kind of chart: a curve for each series over names in their order, such as numbers of workers, with a
 * band where each may lie and a mark where it bends. */

import { h, setStyle } from '../dom.js';
import { GRID, nameAxis, tip, tooltip, valueAxis } from './axes.js';
import { resolved } from './palette.js';
import { area, dot, line, shapes } from './strokes.js';
import { chartTable } from './table.js';

/**
 * @typedef {Object} Curve
 * @property {string} name
 * @property {string} color
 * @property {(number|null)[]} values  one per name
 * @property {(number|null)[]} margins  by how much each may be off; null: not known
 * @property {number} marked  index of the name where it is marked; -1: nowhere
 *
 * @typedef {Object} CurvesData
 * @property {string[]} names
 * @property {string} head  what the names are
 * @property {string} unit
 * @property {string} label
 * @property {string} mark  what the mark means
 * @property {Curve[]} series
 */

/** @type {import('./plot.js').Kind} */
export const curves = { option, table, height: () => 320 };

/** @param {CurvesData} data */
function option(data) {
    const highest = data.series
        .flatMap(({ values, margins }) => values.map((value, at) => (value ?? 0) + (margins[at] ?? 0)))
        .reduce((a, b) => Math.max(a, b), 0);
    return {
        grid: { ...GRID, right: 24 },
        xAxis: { ...nameAxis(data.names), boundaryGap: false },
        yAxis: valueAxis(data.unit, highest),
        tooltip: { ...tooltip('axis', (hits) => content(data, hits[0].dataIndex)), axisPointer: { type: 'line' } },
        series: data.series.map(seriesOf),
    };
}

/** A line from each value to the next, and around it the area between the least and the most. */
function seriesOf({ color: name, values, margins, marked }) {
    const color = resolved(name);
    const draw = (coord, at) => {
        const value = values[at],
            before = values[at - 1] ?? null;
        if (value === null) return [];
        const place = coord([at, value]),
            edge = (index, side) => coord([index, Math.max(0, values[index] + side * (margins[index] ?? 0))]);
        return [
            before !== null &&
                margins[at] !== null &&
                area([edge(at - 1, -1), edge(at - 1, 1), edge(at, 1), edge(at, -1)], { fill: color, opacity: 0.18 }),
            before !== null && line([coord([at - 1, before]), place], { stroke: color, lineWidth: 2 }),
            at === marked
                ? dot(place, 6.5, { fill: resolved('var(--paper)'), stroke: color, lineWidth: 3 })
                : dot(place, 2.5, { fill: color }),
        ];
    };
    return shapes(
        values.map((value, at) => [at, value]),
        draw,
    );
}

function swatch(color) {
    const element = h('span', { class: 'swatch' });
    setStyle(element, { '--color': color });
    return element;
}

function content(data, index) {
    const rows = data.series
        .flatMap((curve) => [
            { head: [swatch(curve.color), curve.name], number: curve.values[index] ?? null, unit: data.unit },
            { head: '\u00b1', number: curve.margins[index] ?? null, unit: data.unit },
        ])
        .filter((row) => row.number !== null);
    const marked = data.series.filter((curve) => curve.marked === index);
    return tip(
        `${data.head}: ${data.names[index]}`,
        rows,
        marked.length > 0 && `${data.mark}: ${marked.map(({ name }) => name).join(', ')}`,
    );
}

function table(data) {
    return chartTable(
        data.label,
        data.names.map((_, index) => index),
        [
            { key: 'name', label: data.head, class: 'head', cell: (row) => data.names[row] },
            ...data.series.flatMap((curve) => [
                { key: curve.name, label: curve.name, unit: data.unit, get: (row) => curve.values[row] },
                { key: `${curve.name} margin`, label: '\u00b1', unit: data.unit, get: (row) => curve.margins[row] },
            ]),
        ],
    );
}
