/* chart.js - lines or stacked areas over the job's time, by ECharts; its numbers as a table for whoever prefers or needs one.
 *
 * ECharts is loaded when the first chart is shown.  Tooltips are elements, not HTML text, and all styles go through the object
 * model: the Content-Security-Policy forbids the rest.  All charts of a page share their hover line. */

import { fill, h, setStyle } from '../dom.js';
import { text, value } from '../format.js';
import { swatch } from './layers.js';
import { isDark, onTheme, resolved } from './palette.js';
import { table } from './table.js';

const GROUP = 'page';
const TABLE_ROWS = 1000;

/**
 * @typedef {Object} Series
 * @property {string} name
 * @property {import('./layers.js').Layer} layer
 * @property {(number|null)[]} values  one per time
 *
 * @typedef {Object} ChartData
 * @property {number[]} times  start of each bin, seconds
 * @property {number} width  of a bin, seconds
 * @property {string} unit  of the values
 * @property {boolean} stacked
 * @property {Series[]} series
 * @property {string} label  what is shown, for screen readers and the table
 */

let library = null;
function loadLibrary() {
    library ??= import('../vendor/echarts.js');
    return library;
}

/**
 * A chart in a box of fixed height; update() draws, close() frees.
 * @param {{onRange: (from: number, to: number) => void}} options
 */
export function chart({ onRange }) {
    const canvas = h('div', { class: 'chart-canvas' });
    const box = h('div', { class: 'chart' }, canvas);
    let drawing = null, data = null, asTable = false, closed = false;

    const resize = new ResizeObserver(() => drawing?.resize());
    resize.observe(box);
    const forgetTheme = onTheme(() => { if (data) draw(); });

    async function draw() {
        const echarts = await loadLibrary();
        if (closed) return;
        if (asTable || echarts.missing) {
            drawing?.dispose();
            drawing = null;
            fill(box, echarts.missing && h('p', { class: 'notice' }, 'This server was built without its chart library; here are the numbers.'),
                dataTable(data));
            return;
        }
        if (!drawing) {
            fill(box, canvas);
            drawing = start(echarts, canvas, onRange);
        }
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', `${data.label}. The same numbers are available as a table.`);
        drawing.setOption(optionOf(data), { notMerge: true });
        drawing.dispatchAction({ type: 'takeGlobalCursor', key: 'brush', brushOption: { brushType: 'lineX', brushMode: 'single' } });
    }

    return {
        element: box,
        /** @param {ChartData} next */
        update(next, showTable) {
            data = next;
            asTable = showTable;
            return draw();
        },
        /** The picture as the address of a PNG; null while a table is shown. */
        png: () => drawing?.getDataURL({ pixelRatio: 2, backgroundColor: resolved('var(--paper)') }) ?? null,
        close() {
            closed = true;
            resize.disconnect();
            forgetTheme();
            drawing?.dispose();
        },
    };
}

function start(echarts, canvas, onRange) {
    const drawing = echarts.init(canvas, null, { renderer: 'canvas' });
    drawing.group = GROUP;
    echarts.connect(GROUP);
    drawing.on('brushEnd', (event) => {
        const range = event.areas[0]?.coordRange;
        drawing.dispatchAction({ type: 'brush', areas: [] });
        if (range && range[1] > range[0]) onRange(range[0], range[1]);
    });
    return drawing;
}

function optionOf(data) {
    const ink = resolved('var(--ink-3)'), line = resolved('var(--line)');
    const axisText = { color: ink, fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 };
    const first = data.times[0] ?? 0, last = (data.times[data.times.length - 1] ?? 0) + data.width;
    return {
        animation: false,
        darkMode: isDark(),
        grid: { left: 12, right: 20, top: 12, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
        xAxis: { type: 'value', min: first, max: last, axisLabel: { ...axisText, formatter: (x) => text(x, 's'), hideOverlap: true, showMaxLabel: false },
            axisLine: { lineStyle: { color: resolved('var(--line-strong)') } }, splitLine: { show: false },
            axisPointer: { show: true, snap: true, label: { show: false }, lineStyle: { color: resolved('var(--ink-2)'), type: 'solid' } } },
        yAxis: { type: 'value', min: 0, ...ticks(data), axisLabel: { ...axisText, formatter: (y) => text(y, data.unit) },
            splitLine: { lineStyle: { color: line } } },
        tooltip: { trigger: 'axis', confine: true, transitionDuration: 0, borderWidth: 0, padding: 0, backgroundColor: 'transparent', extraCssText: 'box-shadow: none',
            formatter: (hits) => tooltip(data, hits) },
        toolbox: { show: false },
        brush: { toolbox: [], xAxisIndex: 0, throttleType: 'debounce', brushStyle: { color: resolved('var(--selection)'), borderColor: resolved('var(--accent)'), borderWidth: 1 } },
        series: data.series.map((series) => seriesOption(series, data)),
    };
}

/** About five ticks, at 1, 2 or 5 of a unit that people read: bytes in whole KiB, MiB or GiB. */
function ticks(data) {
    const at = (index) => data.series.map((series) => series.values[index] ?? 0);
    const heights = data.times.map((_, index) => data.stacked ? at(index).reduce((sum, part) => sum + part, 0) : Math.max(0, ...at(index)));
    const highest = heights.reduce((a, b) => Math.max(a, b), 0), wanted = highest / 5;
    if (wanted === 0) return {};
    const unit = data.unit.startsWith('B') ? 1024 ** Math.max(0, Math.floor(Math.log(wanted) / Math.log(1024))) : 1;
    const power = 10 ** Math.floor(Math.log10(wanted / unit));
    const interval = unit * power * [1, 2, 5, 10].find((factor) => unit * power * factor >= wanted * 0.999);
    return { interval, max: interval * Math.ceil(highest / interval * 0.9999) };
}

/** A bin is a step from its start to its end; the last one is closed by a repeated value. */
function seriesOption(series, data) {
    const points = data.times.map((time, index) => [time, data.stacked ? series.values[index] ?? 0 : series.values[index]]);
    if (points.length > 0) points.push([points[points.length - 1][0] + data.width, points[points.length - 1][1]]);
    const color = resolved(series.layer.color);
    const decal = series.layer.hatched ? { symbol: 'rect', color: resolved(`color-mix(in oklab, ${series.layer.color}, var(--paper) 50%)`), dashArrayX: [1, 0], dashArrayY: [1.5, 6], rotation: Math.PI / 4 } : { symbol: 'none' };
    return {
        name: series.name, type: 'line', step: 'end', symbol: 'none', data: points, sampling: data.stacked ? undefined : 'minmax',
        color, itemStyle: { color, decal }, stack: data.stacked ? 'all' : undefined, connectNulls: false, silent: true,
        lineStyle: { color, width: data.stacked ? 0.5 : 1.5, type: !data.stacked && series.layer.hatched ? [4, 2] : 'solid' },
        areaStyle: data.stacked ? { color, opacity: 1 } : undefined,
        emphasis: { disabled: true },
    };
}

function tooltip(data, hits) {
    const index = Math.min(hits[0].dataIndex, data.times.length - 1);
    const rows = data.series.map((series) => ({ series, number: series.values[index] ?? null })).filter((row) => row.number !== null);
    if (data.stacked) rows.reverse();
    const total = rows.reduce((sum, row) => sum + row.number, 0);
    return h('div', { class: 'chart-tip' },
        h('p', {}, text(data.times[index], 's'), ' \u2013 ', text(data.times[index] + data.width, 's')),
        rows.length === 0 && h('p', {}, 'no events'),
        h('table', {}, h('tbody', {},
            rows.map((row) => h('tr', {}, h('th', {}, swatch(row.series.layer), row.series.name), h('td', {}, text(row.number, data.unit)))),
            data.stacked && rows.length > 1 && h('tr', { class: 'total' }, h('th', {}, 'together'), h('td', {}, text(total, data.unit))))));
}

function dataTable(data) {
    const columns = [
        { key: 'time', label: 'From', class: 'head', cell: (row) => value(data.times[row], 's') },
        ...data.series.map((series) => ({ key: series.name, label: series.name, unit: data.unit, get: (row) => series.values[row] })),
    ];
    const all = data.times.map((_, index) => index);
    const wrap = h('div', { class: 'chart-table', tabindex: 0, role: 'region', 'aria-label': data.label },
        table({ columns, rows: all.slice(0, TABLE_ROWS), caption: data.label }),
        all.length > TABLE_ROWS && h('p', {}, `The first ${TABLE_ROWS} of ${all.length} bins; the CSV has them all.`));
    return wrap;
}

/**
 * The legend: a button per series that shows or hides it.
 * @param {import('./layers.js').Layer[]} layers
 * @param {Set<string>} shown
 * @param {(name: string, alone: boolean) => void} onToggle  alone: only this one (a double click)
 */
export function legend(layers, shown, onToggle) {
    return h('div', { class: 'legend', role: 'group', 'aria-label': 'Layers shown' }, layers.map((layer) => {
        const button = h('button', { class: 'legend-item', 'aria-pressed': String(shown.has(layer.name)), title: 'Click: show or hide. Alt-click: only this one.',
            data: { layer: layer.name }, onclick: (event) => onToggle(layer.name, event.altKey) }, swatch(layer), layer.name);
        setStyle(button, { '--color': layer.color });
        return button;
    }));
}
