/* timeline_boxes.js - what a tile of events holds, as typed arrays, and which of its boxes is at a place. */

import { CELLS } from './timeline_scale.js';

/**
 * Names and categories of all tiles: a number for each text, its colour of 24, and its width once it was measured.
 * @typedef {{words: (string|null)[], colors: number[], widths: number[], numbers: Map<string|null, number>}} Texts
 *
 * @typedef {Object} Group  boxes by lane, row, start
 * @property {Int32Array} offsets  by row of the tile, where its boxes begin
 * @property {Float64Array} start
 * @property {Float64Array} end  ticks
 * @property {Int32Array} name
 * @property {Int32Array} category
 * @property {Int16Array} layer
 * @property {number[]} nth
 * @property {number[]} [at]  start of a block's longest event
 * @property {number[]} [count]
 * @property {number[]} [covered]
 *
 * @typedef {Object} BoxTile
 * @property {number} weight
 * @property {number} from
 * @property {number} to
 * @property {number} r
 * @property {number[]} base  by lane of the chunk: the number of its first row; -1: it has none
 * @property {Group[]} groups  single events, blocks
 *
 * @typedef {Object} Box
 * @property {import('./timeline_tree.js').Lane} lane
 * @property {number} row
 * @property {number} start
 * @property {number} end
 * @property {number} name  of Texts
 * @property {number} category
 * @property {number} layer
 * @property {number} count
 * @property {number} covered
 * @property {number} at  ticks: start of the event that it stands for
 * @property {number} nth
 */

/** @returns {Texts} */
export function noTexts() {
    return { words: [], colors: [], widths: [], numbers: new Map() };
}

function numbersOf(texts, words, colors) {
    return words.map((word, index) => {
        let number = texts.numbers.get(word);
        if (number === undefined) {
            number = texts.words.push(word) - 1;
            texts.colors.push(colors[index]);
            texts.numbers.set(word, number);
        }
        return number;
    });
}

/**
 * @param {Object} answer  of timeline/events
 * @param {import('./timeline_tiles.js').Wanted} wanted
 * @param {Texts} texts
 * @returns {BoxTile}
 */
export function tileOfEvents(answer, { chunk, r, index }, texts) {
    const starts = [],
        base = chunk.lanes.map(() => -1),
        places = new Map(chunk.lanes.map(({ id }, at) => [id, at]));
    let rows = 0;
    for (const { id, rows: count } of answer.lanes) {
        starts.push(rows);
        base[places.get(id) ?? -1] = rows;
        rows += count;
    }
    const names = numbersOf(texts, answer.names, answer.name_colors),
        categories = numbersOf(texts, answer.categories, answer.category_colors);
    const groups = [answer.events, answer.blocks].map((columns) => groupOf(columns, starts, rows, names, categories));
    return {
        weight: 100 + groups[0].start.length + groups[1].start.length,
        from: CELLS * r * index,
        to: CELLS * r * (index + 1),
        r,
        base,
        groups,
    };
}

function groupOf(columns, starts, rows, names, categories) {
    const count = columns.start.length,
        offsets = new Int32Array(rows + 1);
    for (let at = 0; at < count; at++) offsets[starts[columns.lane[at]] + columns.row[at] + 1]++;
    for (let row = 0; row < rows; row++) offsets[row + 1] += offsets[row];
    const start = Float64Array.from(columns.start),
        end = start.map((from, at) => from + columns.dur[at]);
    const of = (numbers) => (one) => (one < 0 ? -1 : numbers[one]);
    return {
        offsets,
        start,
        end,
        name: Int32Array.from(columns.name, of(names)),
        category: Int32Array.from(columns.category, of(categories)),
        layer: Int16Array.from(columns.layer),
        nth: columns.nth,
        at: columns.at,
        count: columns.count,
        covered: columns.covered,
    };
}

/** The first box of a row that ends after @time, or where the row ends. */
export function firstAfter({ offsets, end }, row, time) {
    let low = offsets[row],
        high = offsets[row + 1];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (end[middle] > time) high = middle;
        else low = middle + 1;
    }
    return low;
}

/**
 * The box at a moment, else the nearest within @reach ticks.
 * @param {BoxTile} tile
 * @param {import('./timeline_tree.js').Lane} lane
 * @returns {Box|null}
 */
export function boxAt(tile, lane, row, time, reach) {
    let best = null,
        least = reach;
    if (tile.base[lane.at] < 0) return null;
    for (const group of tile.groups) {
        const its = tile.base[lane.at] + row,
            from = firstAfter(group, its, time - reach);
        for (let at = from; at < group.offsets[its + 1] && group.start[at] <= time + reach; at++) {
            const apart = Math.max(group.start[at] - time, time - group.end[at], 0);
            if (apart > least || (best && apart === least)) continue;
            least = apart;
            best = boxOf(group, at, lane, row);
        }
    }
    return best;
}

/** @returns {Box} */
function boxOf(group, at, lane, row) {
    const start = group.start[at],
        end = group.end[at];
    return {
        lane,
        row,
        start,
        end,
        name: group.name[at],
        category: group.category[at],
        layer: group.layer[at],
        count: group.count?.[at] ?? 1,
        covered: group.covered?.[at] ?? end - start,
        at: group.at?.[at] ?? start,
        nth: group.nth[at],
    };
}

/** The id of the event that a box is, or of the longest one in it. */
export function eventOf({ lane, at, nth }, { origin, perSecond }) {
    return `${lane.id}@${BigInt(origin) + BigInt(at) * BigInt(1e9 / perSecond)}${nth > 0 ? `.${nth}` : ''}`;
}

/**
 * The boxes that are in sight, from above.
 * @param {{sight: {line: import('./timeline_tree.js').Line}[], view: import('./timeline_scale.js').Span, tilesOf:
 *   (line: import('./timeline_tree.js').Line) => {tile: BoxTile, from: number, to: number}[]}} stage
 * @param {number} most
 * @returns {Box[]}
 */
export function boxesInSight(stage, most) {
    const found = [],
        seen = new Set();
    for (const { line } of stage.sight) {
        for (let row = 0; row < line.rows; row++) {
            for (const { tile, from, to } of stage.tilesOf(line)) {
                if (tile.base[line.lane.at] < 0) continue;
                const its = tile.base[line.lane.at] + row,
                    left = Math.max(from, stage.view.from),
                    until = Math.min(to, stage.view.to);
                for (const group of tile.groups) {
                    for (
                        let at = firstAfter(group, its, left);
                        at < group.offsets[its + 1] && group.start[at] < until && found.length < most;
                        at++
                    ) {
                        const key = `${line.lane.id} ${row} ${group.start[at]}`;
                        if (!seen.has(key)) found.push(boxOf(group, at, line.lane, row));
                        seen.add(key);
                    }
                }
            }
        }
    }
    return found;
}
