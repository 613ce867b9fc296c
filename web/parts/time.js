/* time.js - bins and ranges of the job's time, and the moment under the pointer, which all charts of a page share. */

import { go } from '../state.js';

const POINTS = 240;

/**
 * Bin widths that people count in; the narrowest that gives at most POINTS bins over @span seconds.
 * @param {number} span
 */
export function niceGranularity(span) {
    const raw = Math.max(span, 1e-6) / POINTS;
    const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
    const step = ([1, 2, 5].find((factor) => factor * power >= raw * 0.999) ?? 10) * power;
    return Math.max(1e-6, Number(step.toPrecision(3)));
}

/** Shows only this part of the job, in whole microseconds from its start. */
export function showRange(from, to) {
    const round = (seconds) => Number(seconds.toFixed(6));
    go({ from: round(from), to: round(to) });
}

/**
 * The same of a drag, whose ends mean no more than a pixel: at round seconds, which the server has sums for.
 * @param {number} from
 * @param {number} to
 * @param {number} pixel  seconds that one is wide
 */
export function showRoundRange(from, to, pixel) {
    const step = 10 ** Math.floor(Math.log10(pixel));
    const first = Math.max(0, Math.round(from / step)),
        last = Math.max(first + 1, Math.round(to / step));
    showRange(first * step, last * step);
}

const hovering = new Set();

/**
 * @param {(time: number|null) => void} listener  null: the pointer has left
 * @returns {() => void} stops it
 */
export function onHover(listener) {
    hovering.add(listener);
    return () => hovering.delete(listener);
}

export function tellHover(time) {
    for (const listener of hovering) listener(time);
}
