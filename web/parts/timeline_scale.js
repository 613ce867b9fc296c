/* timeline_scale.js - where a moment is on the screen: resolutions and tiles, zoom and pan, the ruler.  Times are
 * ticks from the origin. */

import { clockStep, LONG } from '../format.js';

export const CELLS = 512; /* of a tile */
const LEAST = 4,
    RULER = 110;

/** @typedef {{from: number, to: number}} Span  in ticks */

/** The largest power of two that gives every pixel at least one cell; at least one tick. */
export function resolutionOf(span, width) {
    let r = 2 ** Math.max(0, Math.floor(Math.log2(span / width)));
    while (r > 1 && r * width > span) r /= 2;
    while (2 * r * width <= span) r *= 2;
    return r;
}

/** The resolution at which one tile holds everything. */
export function wholeResolution(end) {
    let r = 1;
    while (r * CELLS < end) r *= 2;
    return r;
}

/**
 * The numbers of the tiles that a span touches.
 * @param {Span} span
 * @returns {number[]}
 */
export function tilesOf({ from, to }, r, end) {
    const first = Math.max(0, Math.floor(from / (CELLS * r))),
        last = Math.min(Math.ceil(end / (CELLS * r)), Math.ceil(to / (CELLS * r))) - 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

/** @returns {Span} a span of this length, moved into the trace */
function inside(from, length, end) {
    const span = Math.min(Math.max(length, LEAST), Math.max(end, LEAST));
    const start = Math.max(0, Math.min(from, end - span));
    return { from: start, to: start + span };
}

/** @param {Span} view  times @factor, with the moment @at where it is */
export function zoomed({ from, to }, factor, at, end) {
    const length = Math.min(Math.max((to - from) * factor, LEAST), Math.max(end, LEAST));
    return inside(at - ((at - from) * length) / (to - from), length, end);
}

/** @param {Span} view */
export function panned({ from, to }, by, end) {
    return inside(from + by, to - from, end);
}

/** A span with a margin on both sides, a fraction of its length. */
export function fitted({ from, to }, end, padding = 0.1) {
    const margin = padding > 0 ? Math.max((to - from) * padding, 1) : 0;
    return inside(from - margin, to - from + 2 * margin, end);
}

/**
 * Round moments for the ruler, in seconds: past ten minutes, and so far apart, those of a clock.
 * @param {Span} view
 * @returns {{step: number, times: number[]}}
 */
export function rulerOf({ from, to }, perSecond, width) {
    const wanted = (((to - from) / perSecond) * RULER) / Math.max(width, 1),
        power = 10 ** Math.floor(Math.log10(wanted));
    const decimal = [1, 2, 5].map((factor) => factor * power).find((one) => one >= wanted * 0.999) ?? 10 * power,
        step = to / perSecond > LONG && decimal > 30 ? clockStep(wanted) : decimal;
    const times = [];
    for (let at = Math.ceil(from / perSecond / step - 1e-9); at * step <= to / perSecond; at++) times.push(at * step);
    return { step, times };
}

/** The view as the address has it, in seconds; null where it says nothing. */
export function viewOf(words, perSecond) {
    const [from, to] = (words ?? '').split(',').map(Number);
    return words && to > from ? { from: from * perSecond, to: to * perSecond } : null;
}

/** @param {Span} view */
export function viewWords({ from, to }, perSecond) {
    const digits = Math.max(0, Math.ceil(Math.log10(perSecond)) + 1);
    return [from, to].map((at) => Number((at / perSecond).toFixed(digits))).join(',');
}
