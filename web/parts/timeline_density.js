/* timeline_density.js - what a folded lane shows: how many of its threads run what, cell by cell, as a small bitmap.
 * */

import { penOf } from '../dom.js';
import { CELLS } from './timeline_scale.js';

export const TALL = 20; /* px of a lane in the bitmap */
const MOST_BITMAPS = 60;

/**
 * @typedef {Object} DensityTile
 * @property {number} weight
 * @property {number} from
 * @property {number} to
 * @property {number} r
 * @property {number} cells
 * @property {Int32Array[]} runs  by lane of the chunk: label, first cell, cells, ticks; and so on
 * @property {number[]} colors  by label, of the palette; 0: none
 * @property {string[]} labels
 * @property {HTMLCanvasElement} [bitmap]
 * @property {any} [painted]  the palette it was painted with
 * @property {number[]} [peaks]  and the full heights
 */

/**
 * @param {Object} answer  of timeline/density
 * @param {import('./timeline_tiles.js').Wanted} wanted
 * @returns {DensityTile}
 */
export function tileOfDensity(answer, { chunk, r, index }) {
    const { lane, label, cell, cells, time } = answer.cells,
        from = CELLS * r * index,
        shift = Math.round((answer.from - from) / r),
        count = Math.max(CELLS, Math.ceil((answer.to - from) / r));
    const places = new Map(chunk.lanes.map(({ id }, at) => [id, at])),
        lists = chunk.lanes.map(() => /** @type {number[]} */ ([]));
    for (let at = 0; at < lane.length; at++)
        lists[places.get(answer.lanes[lane[at]].id) ?? -1].push(label[at], cell[at] + shift, cells[at], time[at]);
    return {
        weight: 100 + lane.length,
        from,
        to: from + count * r,
        r,
        cells: count,
        runs: lists.map((list) => Int32Array.from(list)),
        colors: answer.label_colors.map((color) => color + 1),
        labels: answer.labels,
    };
}

/** The most ticks of a lane that any cell holds. */
function highest(runs, cells) {
    const sums = new Float64Array(cells);
    for (let at = 0; at < runs.length; at += 4)
        for (
            let cell = Math.max(0, runs[at + 1]), end = Math.min(cells, runs[at + 1] + runs[at + 2]);
            cell < end;
            cell++
        )
            sums[cell] += runs[at + 3];
    return sums.reduce((most, one) => Math.max(most, one), 0);
}

export function densities() {
    const bitmaps = new Set(),
        peaks = new Map();

    /** How many threads run at the busiest moment, as far as the coarsest tile tells: a line's full height. */
    function learn(tile, { lanes }) {
        for (const [at, lane] of lanes.entries())
            peaks.set(lane.id, Math.max(highest(tile.runs[at], tile.cells) / tile.r, 1e-9));
    }

    /**
     * @param {DensityTile} tile
     * @param {{lanes: import('./timeline_tree.js').Lane[]}} chunk
     * @param {import('./timeline_colors.js').Ink[]} palette
     */
    function bitmapOf(tile, { lanes }, palette) {
        bitmaps.delete(tile);
        bitmaps.add(tile);
        const full = lanes.map((lane) => peaks.get(lane.id) ?? lane.threads);
        if (tile.bitmap && tile.painted === palette && full.every((one, at) => one === tile.peaks?.[at]))
            return tile.bitmap;
        tile.bitmap ??= document.createElement('canvas');
        tile.bitmap.width = tile.cells;
        tile.bitmap.height = TALL * lanes.length;
        const pen = penOf(tile.bitmap),
            image = pen.createImageData(tile.cells, TALL * lanes.length),
            pixels = new Uint32Array(image.data.buffer);
        for (const at of lanes.keys()) paint(pixels, at * TALL, tile.runs[at], full[at] * tile.r, tile, palette);
        pen.putImageData(image, 0, 0);
        tile.painted = palette;
        tile.peaks = full;
        for (const old of bitmaps) {
            if (bitmaps.size <= MOST_BITMAPS) break;
            bitmaps.delete(old);
            old.bitmap = undefined;
        }
        return tile.bitmap;
    }

    return { learn, bitmapOf };
}

/** Labels over each other, each as high as its share; what runs at all has a pixel. */
function paint(pixels, top, runs, full, { colors, cells }, palette) {
    const filled = new Float64Array(cells);
    for (let at = 0; at < runs.length; at += 4) {
        const color = (palette[runs[at] < 0 ? 0 : (colors[runs[at]] ?? 0)] ?? palette[0]).pixels[0],
            share = (runs[at + 3] / full) * TALL;
        for (
            let cell = Math.max(0, runs[at + 1]), end = Math.min(cells, runs[at + 1] + runs[at + 2]);
            cell < end;
            cell++
        ) {
            const low = Math.min(TALL, Math.round(filled[cell])),
                high = Math.min(TALL, Math.max(Math.round((filled[cell] += share)), low === 0 ? 1 : low));
            for (let y = low; y < high; y++) pixels[(top + TALL - 1 - y) * cells + cell] = color;
        }
    }
}
