/* row_groups.js - more processes than a picture has rows: neighbours share a row, so that none is left out. */

import { grouped, plural } from '../format.js';

/**
 * @param {string[]} names  in their order
 * @param {number} most  rows
 * @returns {{per: number, rows: string[], rowOf: (index: number) => number, members: (row: number) => number[]}}  per:
 *   names in a row; members: their indexes
 */
export function rowGroups(names, most) {
    const per = Math.max(1, Math.ceil(names.length / most));
    const rows = Array.from({ length: Math.ceil(names.length / per) }, (_, row) => {
        const first = names[row * per],
            last = names[Math.min(names.length, (row + 1) * per) - 1];
        return per === 1 ? first : `${first} \u2026 ${last}`;
    });
    const members = (row) =>
        Array.from({ length: Math.min(per, names.length - row * per) }, (_, index) => row * per + index);
    return { per, rows, rowOf: (index) => Math.floor(index / per), members };
}

/** How many there are, and how many share a row. */
export function groupWords(count, per, many) {
    return per === 1
        ? `all ${plural(count, many.replace(/e?s$/, ''), many)}`
        : `all ${grouped(count)} ${many}, ${per} in a row`;
}
