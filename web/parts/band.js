/* band.js - what a coarse bin hides: the least and the most of the finer bins in it. */

import { columnOf } from './table.js';

/**
 * What sums up over time is taken times the number of finer bins in one, so that it stands around the bin's own value.
 * @param {any} coarse  a time series
 * @param {any} fine  the same in finer bins
 * @param {string} column
 * @param {{finer: number, rate?: boolean}} options  finer: bins in one; rate: a value does not sum up, and a bin
 *   without one counts for nothing
 * @returns {[least: number, most: number][]} by bin
 */
export function bandOf(coarse, fine, column, { finer, rate = false }) {
    const [first] = columnOf(coarse, 'time_range') ?? [],
        numbers = columnOf(fine, 'time_range') ?? [],
        scale = rate ? 1 : finer;
    /** @type {[number, number][]} */
    const band = (columnOf(coarse, column) ?? []).map(() => [Infinity, 0]);
    for (const [index, value] of (columnOf(fine, column) ?? []).entries()) {
        const bin = band[Math.floor(numbers[index] / finer) - first];
        if (!bin || (rate && value === null)) continue;
        bin[0] = Math.min(bin[0], (value ?? 0) * scale);
        bin[1] = Math.max(bin[1], (value ?? 0) * scale);
    }
    return band.map(([least, most]) => [Math.min(least, most), most]);
}
