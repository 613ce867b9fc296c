/* timeline_tiles.js - pieces of the picture: asked for when they are needed, kept for a while, cancelled when
 * overtaken.
 *
 * A tile is 512 cells of some resolution and the lanes of a chunk; it depends on nothing else, so that it fits
 * wherever somebody pans or zooms.  While it is on its way, what is here of a coarser or finer resolution stands in
 * for it. */

import { CELLS } from './timeline_scale.js';

const AT_ONCE = 4,
    MOST_TILES = 256,
    MOST_BOXES = 1.2e6;

/**
 * @typedef {Object} Wanted
 * @property {'events'|'density'|'hits'} kind
 * @property {string} [what]  label of densities, condition of hits
 * @property {import('./timeline_tree.js').Chunk} chunk
 * @property {number} r
 * @property {number} index
 *
 * @typedef {{weight: number, from: number, to: number, r: number}} Tile  from, to: the part of time it is about, in
 *   ticks
 */

/** @param {Wanted} wanted */
export function keyOf({ kind, what = '', chunk, r, index }) {
    return `${kind} ${what} ${r} ${index} ${chunk.key}`;
}

/**
 * What to draw of a tile's part of time: itself; else a coarser one; else finer ones.
 * @param {(wanted: Wanted) => any} find
 * @param {Wanted} wanted
 * @param {number} coarsest  resolution
 * @returns {{tile: any, from: number, to: number, exact: boolean}[]}
 */
export function standIns(find, wanted, coarsest) {
    const { r, index } = wanted,
        from = CELLS * r * index,
        to = from + CELLS * r,
        own = find(wanted);
    if (own) return [{ tile: own, from, to, exact: true }];
    for (let k = 2; r * k <= coarsest; k *= 2) {
        const tile = find({ ...wanted, r: r * k, index: Math.floor(index / k) });
        if (tile) return [{ tile, from, to, exact: false }];
    }
    if (r === 1) return [];
    const halves = [0, 1].map((half) => ({
        tile: find({ ...wanted, r: r / 2, index: index * 2 + half }),
        from: from + (half * CELLS * r) / 2,
        to: from + ((half + 1) * CELLS * r) / 2,
        exact: false,
    }));
    return halves.filter(({ tile }) => tile);
}

/**
 * @param {{load: (wanted: Wanted, signal: AbortSignal) => Promise<Tile>, changed: () => void, failed: (problem: any)
 *   => void, coarsest: () => number}} options
 */
export function tileStore({ load, changed, failed, coarsest }) {
    /** @type {Map<string, Tile>} */
    const tiles = new Map();
    /** @type {Map<string, AbortController>} */
    const running = new Map();
    const refused = new Set();
    let queue = [],
        boxes = 0;

    /** @param {Wanted} wanted */
    function find(wanted) {
        const key = keyOf(wanted),
            tile = tiles.get(key);
        if (tile) {
            tiles.delete(key);
            tiles.set(key, tile);
        }
        return tile;
    }

    /**
     * From now on these are of use, the most urgent first; what else is on its way is cancelled.
     * @param {Wanted[]} list
     */
    function want(list) {
        const keys = new Set(list.map(keyOf));
        for (const [key, control] of running)
            if (!keys.has(key)) {
                control.abort();
                running.delete(key);
            }
        queue = list.filter((one) => {
            const key = keyOf(one);
            return !tiles.has(key) && !running.has(key) && !refused.has(key);
        });
        begin();
    }

    function begin() {
        while (running.size < AT_ONCE && queue.length > 0) {
            const wanted = queue.shift(),
                key = keyOf(wanted),
                control = new AbortController();
            if (running.has(key) || tiles.has(key)) continue;
            running.set(key, control);
            load(wanted, control.signal)
                .then(
                    (tile) => keep(key, tile),
                    (problem) => {
                        if (problem.name !== 'AbortError') {
                            refused.add(key);
                            failed(problem);
                        }
                    },
                )
                .finally(() => {
                    if (running.get(key) === control) running.delete(key);
                    if (!control.signal.aborted) {
                        begin();
                        changed();
                    }
                });
        }
    }

    function keep(key, tile) {
        tiles.set(key, tile);
        boxes += tile.weight;
        for (const [old, one] of tiles) {
            if (tiles.size <= MOST_TILES && boxes <= MOST_BOXES) break;
            if (old === key || (one.r >= coarsest() && tiles.size <= 2 * MOST_TILES)) continue;
            tiles.delete(old);
            boxes -= one.weight;
        }
    }

    function close() {
        for (const control of running.values()) control.abort();
        running.clear();
        tiles.clear();
        queue = [];
    }

    return {
        find,
        want,
        close,
        /** @param {Wanted} wanted */
        has: (wanted) => tiles.has(keyOf(wanted)),
        /** @param {Wanted} wanted */
        isRefused: (wanted) => refused.has(keyOf(wanted)),
        retry() {
            refused.clear();
            changed();
        },
    };
}
