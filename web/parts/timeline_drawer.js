/* timeline_drawer.js - below the lanes: what the selection holds, or else the view, in tabs; and the way from here to
 * other pages. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { at, grouped, plural, range, text, value } from '../format.js';
import { go, pageLink } from '../state.js';
import { latestRequest } from './latest_request.js';
import { callsPanel, CALL_TABS } from './calls_panel.js';
import { copyMenu } from './copy.js';
import { eventCondition, IDENTITY } from './event_dialog.js';
import { grid } from './grid.js';
import { swatch } from './layers.js';
import { equals, narrowed } from './narrow.js';
import { empty } from './notice.js';
import { whole } from './paged.js';
import { segmented } from './segmented.js';
import { sorted } from './table.js';
import { eventPanel, eventPath } from './timeline_event.js';
import { gapTools, showGaps } from './timeline_gaps.js';
import { laneCondition } from './timeline_tree.js';
import { laneWords } from './timeline_words.js';

const MOST = 10000,
    MOST_BOXES = 1000,
    EVENT_SORTS = new Set(['func_name', 'time', 'time_start', 'size', 'pid', 'tid', 'file_name']);

/** @type {[string, string][]} */
const TABS = [
    ['event', 'Event'],
    ['names', 'By name'],
    ['layers', 'By layer'],
    ...CALL_TABS,
    ['gaps', 'Gaps'],
    ['events', 'Events'],
    ['table', 'In sight'],
];

/**
 * @typedef {Object} DrawerView
 * @property {Object} place
 * @property {import('./timeline_stage.js').Shown} shown
 * @property {number} from  seconds
 * @property {number} to
 * @property {boolean} isWhole
 * @property {boolean} isSelection
 * @property {string[]} lanes
 * @property {string|null} event
 * @property {(event: Object) => void} onEvent
 * @property {(condition: string, window: Object) => void} onFind  goes to an event
 * @property {(name: string) => string} conditionOf  which events are a layer's
 * @property {(number: number) => import('./timeline_boxes.js').Box[]} boxes  in sight, so many at most
 * @property {(box: import('./timeline_boxes.js').Box) => Object} described
 */

/** @param {Object} trace */
export function timelineDrawer(trace) {
    const heading = h('h2', {}),
        tools = h('div', { class: 'card-tools' }),
        summary = h('p', { class: 'tl-summary', role: 'status' }),
        box = h('div', { class: 'tl-panel' }),
        bar = h('div', { class: 'tl-tabs' });
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Selection' },
        h('header', { class: 'card-head' }, heading, tools),
        summary,
        bar,
        box,
    );
    const panel = latestRequest(box),
        counting = latestRequest(summary),
        rows = grid(),
        calls = callsPanel(trace, {
            onFind: (label) => go({ find: `=${equals('func_name', label)}` }, { replace: true }),
        });
    /** @type {DrawerView} */
    let view = /** @type {any} */ (null);

    /** @param {DrawerView} next */
    function update(next) {
        view = next;
        const { place, event } = view,
            tab = tabOf(view);
        refill(
            bar,
            segmented(
                'What to show of it',
                TABS.filter(([key]) => key !== 'event' || event),
                tab,
                (key) => go({ panel: key, sort: null }, { replace: true }),
            ),
        );
        fill(heading, view.isSelection ? 'Selection' : 'In view');
        refill(
            tools,
            leads(view),
            view.isSelection &&
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'button small',
                        onclick: () => go({ from: null, to: null, lanes: null }),
                    },
                    'Clear',
                ),
            tab === 'names' || tab === 'layers'
                ? copyMenu(
                      `traces/${trace.id}/timeline/statistics`,
                      { ...windowOf(view), label: labelOf(tab) },
                      `${trace.name}-${tab}`,
                  )
                : tab === 'gaps'
                  ? gapTools(trace, place, windowOf(view))
                  : null,
        );
        const path = `traces/${trace.id}/timeline/statistics`,
            asked = windowOf(view);
        if (tab === 'names') counting.close(); /* whose answer says it too */
        else
            counting.send({
                request: asked,
                what: 'Counting',
                height: 20,
                load: (signal) => getOf(trace, path, { ...asked, label: 'name', limit: MOST }, signal),
                show: (answer) => fill(summary, words(view, answer)),
            });
        ({
            names: statistics,
            layers: statistics,
            gaps,
            events,
            table: inSight,
            event: one,
            flame: inside,
            tree: inside,
            sandwich: inside,
        })[tab](place, tab);
    }

    function statistics(place, tab) {
        const path = `traces/${trace.id}/timeline/statistics`,
            asked = { ...windowOf(view), label: labelOf(tab), limit: MOST };
        panel.send({
            request: ['statistics', asked],
            what: 'Summing up',
            path,
            height: 200,
            load: (signal) => getOf(trace, path, asked, signal),
            show: (answer) => {
                if (tab === 'names') {
                    summary.classList.remove('outdated');
                    fill(summary, words(view, answer));
                }
                const layers = new Map(view.shown.layers.map((layer) => [layer.name, layer]));
                const name = ({ label }) =>
                    h(
                        'button',
                        {
                            type: 'button',
                            class: 'row-name name',
                            title: 'Outline them on the timeline',
                            onclick: () => go({ find: `=${conditionOf(tab, label)}` }),
                        },
                        tab === 'layers' && layers.has(label) && [swatch(layers.get(label)), ' '],
                        label ?? '(none)',
                    );
                list(
                    answer,
                    [
                        { key: 'label', label: tab === 'layers' ? 'Layer' : 'Name', class: 'head', cell: name },
                        { key: 'count', label: 'Events', unit: 'count' },
                        { key: 'time', label: 'Call time (sum)', unit: 's' },
                        { key: 'self', label: 'Self time', unit: 's', title: 'Without the calls inside' },
                        { key: 'busy', label: 'Wall time (union)', unit: 's' },
                        { key: 'size', label: 'Size', unit: 'B', get: (row) => row.size || null },
                        { key: 'min', label: 'Shortest', unit: 's' },
                        {
                            key: 'max',
                            label: 'Longest',
                            unit: 's',
                            cell: ({ label, max }) =>
                                h(
                                    'button',
                                    {
                                        type: 'button',
                                        class: 'row-name',
                                        title: 'Go to the longest one',
                                        onclick: () => longest(conditionOf(tab, label), max),
                                    },
                                    value(max, 's'),
                                ),
                        },
                    ],
                    place.sort ?? '-time',
                    tab === 'layers' ? 'Layers' : 'Names',
                );
            },
        });
    }

    const conditionOf = (tab, label) => (tab === 'layers' ? view.conditionOf(label) : equals('func_name', label));

    /** An event that lies in the window for so long. */
    function longest(condition, seconds) {
        const { shown, from, to, lanes, isWhole } = view,
            { filter } = shown.parameters,
            least = Math.max(0, seconds - 0.4 / shown.perSecond);
        view.onFind(
            [condition, filter, `time >= ${least}`]
                .filter(Boolean)
                .map((one) => `(${one})`)
                .join(' and '),
            { ...(isWhole ? {} : { from, to }), lanes: lanes.join(','), filters: shown.parameters.filters },
        );
    }

    const gaps = (place) => showGaps({ trace, place, view, asked: windowOf(view), panel, list });

    /** The picture as a table: for whoever cannot see it, or wants its numbers. */
    function inSight(place) {
        const found = view.boxes(MOST_BOXES),
            columns = ['lane', 'name', 'layer', 'start', 'dur', 'count', 'event'];
        panel.send({
            request: ['table', place.view, place.open, found.length, found[0]?.start],
            what: '',
            height: 100,
            load: async () => ({
                columns,
                data: found.map((one) => {
                    const facts = view.described(one);
                    return columns.map((name) => facts[name]);
                }),
                row_count: found.length,
            }),
            show: (answer) => {
                list(
                    answer,
                    [
                        {
                            key: 'name',
                            label: 'Event',
                            class: 'head',
                            cell: (row) =>
                                h(
                                    'button',
                                    {
                                        type: 'button',
                                        class: 'row-name name',
                                        onclick: () => go({ event: row.event, panel: 'event' }),
                                    },
                                    row.name,
                                    row.count > 1 && ` \u00d7 ${grouped(row.count)}`,
                                ),
                        },
                        { key: 'layer', label: 'Layer' },
                        { key: 'start', label: 'From', class: 'number', cell: ({ start }) => at(start) },
                        { key: 'dur', label: 'Duration', unit: 's' },
                        { key: 'count', label: 'Events', unit: 'count' },
                        {
                            key: 'lane',
                            label: 'Lane',
                            cell: ({ lane }) => h('span', { class: 'name' }, laneWords(lane)),
                        },
                    ],
                    place.sort ?? '',
                    'Events in sight',
                );
            },
        });
    }

    /** Which call was inside which. */
    function inside(place, tab) {
        panel.close();
        box.classList.remove('outdated');
        if (calls.element.parentElement !== box) fill(box, calls.element);
        calls.update({ place, tab, parameters: { ...windowOf(view), label: 'name' } });
    }

    /** The longest that touch the window, one by one. */
    function events(place) {
        const path = `traces/${trace.id}/events`,
            { shown, from, to, isWhole } = view,
            { filter, preset, filters = 'off' } = shown.parameters;
        const parts = [filter, ...(isWhole ? [] : [`time_start < ${to}`, `time_end > ${from}`]), lanesCondition(view)]
            .filter(Boolean)
            .map((one) => `(${one})`);
        const asked = {
            preset,
            filters,
            filter: parts.join(' and '),
            columns: [...IDENTITY, 'time_start', 'time', 'size', 'file_name'].join(','),
            order_by: place.sort && EVENT_SORTS.has(place.sort.replace(/^-/, '')) ? place.sort : '-time',
            limit: MOST_BOXES,
        };
        panel.send({
            request: ['events', asked],
            what: 'Reading the events',
            path,
            height: 200,
            load: (signal) => getOf(trace, path, asked, signal),
            show: (answer) => {
                const name = (row) =>
                    h(
                        'button',
                        {
                            type: 'button',
                            class: 'row-name name',
                            title: 'Go to this event',
                            onclick: () => go({ event: eventCondition(row), panel: 'event' }),
                        },
                        row.func_name ?? '(no name)',
                    );
                list(
                    answer,
                    [
                        { key: 'func_name', label: 'Event', class: 'head', cell: name },
                        { key: 'time', label: 'Duration', unit: 's' },
                        { key: 'time_start', label: 'From', class: 'number', cell: (row) => at(row.time_start) },
                        { key: 'size', label: 'Size', unit: 'B', get: (row) => row.size || null },
                        { key: 'pid', label: 'Process' },
                        { key: 'tid', label: 'Thread' },
                        { key: 'file_name', label: 'File' },
                    ],
                    '',
                    'Longest events',
                    asked.order_by,
                );
            },
        });
    }

    function one() {
        const path = eventPath(trace, view.event);
        panel.send({
            request: ['event', view.event],
            what: 'Looking for the event',
            path,
            height: 240,
            load: (signal) => getOf(trace, path, { preset: view.place.preset }, signal),
            show: (answer) => {
                fill(box, eventPanel(answer));
                view.onEvent(answer);
            },
        });
    }

    function list(answer, columns, sort, caption, marked = sort) {
        if (answer.data.length === 0) {
            fill(
                box,
                empty(
                    'Nothing here',
                    h(
                        'p',
                        {},
                        caption === 'Gaps' ? 'Nothing was idle here.' : 'No event touches this part of the timeline.',
                    ),
                ),
            );
            return;
        }
        const names = answer.columns,
            ordered = sort
                ? sorted(
                      answer.data,
                      columns.map(({ key, label }) => ({ key, label, get: (row) => row[names.indexOf(key)] })),
                      sort,
                  )
                : answer.data;
        if (rows.element.parentElement !== box) fill(box, rows.element);
        rows.update({
            columns,
            source: whole(answer, names, ordered),
            caption,
            sort: marked,
            onSort: (next) => go({ sort: next }, { replace: true }),
        });
    }

    return {
        element,
        update,
        get tab() {
            return view && tabOf(view);
        },
        close() {
            panel.close();
            counting.close();
            rows.close();
            calls.close();
        },
    };
}

const labelOf = (tab) => (tab === 'layers' ? 'layer' : 'name');

/** The tab that the place names; with an event, the event. */
function tabOf({ place, event }) {
    const wanted = place.panel ?? (event ? 'event' : 'names');
    return TABS.some(([key]) => key === wanted && (key !== 'event' || event)) ? wanted : 'names';
}

/**
 * The parameters of calls about it.
 * @param {DrawerView} view
 */
export function windowOf({ shown, from, to, lanes, isWhole }) {
    return { ...shown.parameters, ...(isWhole ? {} : { from, to }), lanes: lanes.join(',') };
}

function words({ from, to, lanes }, { count, threads, self, busy, size }) {
    return [
        `${range(from, to, 10 ** Math.floor(Math.log10(Math.max(to - from, 1e-9) / 100)))} (${text(to - from, 's')})${lanes.length > 0 ? `, ${lanes.length === 1 ? laneWords(lanes[0]) : plural(lanes.length, 'lane')}` : ''}: `,
        h('strong', {}, plural(count, 'event')),
        ` of ${plural(threads, 'thread')}, something ran for `,
        h('strong', {}, text(busy, 's')),
        `, call time without calls inside ${text(self, 's')}`,
        size > 0 && `, ${text(size, 'B')} read and written`,
        '.',
    ];
}

/** @param {DrawerView} view */
function lanesCondition({ shown, lanes }) {
    const conditions = lanes
        .map((id) => shown.tree.lanes.get(id))
        .filter((lane) => lane !== undefined)
        .filter(({ level }) => level !== 'job')
        .map((lane) => laneCondition(lane, equals));
    return conditions.length > 1 ? `(${conditions.map((one) => `(${one})`).join(' or ')})` : conditions[0];
}

/**
 * The same part of the job on other pages.
 * @param {DrawerView} view
 */
function leads(view) {
    const { place, from, to } = view,
        where = lanesCondition(view),
        filter = where ? narrowed(place.filter ?? '', where) : place.filter,
        change = { from, to, filter };
    return [
        {
            page: 'flame',
            label: 'Flame graph',
            more: { filter: place.filter, lanes: view.lanes.join(','), panel: null },
        },
        { page: 'layer', label: 'Layer' },
        { page: 'query', label: 'Query', more: { ask: 'events', order: '-time' } },
        { page: 'overlap', label: 'Overlap' },
    ].map(({ page, label, more }) =>
        h(
            'a',
            {
                class: 'button small',
                href: pageLink(page, { ...change, ...more }),
                title: `This part of the job on the page ${label}`,
            },
            label,
        ),
    );
}
