/* whatif_lanes.js - an epoch of one rank: traced and simulated, under each other, on the timeline's canvas. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { range, text } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { field } from './control_bar.js';
import { copyMenu } from './copy.js';
import { swatch } from './layers.js';
import { recordsOf } from './table.js';
import { hoverCard } from './timeline_card.js';
import { timelineHands } from './timeline_hands.js';
import { timelineStage } from './timeline_stage.js';
import { treeOf } from './timeline_tree.js';

const NAME = 'scenario';
const MOST_STEPS = 20000; /* of all ranks: the details of more would take long to fetch */
const PER_SECOND = 1e6;

/** What a box is; its place is its layer. */
const KINDS = [
    ['wait', 'waits for a batch', 4],
    ['compute', 'computes', 2],
    ['barrier', 'waits at the barrier', 7],
    ['batch', 'makes a batch', 5],
].map(([name, words, hue]) => ({
    name: String(name),
    label: String(words),
    parent: null,
    depth: 0,
    hatched: false,
    color: `var(--layer-${hue})`,
}));

/**
 * @typedef {{words: string, boxes: [from: number, to: number, kind: number][]}} EpochLane  seconds from the epoch's
 * start
 */

export function epochLanes(trace) {
    const tools = h('div', { class: 'card-tools' }),
        key = h(
            'p',
            { class: 'chart-key' },
            KINDS.map((kind) => [swatch(kind), ` ${kind.label}`]),
        ),
        waiting = h('div', {}),
        card = hoverCard();
    const nothing = () => {},
        stage = timelineStage({
            onView: nothing,
            onFold: nothing,
            onPin: nothing,
            onHide: nothing,
            onProblem: nothing,
            onPaint: nothing,
            onNamed: nothing,
            onWhole: nothing,
        });
    const element = h(
        'section',
        { class: 'card whatif-lanes', 'aria-label': 'One epoch, traced and simulated' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'One epoch, traced and simulated'),
            h('small', {}, 'from its start; scroll to zoom, drag to move'),
            tools,
        ),
        key,
        waiting,
        stage.element,
    );
    const simulating = latestRequest(waiting);
    let lanes = [];
    stage.element.append(card.element);
    timelineHands(stage, {
        pick: nothing,
        fit: (box) => {
            if (box) stage.fit(box);
            else stage.show(whole());
        },
        select: nothing,
        point,
    });

    const whole = () => ({
        from: 0,
        to: Math.max(1, ...lanes.flatMap(({ boxes }) => boxes.map(([, to]) => ticks(to)))),
    });

    function update(place, scenario, { model, ranks }) {
        const few = model.steps <= MOST_STEPS;
        element.hidden = !few;
        if (!few) return;
        const known = recordsOf(ranks).filter((row) => row.scenario === 'baseline');
        const rank = Math.min(Number(place.rank) || 0, model.ranks - 1),
            epoch = Math.min(Math.max(Number(place.epoch) || 1, 1), model.epochs);
        const path = `traces/${trace.id}/whatif`;
        const parameters = {
            q: JSON.stringify({
                scenarios: [{ name: NAME, ...scenario }],
                detail: ['steps'],
                timeline: { scenario: NAME, rank, epoch },
            }),
        };
        const pick = (label, name, count, chosen, words) =>
            field(
                label,
                h(
                    'select',
                    { id: `if-${name}`, onchange: (event) => go({ [name]: event.target.value }) },
                    Array.from({ length: count }, (_, at) =>
                        h('option', { value: words(at)[0], selected: words(at)[0] === chosen }, words(at)[1]),
                    ),
                ),
            );
        refill(
            tools,
            pick('Rank', 'rank', model.ranks, rank, (at) => [at, known[at]?.pid ?? at]),
            pick('Epoch', 'epoch', model.epochs, epoch, (at) => [at + 1, at + 1]),
            copyMenu(path, { ...parameters, table: 'timeline' }, `${trace.name}-epoch`),
        );
        stage.element.hidden = true;
        simulating.send({
            request: parameters,
            what: 'Simulating an epoch',
            path,
            height: 200,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: (answer) => draw(lanesOf(answer, known[rank], epoch), parameters.q),
        });
    }

    function draw(next, request) {
        fill(waiting);
        stage.element.hidden = false;
        lanes = next;
        const tree = treeOf(
            lanes.map(({ words, boxes }, at) => ({
                id: `lane ${at}`,
                parent: 'job',
                level: 'thread',
                label: words,
                words,
                host_name: null,
                pid: null,
                tid: at,
                threads: 1,
                events: boxes.length,
                busy: boxes.reduce((sum, [from, to]) => sum + to - from, 0),
                rows: 1,
            })),
        );
        const none = new Set();
        stage.update({
            trace: { answers: `${trace.answers} ${request}` },
            tree,
            perSecond: PER_SECOND,
            origin: '0',
            end: whole().to + 1,
            parameters: {},
            open: none,
            pinned: [],
            hidden: none,
            sort: '',
            depth: 1,
            color: 'layer',
            layers: KINDS,
            selection: null,
            selected: null,
            chosen: null,
            only: null,
            hits: null,
            events: boxesOf,
        });
        stage.canvas.setAttribute(
            'aria-label',
            `One epoch of a rank, traced and simulated: ${lanes.map(({ words, boxes }) => `${words}, ${boxes.length} intervals`).join('; ')}`,
        );
        stage.show(whole(), true);
    }

    /** As the call timeline/events answers. */
    function boxesOf({ chunk, from, to }) {
        const events = { start: [], dur: [], lane: [], row: [], name: [], category: [], layer: [], nth: [] };
        chunk.lanes.forEach(({ tid }, lane) => {
            for (const [start, end, kind] of lanes[tid].boxes) {
                if (ticks(end) <= from || ticks(start) >= to) continue;
                for (const [column, value] of Object.entries({
                    start: ticks(start),
                    dur: ticks(end) - ticks(start),
                    lane,
                    row: 0,
                    name: kind,
                    category: -1,
                    layer: kind,
                    nth: 0,
                }))
                    events[column].push(value);
            }
        });
        return {
            lanes: chunk.lanes.map(({ id }) => ({ id, rows: 1 })),
            names: KINDS.map(({ label }) => label),
            name_colors: [0, 1, 2, 3],
            categories: [],
            category_colors: [],
            events,
            blocks: {
                ...Object.fromEntries(Object.keys(events).map((column) => [column, []])),
                at: [],
                count: [],
                covered: [],
            },
        };
    }

    function point(at) {
        const box = at && stage.boxUnder(at.x, at.y);
        stage.setHover(box);
        if (!box) {
            card.hide();
            return;
        }
        const { canvas } = stage,
            from = box.start / PER_SECOND,
            to = box.end / PER_SECOND;
        card.show(
            at,
            [
                h('strong', {}, box.lane.words),
                h('p', {}, `${KINDS[box.layer].label}: ${text(to - from, 's')}`),
                h('p', {}, range(from, to)),
            ],
            { width: canvas.clientWidth, height: canvas.clientHeight, left: canvas.offsetLeft },
        );
    }

    return {
        element,
        update,
        close: () => {
            simulating.close();
            stage.close();
        },
    };
}

const ticks = (seconds) => Math.round(seconds * PER_SECOND);

/** @returns {EpochLane[]} */
function lanesOf({ steps, timeline }, rank, epoch) {
    const traced = recordsOf(steps).filter(
            (row) =>
                row.scenario === 'traced' &&
                row.pid === rank.pid &&
                row.host_name === rank.host_name &&
                row.epoch === epoch,
        ),
        spans = recordsOf(timeline);
    const first = (times) => times.reduce((least, time) => Math.min(least, time), Infinity),
        began = first(traced.map(({ asked }) => asked)),
        simulated = first(spans.map(({ start }) => start));
    const kindOf = (name) => KINDS.findIndex((kind) => kind.name === name);
    const names = [...new Set(spans.map(({ lane }) => lane))];
    return [
        {
            words: 'traced',
            boxes: traced.flatMap(
                (row) =>
                    /** @type {EpochLane['boxes']} */ ([
                        [row.asked - began, row.got - began, 0],
                        [row.compute_start - began, row.compute_end - began, 1],
                    ]),
            ),
        },
        ...names.map((name) => ({
            words: name === 'rank' ? 'simulated' : name,
            boxes: spans
                .filter(({ lane }) => lane === name)
                .map(
                    ({ start, end, kind }) =>
                        /** @type {EpochLane['boxes'][0]} */ ([start - simulated, end - simulated, kindOf(kind)]),
                ),
        })),
    ].map(({ words, boxes }) => ({
        words,
        boxes: boxes.filter(([from, to]) => to > from).sort((a, b) => a[0] - b[0]),
    }));
}
