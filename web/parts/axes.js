/* axes.js - what the charts have in common: axes with units, tooltips made of elements, the brush. */

import { h } from '../dom.js';
import { clock, clockStep, instant, LONG, tick, text } from '../format.js';
import { resolved } from './palette.js';

/** The margins of a chart. */
export const GRID = {
    left: 12,
    right: 20,
    top: 12,
    bottom: 8,
    outerBoundsMode: 'same',
    outerBoundsContain: 'axisLabel',
};

export function axisText() {
    return { color: resolved('var(--ink-3)'), fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 };
}

const axisLine = () => ({ lineStyle: { color: resolved('var(--line-strong)') } });

/** A moment below an axis from @first to @last: of a long one in minutes and hours. */
export function momentOn(x, first, last) {
    return last - first > LONG ? clock(x) : instant(x, 10 ** Math.floor(Math.log10((last - first) / 5)));
}

/** The job's time from @first to @last, in seconds. */
export function timeAxis(first, last) {
    const long = last - first > LONG,
        ticks = long ? { customValues: clockTicks(first, last) } : {};
    return {
        type: 'value',
        min: first,
        max: last,
        axisTick: ticks,
        axisLabel: {
            ...ticks,
            ...axisText(),
            formatter: (x) => momentOn(x, first, last),
            hideOverlap: true,
            ...(!long && { showMaxLabel: false }),
        },
        axisLine: axisLine(),
        splitLine: { show: false },
    };
}

/** About six round times of a clock; none at the end, where its words would reach out of the chart. */
function clockTicks(first, last) {
    const step = clockStep((last - first) / 6),
        ticks = [];
    for (let at = Math.ceil(first / step) * step; at < last - step / 5; at += step) ticks.push(at);
    return ticks;
}

/**
 * Names, or bins of time, side by side.
 * @param {string[]} names
 * @param {Object} [more]
 */
export function nameAxis(names, more = {}) {
    return {
        type: 'category',
        data: names,
        axisLine: axisLine(),
        axisTick: { show: false },
        splitLine: { show: false },
        axisLabel: { ...axisText(), lineHeight: 14, hideOverlap: true, formatter: shortened },
        ...more,
    };
}

/** Of a long name its end, which tells most; a narrow window keeps its width for the chart. */
function shortened(name) {
    const most = innerWidth < 700 ? 16 : 32;
    return name.length > most ? '\u2026' + name.slice(1 - most) : name;
}

/**
 * A value axis; from 0, or logarithmic.
 * @param {string} unit
 * @param {number} highest  value to show
 * @param {{log?: boolean, lowest?: number}} [options]  lowest: the least value above 0, where a logarithmic axis
 *   begins
 */
export function valueAxis(unit, highest, { log = false, lowest = 1 } = {}) {
    const common = {
        axisLabel: {
            ...axisText(),
            formatter: (y) => (unit === 's' && highest > LONG ? clock(y) : tick(y, unit)),
            hideOverlap: true,
        },
        axisLine: { ...axisLine(), onZero: false },
        splitLine: { lineStyle: { color: resolved('var(--line)') } },
    };
    if (log) return { type: 'log', logBase: 10, min: 10 ** Math.floor(Math.log10(lowest)), ...common };
    return { type: 'value', min: 0, ...ticks(unit, highest), ...common };
}

/** About five ticks, at 1, 2 or 5 of a unit that people read: bytes in whole KiB, MiB or GiB; counts whole. */
function ticks(unit, highest) {
    const wanted = highest / 5;
    if (!(wanted > 0)) return {};
    if (unit === 's' && highest > LONG) {
        const interval = clockStep(wanted);
        return { interval, max: interval * Math.ceil((highest / interval) * 0.9999) };
    }
    const scale = unit.startsWith('B') ? 1024 ** Math.max(0, Math.floor(Math.log(wanted) / Math.log(1024))) : 1;
    const power = 10 ** Math.floor(Math.log10(wanted / scale));
    const least = unit === 'count' ? 1 : 0;
    const interval = Math.max(
        least,
        scale * power * ([1, 2, 5].find((factor) => scale * power * factor >= wanted * 0.999) ?? 10),
    );
    return { interval, max: interval * Math.ceil((highest / interval) * 0.9999) };
}

/**
 * @param {'axis'|'item'} trigger
 * @param {(hits: any) => HTMLElement|null} content
 */
export function tooltip(trigger, content) {
    return {
        trigger,
        confine: true,
        transitionDuration: 0,
        borderWidth: 0,
        padding: 0,
        backgroundColor: 'transparent',
        extraCssText: 'box-shadow: none',
        axisPointer: {
            type: trigger === 'axis' ? 'shadow' : 'none',
            shadowStyle: { color: resolved('var(--selection)') },
        },
        formatter: (hits) => content(hits) ?? '',
    };
}

/**
 * @param {any} title
 * @param {{head: any, number: number|null, unit: string}[]} rows
 * @param {any} [note]
 */
export function tip(title, rows, note) {
    return h(
        'div',
        { class: 'chart-tip' },
        h('p', {}, title),
        h(
            'table',
            {},
            h(
                'tbody',
                {},
                rows.map(({ head, number, unit }) => h('tr', {}, h('th', {}, head), h('td', {}, text(number, unit)))),
            ),
        ),
        note && h('p', {}, note),
    );
}

export function brushOption() {
    return {
        toolbox: [],
        xAxisIndex: 0,
        throttleType: 'debounce',
        brushStyle: { color: resolved('var(--selection)'), borderColor: resolved('var(--accent)'), borderWidth: 1 },
    };
}

/** Stripes in a layer's colour, for the layers that have them. */
export function decalOf(layer) {
    if (!layer.hatched) return { symbol: 'none' };
    return {
        symbol: 'rect',
        color: resolved(`color-mix(in oklab, ${layer.color}, var(--paper) 50%)`),
        dashArrayX: [1, 0],
        dashArrayY: [1.5, 6],
        rotation: Math.PI / 4,
    };
}
