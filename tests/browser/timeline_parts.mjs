/* timeline_parts.mjs - what the timeline reckons without drawing: resolutions, tiles and what stands in for them,
 * lanes, frames. */

import assert from 'node:assert/strict';
import { instantIn } from '../../web/format.js';
import { callTree, frameAt, framesOf, mergedTrees, nodeAt } from '../../web/parts/flame_layout.js';
import { boxAt, noTexts, tileOfEvents } from '../../web/parts/timeline_boxes.js';
import {
    CELLS,
    fitted,
    panned,
    resolutionOf,
    rulerOf,
    tilesOf,
    viewOf,
    viewWords,
    zoomed,
} from '../../web/parts/timeline_scale.js';
import { standIns, tileStore } from '../../web/parts/timeline_tiles.js';
import { lineAt, linesOf, treeOf, usuallyOpen, withBelow } from '../../web/parts/timeline_tree.js';

async function scalesHold() {
    for (const [span, width, wanted] of [
        [1, 1000, 1],
        [999, 1000, 1],
        [1000, 1000, 1],
        [1999, 1000, 1],
        [2000, 1000, 2],
        [4096 * 700, 700, 4096],
        [4096 * 700 - 1, 700, 2048],
    ])
        assert.equal(resolutionOf(span, width), wanted, `${span} ticks in ${width} px`);
    assert.deepEqual(tilesOf({ from: 0, to: 8 * CELLS }, 8, 1e6), [0]);
    assert.deepEqual(tilesOf({ from: 8 * CELLS - 1, to: 8 * CELLS + 1 }, 8, 1e6), [0, 1]);
    assert.deepEqual(tilesOf({ from: 0, to: 1e9 }, 8, 3 * 8 * CELLS), [0, 1, 2], 'none behind the end');
    const view = { from: 1000, to: 3000 },
        near = zoomed(view, 0.5, 1500, 1e6);
    assert.deepEqual(near, { from: 1250, to: 2250 }, 'the moment at the pointer stays');
    assert.deepEqual(zoomed(view, 1e9, 1500, 1e4), { from: 0, to: 1e4 });
    assert.equal(zoomed(view, 1e-9, 1500, 1e4).to - zoomed(view, 1e-9, 1500, 1e4).from, 4, 'never nothing');
    assert.deepEqual(panned(view, -5000, 1e4), { from: 0, to: 2000 });
    assert.deepEqual(fitted({ from: 9990, to: 10000 }, 1e4, 0), { from: 9990, to: 10000 });
    assert.deepEqual(viewOf(viewWords(view, 1e6), 1e6), view);
    assert.equal(viewOf('2,1', 1e6), null);
}

/** A long job has whole minutes and hours below it, and says them as all its other times. */
async function rulerHasClockTimes() {
    const hours = rulerOf({ from: 0, to: 4 * 3600e6 }, 1e6, 1100);
    assert.equal(hours.step, 1800, 'half an hour, not 2 000 s');
    assert.equal(instantIn(hours.times[3], 4 * 3600, hours.step), '1:30:00');
    const near = rulerOf({ from: 5400e6, to: 5400e6 + 100 }, 1e6, 1100);
    assert.equal(instantIn(near.times[1], 5400.0001, near.step), '1:30:00.00001');
    const short = rulerOf({ from: 0, to: 300e6 }, 1e6, 1100);
    assert.equal(short.step, 50);
    assert.equal(instantIn(short.times[1], 300, short.step), '50\u202fs');
}

const chunk = { key: 'one', lanes: [] };

async function coarserTilesStandIn() {
    const here = new Map([
            ['8 0', 'coarse'],
            ['1 40', 'fine'],
        ]),
        find = ({ r, index }) => here.get(`${r} ${index}`);
    const of = (r, index) =>
        standIns(find, { kind: 'events', chunk, r, index }, 64).map(({ tile, exact }) => [tile, exact]);
    assert.deepEqual(of(8, 0), [['coarse', true]]);
    assert.deepEqual(of(2, 3), [['coarse', false]]);
    assert.deepEqual(of(2, 20), [['fine', false]], 'finer ones where nothing coarser is');
    assert.deepEqual(of(16, 0), [['coarse', false]]);
    assert.deepEqual(of(2, 100), []);
}

/** Tiles that are asked for come when the test says so. */
function slowStore() {
    const asked = new Map(),
        store = tileStore({
            load: ({ r, index }, signal) =>
                new Promise((resolve, reject) => {
                    asked.set(`${r} ${index}`, { signal, come: () => resolve({ weight: 1, from: 0, to: 1, r }) });
                    signal.addEventListener('abort', () => reject(Object.assign(new Error(), { name: 'AbortError' })));
                }),
            changed() {},
            failed(problem) {
                throw problem;
            },
            coarsest: () => 1024,
        });
    return { asked, store };
}

const wanted = (r, ...indexes) => indexes.map((index) => ({ kind: /** @type {const} */ ('events'), chunk, r, index }));

async function overtakenTilesAreCancelled() {
    const { asked, store } = slowStore(),
        turn = () =>
            new Promise((resolve) => {
                setTimeout(resolve);
            });
    store.want(wanted(1, 0, 1, 2, 3, 4, 5));
    assert.deepEqual([...asked.keys()], ['1 0', '1 1', '1 2', '1 3'], 'four at once, in their order');
    asked.get('1 0').come();
    await turn();
    assert.ok(store.has(wanted(1, 0)[0]) && asked.has('1 4'), 'the next one follows');
    store.want(wanted(1, 2, 9));
    assert.deepEqual(
        ['1 1', '1 2', '1 3', '1 4'].map((key) => asked.get(key).signal.aborted),
        [true, false, true, true],
    );
    assert.ok(asked.has('1 9'));
    for (let index = 1000; index < 1400; index++) {
        store.want(wanted(1, index));
        asked.get(`1 ${index}`).come();
        await turn();
    }
    assert.ok(
        !store.has(wanted(1, 0)[0]) &&
            !store.has(wanted(1, 1100)[0]) &&
            store.has(wanted(1, 1399)[0]) &&
            store.has(wanted(1, 1150)[0]),
        '256 are kept, the latest',
    );
    store.close();
}

const lane = (level, id, parent, more = {}) => ({
    id,
    parent,
    level,
    label: id,
    host_name: 'n',
    pid: 1,
    tid: 1,
    threads: 1,
    events: 1,
    busy: 1,
    rows: 2,
    ...more,
});

async function lanesAreLaidOut() {
    const tree = treeOf([
        lane('host', 'h', null),
        lane('rank_group', 'r1', 'h'),
        lane('process', 'p1', 'r1'),
        lane('thread', 't1', 'p1', { rows: 5 }),
        lane('thread', 't2', 'p1'),
        lane('rank_group', 'r2', 'h', { busy: 9 }),
        lane('process', 'p2', 'r2'),
        lane('thread', 't3', 'p2'),
        lane('process', 'p3', 'r2'),
        lane('thread', 't4', 'p3'),
    ]);
    const options = { open: new Set(['h', 'r1']), hidden: new Set(), sort: '', depth: 3 },
        names = (more) => linesOf(tree, { ...options, ...more }).lines.map(({ lane: { id } }) => id);
    assert.deepEqual(names({}), ['h', 'r1', 't1', 't2', 'r2'], 'a process that is alone gives way to its threads');
    assert.deepEqual(
        names({ open: usuallyOpen(tree) }),
        ['h', 'r1', 'r2', 'p2', 't3', 'p3', 't4'],
        'the busiest rank is open',
    );
    assert.deepEqual(names({ sort: '-busy' }), ['h', 'r2', 'r1', 't1', 't2']);
    assert.deepEqual(names({ hidden: new Set(['r1']) }), ['h', 'r2']);
    assert.deepEqual(
        names({ open: new Set(), named: 'T2' }),
        ['h', 'r1', 't2'],
        'what it is in opens for a found one',
    );
    const { lines } = linesOf(tree, options),
        [, , deep] = lines;
    assert.deepEqual([deep.rows, deep.more], [3, 2]);
    for (const [at, { top, height }] of lines.entries())
        assert.deepEqual([lineAt(lines, top), lineAt(lines, top + height - 1)], [at, at]);
    assert.deepEqual([...withBelow(tree, ['r2'])], ['r2', 'p2', 't3', 'p3', 't4']);
    assert.equal(tree.lanes.get('t3').chunk, tree.lanes.get('t4').chunk, 'threads of a rank are asked for together');
}

async function boxesAreHit() {
    const tree = treeOf([
            lane('host', 'h', null),
            lane('rank_group', 'r', 'h'),
            lane('process', 'p', 'r'),
            lane('thread', 't', 'p'),
        ]),
        { chunk: its, ...thread } = { ...tree.lanes.get('t') };
    const tile = tileOfEvents(
        {
            lanes: [{ id: 't', rows: 2 }],
            names: ['a', 'b'],
            categories: ['c'],
            name_colors: [1, 2],
            category_colors: [3],
            events: {
                lane: [0, 0, 0],
                row: [0, 0, 1],
                start: [0, 100, 110],
                dur: [50, 50, 20],
                name: [0, 0, 1],
                category: [0, 0, 0],
                layer: [-1, 0, 0],
                nth: [0, 0, 0],
            },
            blocks: {
                lane: [0],
                row: [1],
                start: [140],
                dur: [8],
                count: [3],
                covered: [5],
                name: [1],
                category: [0],
                layer: [0],
                nth: [0],
                at: [142],
            },
        },
        { kind: 'events', chunk: its, r: 1, index: 0 },
        noTexts(),
    );
    const at = (row, time, reach = 0) => {
        const box = boxAt(tile, /** @type {any} */ (thread), row, time, reach);
        return box && [box.start, box.end, box.count, box.at];
    };
    assert.deepEqual(
        [at(0, 120), at(1, 120), at(1, 143)],
        [
            [100, 150, 1, 100],
            [110, 130, 1, 110],
            [140, 148, 3, 142],
        ],
    );
    assert.deepEqual([at(0, 60), at(0, 60, 15), at(0, 90, 15)], [null, [0, 50, 1, 0], [100, 150, 1, 100]]);
}

const call = (node, parent, label, total, self) => ({ node, parent, kind: 'node', label, count: 1, total, self });

async function framesFit() {
    const root = callTree([
            call(0, null, 'a', 6, 1),
            call(1, 0, 'b', 3, 3),
            call(2, 0, 'c', 2, 2),
            call(3, null, 'd', 2, 2),
        ]),
        frames = framesOf(root, 0.01);
    const place = (label) => {
        const { x, width, depth } = frames.find(({ node }) => node.label === label);
        return [x, width, depth];
    };
    assert.deepEqual(
        [place('a'), place('b'), place('c'), place('d')],
        [
            [0, 0.75, 1],
            [0, 0.375, 2],
            [0.375, 0.25, 2],
            [0.75, 0.25, 1],
        ],
    );
    assert.deepEqual([frameAt(frames, 0.4, 2).node.label, frameAt(frames, 0.7, 2)], ['c', null]);
    assert.deepEqual(
        framesOf(nodeAt(root, ['a', 'b']), 0.01).map(({ node, width }) => [node.label, width]),
        [
            ['all', 1],
            ['a', 1],
            ['b', 1],
        ],
        'what leads there stands over it',
    );
    const wide = callTree([call(0, null, 'a', 4, 0), call(1, 0, 'b', 4, 4), call(2, 0, 'c', 4, 4)]);
    assert.deepEqual(
        framesOf(wide, 0.01)
            .slice(2)
            .map(({ x, width }) => [x, width]),
        [
            [0, 0.5],
            [0.5, 0.5],
        ],
        'siblings that overlap share the space',
    );
    const both = callTree(
        mergedTrees(root, callTree([call(0, null, 'a', 4, 1), call(1, 0, 'b', 1, 1), call(2, 0, 'e', 2, 2)])),
    );
    assert.deepEqual(
        both.children[0].children.map(({ label, total, before }) => [label, total, before]),
        [
            ['b', 3, 1],
            ['c', 2, 0],
            ['e', 0, 2],
        ],
    );
}

export const tests = [
    { name: 'timeline parts: resolutions, tiles and views', body: scalesHold },
    { name: 'timeline parts: the ruler of a long job is a clock', body: rulerHasClockTimes },
    { name: 'timeline parts: other resolutions stand in', body: coarserTilesStandIn },
    {
        name: 'timeline parts: what is overtaken is cancelled, what is old is dropped',
        body: overtakenTilesAreCancelled,
    },
    { name: 'timeline parts: lanes become lines', body: lanesAreLaidOut },
    { name: 'timeline parts: boxes are hit', body: boxesAreHit },
    { name: 'timeline parts: frames fit their parents', body: framesFit },
];
