/* heat.js - a kind of chart: a heat map, rows such as processes over the job's time. */

import { h, penOf } from '../dom.js';
import { at, clockStep, instant, LONG, range, text } from '../format.js';
import { axisText, GRID, momentOn, nameAxis, tip } from './axes.js';
import { painted } from './painted.js';
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
 * @property {(place: number[]) => string|null} [address]  where a click on a cell leads: of its bin and row
 */

/** @type {import('./plot.js').Kind} */
export const heat = {
    option,
    table,
    tip: tipOf,
    height: (data) => Math.max(120, Math.min(560, 68 + data.rows.length * 18)),
    binned: true,
    timeAt: (data, x) => start(data, x),
    placeOf: (data, time) => Math.floor(time / data.width) - data.first,
};

const start = (data, bin) => (data.first + bin) * data.width;

/** @param {HeatData} data */
function option(data) {
    const highest = data.cells.reduce((most, cell) => Math.max(most, cell[2]), 0);
    const times = Array.from({ length: data.bins }, (_, bin) => instant(start(data, bin), data.width)),
        { step, named } = roundBins(data),
        long = data.bins * data.width > LONG;
    const colors = ['var(--paper) 88%', 'var(--paper) 35%', 'var(--ink) 0%', 'var(--ink) 35%'].map((mix) =>
        resolved(`color-mix(in oklab, ${data.color}, ${mix})`),
    );
    return {
        grid: { ...GRID, bottom: 32 },
        xAxis: nameAxis(times, {
            axisLabel: {
                ...axisText(),
                hideOverlap: true,
                interval: (bin) => named.has(bin),
                formatter: (_, bin) =>
                    long ? momentOn(named.get(bin), 0, data.bins * data.width) : instant(named.get(bin), step),
            },
        }),
        yAxis: nameAxis(data.rows, { inverse: true }),
        series: [
            painted([0, 0], (pen, ground) =>
                paintCells(pen, ground, data, (number) => number / (highest || 1), shades(colors)),
            ),
            scaleOf(colors, text(0, data.unit), text(highest, data.unit)),
        ],
    };
}

/** Round times, a step apart, and the bins they lie in. */
function roundBins({ first, bins, width }) {
    const wanted = (bins * width) / LABELS,
        power = 10 ** Math.floor(Math.log10(wanted));
    const decimal = [1, 2, 5].map((factor) => factor * power).find((one) => one >= wanted * 0.999) ?? 10 * power,
        step = bins * width > LONG ? clockStep(wanted) : decimal;
    const named = new Map();
    for (let at = Math.ceil((first * width) / step - 1e-9); at * step < (first + bins) * width; at++)
        named.set(Math.floor((at * step) / width + 1e-9) - first, at * step);
    return { step, named };
}

const LABELS = 10;
const SHADES = 128;

const SCALE = { width: 160, height: 8, below: 36 }; /* px */

/** What the colours mean, below the axes to the right. */
function scaleOf(colors, least, most) {
    const colorStops = colors.map((color, at) => ({ offset: at / (colors.length - 1), color })),
        words = { ...axisText(), textBaseline: 'middle', fill: axisText().color };
    const renderItem = ({ coordSys: { x, y, width, height } }) => {
        const right = x + width - 48,
            left = right - SCALE.width,
            top = y + height + SCALE.below - SCALE.height,
            middle = top + SCALE.height / 2;
        return {
            type: 'group',
            children: [
                {
                    type: 'rect',
                    shape: { x: left, y: top, width: SCALE.width, height: SCALE.height },
                    style: { fill: { type: 'linear', x: 0, y: 0, x2: 1, y2: 0, colorStops } },
                },
                {
                    type: 'text',
                    style: {
                        ...words,
                        text: least,
                        x: left - 6,
                        y: middle,
                        textAlign: 'right',
                        align: 'right',
                        verticalAlign: 'middle',
                    },
                },
                { type: 'text', style: { ...words, text: most, x: right + 6, y: middle, verticalAlign: 'middle' } },
            ],
        };
    };
    return { type: 'custom', zlevel: 0, silent: true, clip: false, data: [[0, 0]], renderItem };
}

/** The colours of the scale between its given ones. */
function shades(colors) {
    const pen = penOf(document.createElement('canvas'), { willReadFrequently: true });
    const ramp = pen.createLinearGradient(0, 0, SHADES, 0);
    pen.canvas.width = SHADES;
    for (const [index, color] of colors.entries()) ramp.addColorStop(index / (colors.length - 1), color);
    pen.fillStyle = ramp;
    pen.fillRect(0, 0, SHADES, 1);
    const { data } = pen.getImageData(0, 0, SHADES, 1);
    return Array.from({ length: SHADES }, (_, shade) => `rgb(${data.slice(shade * 4, shade * 4 + 3).join(' ')})`);
}

function paintCells(pen, { width, height }, { cells, bins, rows }, share, colors) {
    const x = (bin) => Math.round((bin * width) / bins),
        y = (row) => Math.round((row * height) / rows.length);
    for (const [bin, row, number] of cells) {
        pen.fillStyle = colors[Math.min(SHADES - 1, Math.floor(share(number) * SHADES))];
        pen.fillRect(x(bin), y(row), Math.max(1, x(bin + 1) - x(bin)), Math.max(1, y(row + 1) - y(row)));
    }
}

/** @param {any} data  @param {number[]} at */
function tipOf(data, [bin, row]) {
    const cell = data.cells.find(([itsBin, itsRow]) => itsBin === bin && itsRow === row);
    return cell
        ? tip(
              [data.rows[row], ', ', range(start(data, bin), start(data, bin + 1), data.width)],
              [{ head: data.label, number: cell[2], unit: data.unit }],
          )
        : null;
}

function table(data) {
    return chartTable(data.label, data.cells, [
        { key: 'row', label: data.head ?? 'Row', class: 'head', cell: (cell) => data.rows[cell[1]] },
        {
            key: 'from',
            label: 'From',
            cell: (cell) =>
                data.address
                    ? h(
                          'a',
                          { href: data.address(cell), title: 'Show on the timeline' },
                          at(start(data, cell[0]), data.width),
                      )
                    : at(start(data, cell[0]), data.width),
        },
        { key: 'value', label: data.label, unit: data.unit, get: (cell) => cell[2] },
    ]);
}
