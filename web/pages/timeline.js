/* timeline.js - every event of a trace on a screen, from the whole job to a microsecond; what a part of it holds; one
 * event in its context. */

import { get, getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { clocksOfTimeline } from '../parts/clocks.js';
import { conditionOf, layerTree } from '../parts/layers.js';
import { attempt, empty, failedFilter, failure, toast } from '../parts/notice.js';
import { recordsOf } from '../parts/table.js';
import { boxesInSight, eventOf } from '../parts/timeline_boxes.js';
import { boxWords, densityWords, hoverCard } from '../parts/timeline_card.js';
import { coarsePicture } from '../parts/timeline_coarse.js';
import { timelineCounters } from '../parts/timeline_counters.js';
import { timelineDrawer, windowOf } from '../parts/timeline_drawer.js';
import { eventPath } from '../parts/timeline_event.js';
import { timelineHands } from '../parts/timeline_hands.js';
import { timelineLikes } from '../parts/timeline_likes.js';
import { minimap } from '../parts/timeline_minimap.js';
import { CELLS, fitted, viewOf, viewWords } from '../parts/timeline_scale.js';
import { timelineStage } from '../parts/timeline_stage.js';
import { colorBy, findCondition, nextColor, timelineSearch, timelineTools } from '../parts/timeline_tools.js';
import { opened, treeOf, usuallyOpen, withBelow } from '../parts/timeline_tree.js';
import { tracePage } from '../parts/trace_page.js';
import { go, here, note } from '../state.js';

export const title = 'Timeline';

const MOST_LANES = 100000,
    DEPTH = 24,
    AROUND = 4;

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, timelinePicture, {
        without: ['granularity', 'semantics', 'filters'],
        ownEvent: true,
    });
}

const listOf = (words) => (words ?? '').split(',').filter(Boolean);

/** A lane of a Dask computation: its processes are workers, or what samples a host. */
function asWorker(lane) {
    const worker = lane.pid === null ? 'samples' : `worker ${lane.pid}`;
    if (lane.level === 'host') return lane;
    return { ...lane, words: lane.level === 'thread' && lane.pid !== null ? `tasks of ${worker}` : worker };
}

function timelinePicture(trace, bar) {
    const top = h('div', {}),
        problems = h('div', {}),
        search = timelineSearch(trace, () => ({
            parameters: known.parameters,
            from: isId(place.event) ? { event: place.event } : { at: Math.max(0, stage.goal.from / known.perSecond) },
        }));
    const stage = timelineStage({
        onView,
        onFold,
        onPin,
        onHide,
        onProblem,
        onPaint: () => {
            map.draw();
            counters.draw();
        },
        onNamed: (lane) => go({ lane }, { replace: true }),
        onWhole: () => {
            if (drawn && drawer.tab === 'table') drawer.update(drawn);
        },
    });
    const likes = timelineLikes(trace, stage, light),
        tools = timelineTools({ trace, stage, search, window: () => windowOf(drawn), whole });
    const map = minimap(stage),
        counters = timelineCounters(trace, stage),
        card = hoverCard(),
        drawer = timelineDrawer(trace),
        clocks = clocksOfTimeline(trace),
        coarse = coarsePicture(trace);
    const section = h(
        'section',
        { class: 'card timeline', 'aria-label': 'Timeline' },
        tools.element,
        problems,
        map.element,
        counters.element,
        stage.element,
        tools.key,
    );
    const hands = timelineHands(stage, { pick, fit, select, point });
    const knowing = latestRequest(top);
    let known = null,
        place = {},
        shown = null,
        chosen = null,
        dragging = null,
        approaching = false,
        written,
        asked = null,
        drawn = null,
        revealed;
    stage.element.append(card.element);
    for (const one of [section, drawer.element]) one.hidden = true;

    function update(next) {
        place = next;
        clocks.update(place);
        const parameters = {
            preset: place.preset ?? trace.preset?.name,
            filter: place.filter,
            filters: place.filtered === 'on' ? 'on' : undefined,
        };
        const anew = knowing.send({
            request: parameters,
            what: 'Laying out the lanes',
            path: `traces/${trace.id}/timeline`,
            height: 480,
            load: (signal) => ask(parameters, signal),
            show: (answer) => {
                known = answer;
                coarse.hide();
                draw();
            },
            fail: (problem) => {
                coarse.hide();
                for (const one of [section, drawer.element]) one.hidden = true;
                failedFilter(problem, bar, top);
            },
        });
        if (!anew) return;
        bar.clear();
        coarse.hide();
        if (trace.kind === 'events' && !parameters.filter && !parameters.filters) coarse.announce(parameters.preset);
    }

    async function ask(parameters, signal) {
        const path = `traces/${trace.id}/timeline`;
        const [density, lanes, preset] = await Promise.all([
            getOf(trace, `${path}/density`, { ...parameters, width: CELLS }, signal),
            getOf(trace, `${path}/lanes`, { ...parameters, limit: MOST_LANES }, signal),
            getOf(trace, `presets/${parameters.preset}`, {}, signal),
        ]);
        const layers = new Map(
            layerTree(
                density.labels.map((name) => ({ name })),
                preset,
            ).map((layer) => [layer.name, layer]),
        );
        return {
            parameters,
            density,
            preset,
            tree: treeOf(trace.kind === 'dasf' ? recordsOf(lanes).map(asWorker) : recordsOf(lanes)),
            left: lanes.row_count - lanes.data.length,
            layers: density.labels.map((name) => layers.get(name)),
            perSecond: density.ticks_per_second,
            origin: density.origin_ns,
            end: Math.round(trace.job_time * density.ticks_per_second) + 1,
        };
    }

    function draw() {
        fill(top);
        const nothing = known.tree.root.children.length === 0;
        for (const one of [section, drawer.element]) one.hidden = nothing;
        if (nothing) {
            fill(top, empty('No events here', h('p', {}, 'No event passes the filter.')));
            return;
        }
        const { tree, perSecond, origin, end, parameters, layers } = known;
        const selection =
            place.from !== undefined || place.to !== undefined
                ? {
                      from: Number(place.from ?? 0) * perSecond,
                      to: place.to === undefined ? end : Number(place.to) * perSecond,
                  }
                : null;
        const lanes = listOf(place.lanes).filter((id) => tree.lanes.has(id));
        if (place.event && !isId(place.event) && asked !== place.event)
            resolve((asked = place.event)); /* a condition, from another page */
        if (chosen?.id !== place.event) chosen = null;
        shown = {
            trace,
            tree,
            perSecond,
            origin,
            end,
            parameters,
            layers,
            selection: dragging?.span ?? selection,
            selected: dragging
                ? dragging.lanes && withBelow(tree, dragging.lanes)
                : lanes.length > 0 && !lanes.includes('job')
                  ? withBelow(tree, lanes)
                  : null,
            open: place.open === undefined ? usuallyOpen(tree, lanes) : new Set(listOf(place.open)),
            pinned: listOf(place.pin),
            hidden: new Set(listOf(place.hide)),
            sort: place.lanesort ?? '',
            named: place.lane,
            depth: Number(place.depth) || DEPTH,
            color: colorBy(place),
            chosen: chosen?.box ?? null,
            only: null,
            hits: likes.condition ?? findCondition(place.find),
        };
        if (!place.event || isId(place.event)) asked = null;
        const first = stage.view === null;
        approaching ||= place.event !== undefined && place.view === undefined && chosen === null;
        stage.update(shown);
        if (!chosen)
            stage.canvas.setAttribute(
                'aria-label',
                `Timeline of ${grouped(tree.lanes.size - 1)} lanes; arrow keys walk from the chosen event, the tab In sight has it as a table`,
            );
        const view = viewOf(place.view, perSecond);
        if (view && (first || place.view !== written)) stage.adopt(fitted(view, end, 0));
        else if (selection && place.view === undefined) stage.show(fitted(selection, end), first);
        else if (first) stage.show({ from: 0, to: end }, true);
        written = place.view;
        if (lanes.length === 1 && lanes[0] !== revealed) stage.reveal(lanes[0]);
        else if (first && place.open === undefined) revealBusiest();
        revealed = lanes[0];
        map.update(known.density, tree.root, end);
        counters.update(place, known);
        drawDrawer(selection, lanes);
        search.update(place.find);
        tools.update(place, shown, known);
    }

    function revealBusiest() {
        const groups = [...shown.open]
            .map((id) => known.tree.lanes.get(id))
            .filter((lane) => lane?.level === 'rank_group');
        if (groups.length > 0) stage.reveal(groups[0].id);
    }

    function drawDrawer(selection, lanes) {
        const { perSecond, end } = known,
            span = selection ?? viewOf(place.view, perSecond) ?? { from: 0, to: end };
        drawn = {
            place,
            shown,
            from: span.from / perSecond,
            to: span.to / perSecond,
            isWhole: span.from <= 0 && span.to >= end,
            isSelection: selection !== null || lanes.length > 0,
            lanes,
            event: isId(place.event) ? place.event : null,
            onEvent,
            conditionOf: (name) => conditionOf(known.preset, name),
            onFind: resolve,
            boxes: (most) => boxesInSight(stage, most),
            described,
        };
        drawer.update(drawn);
        if (drawn.event && chosen === null && drawer.tab !== 'event') learn(drawn.event);
    }

    /** The chosen event is marked whatever tab is open. */
    async function learn(id) {
        await attempt(async () => {
            const event = await getOf(trace, eventPath(trace, id), { preset: place.preset });
            if (place.event === id) onEvent(event);
        });
    }

    /** Goes to the first event of a window that satisfies a condition. */
    async function resolve(condition, span = {}) {
        await attempt(async () => {
            const { event } = await get(`traces/${trace.id}/timeline/search`, {
                preset: known.parameters.preset,
                filter: condition,
                at: 0,
                ...span,
            });
            if (!event) toast('No event of this trace is so.', 'bad');
            go({ event: event?.id ?? null, panel: event ? 'event' : null }, { replace: here().event === condition });
        });
    }

    /** The response about the chosen event: it is marked, and brought into sight where it is not. */
    function onEvent(event) {
        if (chosen?.id === event.id) return;
        const { perSecond, tree } = known,
            lane = tree.lanes.get(event.lane),
            start = Math.round(event.start * perSecond),
            end = Math.round(event.end * perSecond);
        if (!lane) return;
        chosen = {
            id: event.id,
            event,
            box: {
                lane,
                row: event.row,
                start,
                end,
                name: -1,
                category: -1,
                layer: -1,
                count: 1,
                covered: end - start,
                at: start,
                nth: 0,
            },
        };
        stage.canvas.setAttribute('aria-label', `Timeline. Chosen: ${event.name}, ${event.dur} s, in ${event.lane}`);
        const open = opened(shown.open, tree, event.lane),
            { from, to } = stage.goal;
        if (approaching) stage.fit({ from: start, to: end }, AROUND);
        else if (end < from || start > to) stage.fit({ from: start, to: end }, AROUND);
        else if (end - start < (to - from) / 2000) stage.fit({ from: start, to: end }, 50);
        approaching = false;
        if (open.size > shown.open.size) go({ open: [...open].join(',') }, { replace: true });
        else stage.update({ ...shown, chosen: chosen.box });
        stage.reveal(event.lane, event.row);
    }

    function described(box) {
        const { texts } = stage,
            { perSecond } = known;
        return {
            lane: box.lane.id,
            name: texts.words[box.name] ?? '(no name)',
            category: texts.words[box.category] ?? null,
            layer: known.layers[box.layer]?.name ?? null,
            start: box.start / perSecond,
            dur: (box.end - box.start) / perSecond,
            count: box.count,
            covered: box.covered / perSecond,
            event: eventOf(box, known),
        };
    }

    /** The view that the page opened with, the whole trace, is in the drawer already. */
    function onView(view) {
        const isDrawn = place.view === undefined && !shown.selection && view.from <= 0 && view.to >= known.end;
        written = viewWords(view, known.perSecond);
        if (!isDrawn) return go({ view: written }, { replace: true });
        note({ view: written });
        place = here();
    }

    const toggledList = (list, id) => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id]).join(',');
    function onFold(id) {
        go({ open: toggledList([...shown.open], id) || 'none' }, { replace: true });
    }
    function onPin(id) {
        go({ pin: toggledList(shown.pinned, id) }, { replace: true });
    }
    function onHide(id) {
        go({ hide: toggledList([...shown.hidden], id) }, { replace: true });
    }
    function onProblem(problem) {
        fill(
            problems,
            failure(problem, () => {
                fill(problems);
                stage.retry();
            }),
        );
    }

    function pick(box, { line }) {
        if (box) {
            go({ event: eventOf(box, known), panel: 'event' });
            return;
        }
        if (line && line.rows === 0 && line.foldable) onFold(line.lane.id);
        else if (place.event) go({ event: null, panel: null });
    }

    function whole() {
        stage.show({ from: 0, to: known.end });
    }

    function fit(box) {
        if (box) stage.fit(box);
        else if (shown.selection) stage.fit(shown.selection);
    }

    function select(span, lanes, done) {
        dragging = done ? null : { span, lanes };
        const { perSecond } = known,
            round = (ticks) => Number((Math.round(ticks) / perSecond).toFixed(9));
        if (done)
            go({
                from: round(span.from),
                to: Math.max(round(span.to), round(span.from + 1)),
                lanes: lanes?.join(',') ?? null,
                panel: place.panel === 'event' ? 'names' : place.panel,
            });
        else
            stage.update({
                ...shown,
                selection: span,
                selected: lanes && withBelow(known.tree, lanes),
                chosen: chosen?.box ?? null,
            });
    }

    function point(at) {
        const box = at && stage.boxUnder(at.x, at.y),
            density = at && !box && stage.densityUnder(at.x, at.y);
        stage.setHover(box);
        likes.point(place.like, box, known);
        if (!box && !density) {
            card.hide();
            return;
        }
        card.show(at, box ? boxWords(described(box)) : densityWords(density), {
            width: stage.canvas.clientWidth,
            height: stage.canvas.clientHeight,
            left: stage.canvas.offsetLeft,
        });
    }

    function light() {
        shown.hits = likes.condition ?? findCondition(place.find);
        stage.update(shown);
    }

    /** Keys of the page; those of tables stay with the tables. */
    function onKey(event) {
        if (!known || section.hidden) return false;
        const { key: name } = event,
            related = chosen?.event,
            walks = !event.target.closest('.grid, .menu, .segmented, .tl-panel');
        if (!event.shiftKey && hands.key(name)) return true;
        const to = {
            ArrowLeft: related?.previous,
            ArrowRight: related?.next,
            ArrowUp: related?.parents[0],
            ArrowDown: related?.children.data[0],
        }[name];
        if (name.startsWith('Arrow')) {
            if (!walks || !to) return false;
            go({ event: to.id, panel: 'event' });
            return true;
        }
        const line = hands.pointer && stage.placeAt(hands.pointer.x, hands.pointer.y).line,
            lane = line?.lane ?? chosen?.box.lane;
        const action = {
            f: () => fit(chosen?.box ?? null),
            0: whole,
            n: () => search.step('next'),
            N: () => search.step('previous'),
            '/': search.focus,
            m: mark,
            p: () => lane && onPin(lane.id),
            h: () => lane && onHide(lane.id),
            e: () => lane?.children.length > 0 && onFold(lane.id),
            c: () => nextColor(place),
        }[name];
        action?.();
        return action !== undefined;
    }

    /** The chosen event's time becomes the selection, or is no longer. */
    function mark() {
        const at = hands.pointer,
            box = chosen?.box ?? (at && stage.boxUnder(at.x, at.y));
        if (box) select({ from: box.start, to: Math.max(box.end, box.start + 1) }, null, true);
        else if (shown.selection) go({ from: null, to: null, lanes: null });
    }

    function escape() {
        if (place.event) go({ event: null, panel: null });
        else if (place.from !== undefined || place.to !== undefined || place.lanes)
            go({ from: null, to: null, lanes: null });
        else if (place.find) go({ find: null });
    }

    return {
        boxes: [coarse.element, top, clocks.element, section, drawer.element],
        update,
        key: onKey,
        escape,
        close() {
            coarse.hide();
            clocks.close();
            likes.close();
            counters.close();
            knowing.close();
            stage.close();
            drawer.close();
        },
    };
}

/** An id of an event, not a condition. */
function isId(event) {
    return /^t:.*@\d+(\.\d+)?$/.test(event ?? '');
}
