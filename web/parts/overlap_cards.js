/* overlap_cards.js - one set behind another: by rank, over time, as lanes, and where it was longest not overlapped. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, instant, text, value } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { bars } from './bars.js';
import { chartCard } from './chart_card.js';
import { copyMenu } from './copy.js';
import { eventAddress } from './event_dialog.js';
import { lanes } from './lanes.js';
import { legend, toggled } from './legend.js';
import { lines } from './lines.js';
import { empty } from './notice.js';
import { pairColumns, unitName } from './overlap_request.js';
import { groupWords, rowGroups } from './row_groups.js';
import { segmented } from './segmented.js';
import { columnOf, recordsOf, scrolling, table } from './table.js';
import { showRange } from './time.js';
import { laneOf, timelineLink } from './timeline_links.js';

const MOST_UNITS = 64,
    MOST_INTERVALS = 20000,
    LONGEST = 10,
    FILL = 3;
const HIDDEN = { name: 'overlapped', color: 'var(--layer-5)' };

/** The two parts of a set's time: those that the place shows, and a legend that shows and hides them. */
function partsOf({ hidden, behind }, place) {
    const parts = [
        { key: 'exposed', name: 'not overlapped', color: hidden.color, hatched: hidden.hatched },
        { key: 'hidden', name: `overlapped with ${behind.name}`, color: HIDDEN.color, hatched: false },
    ];
    const away = (place.hide ?? '').split(','),
        shown = parts.filter(({ key }) => !away.includes(key));
    const choose = (name, alone) => {
        const next = toggled(new Set(shown.map((part) => part.name)), name, alone);
        go({
            hide: parts
                .filter((part) => !next.has(part.name))
                .map(({ key }) => key)
                .join(','),
        });
    };
    return {
        shown,
        above: legend(/** @type {any} */ (parts), new Set(shown.map(({ name }) => name)), choose, 'Parts shown'),
    };
}

/** Time of each unit that is not overlapped, and that is; those with the most of the former first. */
export function unitsCard() {
    const card = chartCard({ name: 'units', title: 'By rank', kind: bars });
    function update({ trace, place, request, answer, path }) {
        const { hidden: set, behind, scope } = request,
            { shown, above } = partsOf(request, place);
        const names = pairColumns(answer.per_scope.columns, set.name, behind.name);
        const rows = recordsOf(answer.per_scope).sort((a, b) => b[names.exposed] - a[names.exposed]);
        const hosts = new Set(rows.map((row) => row.host_name)).size;
        card.update({
            what: 'Reading the ranks',
            path,
            parameters: { ...request.parameters, limit: rows.length || 1 },
            file: `${trace.name}-overlap`,
            load: async () => answer,
            above,
            note: [
                `${set.name} of ${answer.scope_count > rows.length ? `the ${grouped(rows.length)} longest of ${grouped(answer.scope_count)}` : `all ${grouped(rows.length)}`} ${scope.many}, the least overlapped first`,
                rows.length > MOST_UNITS && `: ${quantiles(rows.map((row) => row[names.exposed]))}`,
                set !== behind && answer.scope_count === rows.length && beside(rows, request),
            ],
            draw: () =>
                rows.length === 0
                    ? null
                    : {
                          names: rows.map((row) => unitName(row, hosts)),
                          lying: rows.length <= MOST_UNITS,
                          stacked: true,
                          unit: 's',
                          head: scope.label,
                          label: `${set.name} not overlapped and overlapped, by ${scope.one}`,
                          series: shown.map((part) => ({ ...part, values: rows.map((row) => row[names[part.key]]) })),
                      },
        });
    }
    return { element: card.element, update, close: card.close };
}

/** How much of the set is in those that have events of the other one at all. */
function beside(rows, { hidden: set, behind, scope }) {
    const time = rows
        .filter((row) => row[`${behind.name}_events`] > 0)
        .reduce((sum, row) => sum + Math.round(row[`${set.name}_busy`] * 1e6), 0);
    return ['; ', value(time / 1e6, 's'), ` of it in ${scope.many} with ${behind.name}`];
}

/** What a sorted curve says, in words. */
function quantiles(values) {
    const sorted = [...values].sort((a, b) => a - b),
        at = (share) => text(sorted[Math.round(share * (sorted.length - 1))], 's');
    return `median ${at(0.5)}, middle half ${at(0.25)} to ${at(0.75)}, least ${at(0)}, most ${at(1)}`;
}

/** Time that is not overlapped, and that is, over the job. */
export function hidingSeries() {
    const card = chartCard({ name: 'hiding', title: 'Over time', kind: lines });
    function update({ trace, place, request, answer, path, granularity }) {
        const { hidden: set, behind } = request,
            { shown, above } = partsOf(request, place);
        const names = pairColumns(answer.series.columns, set.name, behind.name);
        card.update({
            what: 'Reading the bins',
            path,
            parameters: request.parameters,
            file: `${trace.name}-overlap-series`,
            load: async () => answer,
            above,
            note: `${set.name} in bins of ${text(granularity, 's')}, summed over ${request.scope.many}; drag to choose a time range`,
            draw: () =>
                answer.series.data.length === 0
                    ? null
                    : {
                          times: columnOf(answer.series, 'time_start'),
                          width: granularity,
                          unit: 's',
                          stacked: true,
                          label: `${set.name} not overlapped and overlapped over time`,
                          series: shown.map((part) => ({
                              name: part.name,
                              layer: { ...set, color: part.color, hatched: part.hatched },
                              values: columnOf(answer.series, names[part.key]),
                          })),
                      },
        });
    }
    return { element: card.element, update, close: card.close };
}

/** The intervals themselves, a lane for each unit. */
export function lanesCard() {
    const card = chartCard({ name: 'lanes', title: 'Intervals', kind: lanes, height: 200 });
    function update({ trace, place, request, span }) {
        const { hidden: set, behind } = request,
            choices = [
                ['exposed', `${set.name} not overlapped`, `${set.name} and not ${behind.name}`, set.color],
                ['hidden', 'overlapped', `${set.name} and ${behind.name}`, HIDDEN.color],
                ['behind', behind.name, behind.name, behind.color],
                ['idle', 'none of the sets', 'idle', 'var(--line-strong)'],
            ];
        const [key, , where, color] = choices.find(([one]) => one === place.lanes) ?? choices[0];
        const path = `traces/${trace.id}/overlap/intervals`,
            { granularity: _, ...common } = request.parameters,
            parameters = { ...common, where, order_by: '-time', limit: MOST_INTERVALS };
        card.update({
            what: 'Cutting the time of every rank',
            path,
            parameters,
            file: `${trace.name}-${key}`,
            load: (signal) => getOf(trace, path, parameters, signal),
            tools: segmented(
                'Intervals of',
                choices.map(([one, words]) => [one, words]),
                key,
                (one) => go({ lanes: one === 'exposed' ? null : one }),
            ),
            note: (answer) => lanesNote(answer, request.scope),
            draw: (answer) => lanesOf(recordsOf(answer), span, color, where, request.scope.key),
        });
    }
    return { element: card.element, update, close: card.close };
}

function unitsOf(rows) {
    const hosts = new Set(rows.map((row) => row.host_name)).size,
        named = rows.map((row) => unitName(row, hosts));
    return { named, names: [...new Set(named)].sort(new Intl.Collator(undefined, { numeric: true }).compare) };
}

/** How many of how many are drawn. */
function lanesNote(answer, scope) {
    const { names } = unitsOf(recordsOf(answer)),
        { per } = rowGroups(names, MOST_UNITS);
    const part =
        answer.row_count > answer.data.length
            ? `the longest ${grouped(answer.data.length)} of ${grouped(answer.row_count)}, in `
            : `${grouped(answer.row_count)} in `;
    return `${part}${groupWords(names.length, per, scope.many)}`;
}

/** Lanes in the order of their names, which are few: only these are compared as texts.  Many share lanes. */
function lanesOf(rows, [first, last], color, label, scope) {
    const { named, names: units } = unitsOf(rows),
        groups = rowGroups(units, MOST_UNITS),
        names = groups.rows;
    const places = new Map(units.map((name, index) => [name, groups.rowOf(index)]));
    const intervals = rows.map(
        (row, at) => /** @type {[number, number, number]} */ ([row.start, row.end, places.get(named[at])]),
    );
    return rows.length === 0
        ? null
        : {
              first,
              last,
              lanes: names,
              intervals: intervals.sort((a, b) => a[2] - b[2] || a[0] - b[0]),
              color,
              label,
              address: ([time, lane]) => {
                  const at = rows.findIndex(
                      (row, index) => places.get(named[index]) === lane && row.start <= time && row.end >= time,
                  );
                  return at < 0
                      ? null
                      : timelineLink({ from: rows[at].start, to: rows[at].end, lane: laneOf(scope, rows[at]) });
              },
          };
}

/** Where a rank waited for longest, and for what. */
export function longestCard() {
    const tools = h('div', { class: 'card-tools' }),
        note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Longest not overlapped' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Longest not overlapped'), note, tools),
        box,
    );
    const looking = latestRequest(box);

    function update({ trace, request }) {
        const {
            hidden: set,
            behind,
            scope,
            parameters: { granularity: _, ...common },
        } = request;
        const path = `traces/${trace.id}/overlap/intervals`,
            parameters = { ...common, where: `${set.name} and not ${behind.name}`, longest: LONGEST, events: FILL };
        fill(note, `intervals of ${set.name} without ${behind.name}, and the events that fill them`);
        fill(tools, copyMenu(path, parameters, `${trace.name}-longest-not-overlapped`));
        looking.send({
            request: parameters,
            what: 'Looking for the longest intervals',
            path,
            height: 200,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: (answer) => show(answer, scope),
        });
    }

    function show(answer, scope) {
        const rows = recordsOf(answer),
            hosts = new Set(rows.map((row) => row.host_name)).size;
        if (rows.length === 0) {
            fill(box, empty('Always overlapped', h('p', {}, 'Nothing of this set was outside the other one.')));
            return;
        }
        const columns = [
            {
                key: 'start',
                label: 'From',
                class: 'head',
                cell: (row) =>
                    h(
                        'button',
                        {
                            type: 'button',
                            class: 'row-name',
                            title: 'Show this interval',
                            onclick: () => showRange(row.start, row.end),
                        },
                        instant(row.start),
                    ),
            },
            { key: 'time', label: 'For', unit: 's' },
            {
                key: 'unit',
                label: 'Where',
                cell: (row) =>
                    h(
                        'a',
                        {
                            href: timelineLink({ from: row.start, to: row.end, lane: laneOf(scope.key, row) }),
                            title: 'Show on the timeline',
                        },
                        unitName(row, hosts),
                    ),
            },
            {
                key: 'events',
                label: 'Filled by',
                cell: (row) => h('ul', { class: 'plain-list' }, row.events.map(eventLine)),
            },
        ];
        fill(
            box,
            scrolling(
                'Longest intervals not overlapped',
                table({ columns, rows, caption: 'Longest intervals not overlapped' }),
            ),
        );
    }
    return { element, update, close: looking.close };
}

function eventLine(event) {
    const { time_start: from, time } = event,
        address = eventAddress({ ...event, ts: Math.round(from * 1e6), dur: Math.round(time * 1e6) });
    return h(
        'li',
        {},
        h('a', { class: 'name', href: address, title: 'Everything about this event' }, event.func_name),
        ' ',
        h('span', { class: 'quiet' }, event.cat),
        ' ',
        text(event.covered, 's'),
        event.size ? [', ', text(event.size, 'B')] : null,
        event.file_name && [
            ' ',
            h('span', { class: 'path', title: event.file_name }, event.file_name.replace(/^.*\//, '')),
        ],
    );
}
