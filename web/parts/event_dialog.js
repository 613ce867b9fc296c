/* event_dialog.js - one event with everything that is known of it: its fields, its arguments, and the calls it
 * happened in.
 *
 * The place holds the condition that tells it from others, so that the event can be sent as a link. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { at, text, value } from '../format.js';
import { go, here, link } from '../state.js';
import { schemaOf } from './completion.js';
import { copyText } from './copy.js';
import { openDialog } from './dialog.js';
import { equals, toggle } from './narrow.js';
import { empty, loading } from './notice.js';
import { written } from './query_text.js';
import { recordsOf, table } from './table.js';
import { eventOnTimeline } from './timeline_links.js';

/** What tells an event from others; a view that opens events asks for these columns besides. */
export const IDENTITY = ['ts', 'dur', 'host_name', 'pid', 'tid', 'func_name', 'cat'];

/* query.md part 1: of one event the same numbers in another unit, or made of others. */
const REPEATED = new Set([
    ...IDENTITY,
    'te',
    'time',
    'time_start',
    'time_end',
    'proc_name',
    'trace',
    'count',
    'file_name',
]);
const PLACES = [
    ['func_name', 'Function'],
    ['cat', 'Category'],
    ['host_name', 'Host'],
    ['pid', 'Process'],
    ['tid', 'Thread'],
    ['file_name', 'File'],
];
const LABELS = { size: 'Size', offset: 'Offset', io_cat: 'Kind', image_id: 'Image', step: 'Step', epoch: 'Epoch' };
const IO_KINDS = [null, 'read', 'write', 'metadata', 'process control', 'inter-process', 'other', 'sync'];
const MOST_AROUND = 20;

/** @param {Object} event  with the columns of IDENTITY */
export function eventCondition(event) {
    return IDENTITY.map((name) => equals(name, event[name])).join(' and ');
}

/** @param {Object} event  with the columns of IDENTITY */
export function eventAddress(event) {
    return link({ event: eventCondition(event) });
}

/**
 * @param {Object} trace
 * @param {Object} place  whose `event` is the condition
 */
export function eventDialog(trace, place) {
    const box = h('div', { class: 'stack' }),
        buttons = h('div', { class: 'card-tools' });
    const dialog = openDialog({
        title: 'Event',
        wide: true,
        body: box,
        buttons: [buttons],
        onClose: () => {
            work.abort();
            if (here().event === place.event && here().page === place.page) go({ event: null }, { replace: true });
        },
    });
    const around = { preset: place.preset ?? trace.preset?.name, filters: place.filters };
    const work = loading(box, {
        what: 'Looking for the event',
        height: 320,
        load: ask,
        show,
        retry: () => {
            dialog.close();
            go({ event: place.event });
        },
    });

    async function ask(signal) {
        const known = await schemaOf(trace);
        const columns = known.map(({ name }) => written(name)).join(',');
        const answer = await get(
            `traces/${trace.id}/events`,
            { ...around, filter: place.event, columns, limit: 1 },
            signal,
        );
        const [event] = recordsOf(answer);
        if (!event) return { event: null };
        const outside = [
            ...['host_name', 'pid', 'tid'].map((name) => equals(name, event[name])),
            `ts <= ${event.ts}`,
            `te >= ${event.te}`,
            `dur > ${event.dur}`,
        ].join(' and ');
        const enclosing = await get(
            `traces/${trace.id}/events`,
            {
                ...around,
                filter: outside,
                columns: [...IDENTITY, 'time_start', 'time'].join(','),
                order_by: '-dur',
                limit: MOST_AROUND,
            },
            signal,
        );
        return { event, units: answer.units, alike: answer.row_count, calls: recordsOf(enclosing) };
    }

    function show({ event, units, alike, calls }) {
        if (!event) {
            fill(
                box,
                empty(
                    'No such event',
                    h('p', {}, 'This trace has none that fits, or the preset\u2019s filters drop it.'),
                ),
            );
            return;
        }
        fill(/** @type {HTMLElement} */ (dialog.querySelector('h2')), event.func_name);
        const rest = Object.keys(event).filter((name) => !REPEATED.has(name) && event[name] !== null);
        const given = rest.filter((name) => name.startsWith('args.')),
            own = rest.filter((name) => !name.startsWith('args.') && name !== 'acc_pat');
        fill(
            box,
            alike > 1 &&
                h(
                    'p',
                    { class: 'notice' },
                    `${alike} events are alike in function, thread and time; this is the first.`,
                ),
            h(
                'div',
                { class: 'pair narrow' },
                facts(
                    'What and where',
                    [
                        ...PLACES.filter(([name]) => event[name] !== null).map(([name, label]) => [
                            label,
                            pick(name, event[name]),
                        ]),
                        ['From', at(event.time_start)],
                        ['To', at(event.time_end)],
                        ['Duration', value(event.time, 's')],
                        event.size > 0 && event.time > 0 && ['Bandwidth', value(event.size / event.time, 'B/s')],
                        ...own.map((name) => [
                            LABELS[name] ?? name,
                            name === 'io_cat'
                                ? `${IO_KINDS[event[name]] ?? event[name]} (${event[name]})`
                                : figure(event[name], units[name]),
                        ]),
                    ].filter(Boolean),
                ),
                given.length > 0 &&
                    facts(
                        'Arguments',
                        given.map((name) => [name.slice(5), figure(event[name], units[name])]),
                    ),
            ),
            enclosed(calls),
        );
        fill(
            buttons,
            h('a', { class: 'button primary', href: eventOnTimeline(place.event) }, 'Show on the timeline'),
            h('button', { class: 'button', onclick: () => copyText(place.event, 'the filter') }, 'Copy as filter'),
            h(
                'button',
                {
                    class: 'button',
                    onclick: () =>
                        copyText(
                            JSON.stringify(
                                Object.fromEntries(Object.entries(event).filter(([, found]) => found !== null)),
                                null,
                                2,
                            ),
                            'as JSON',
                        ),
                },
                'Copy as JSON',
            ),
        );
    }

    return { close: () => dialog.close() };
}

function facts(title, rows) {
    return h(
        'section',
        {},
        h('h3', {}, title),
        h(
            'dl',
            { class: 'facts' },
            rows.map(([label, content]) => [h('dt', {}, label), h('dd', {}, content)]),
        ),
    );
}

function pick(name, found) {
    return h(
        'button',
        {
            type: 'button',
            class: 'row-name name',
            title: 'Show only events that have this',
            onclick: () => toggleAlone(equals(name, found)),
        },
        String(found),
    );
}

/** The filter changes as the dialog closes: one step for the back button. */
function toggleAlone(condition) {
    go({ event: null }, { replace: true });
    toggle(condition);
}

function figure(found, unit) {
    if (typeof found === 'number' && unit && unit !== 'us')
        return [value(found, unit), unit === 'B' && found >= 1024 ? h('span', { class: 'quiet' }, ` ${found}`) : null];
    return h('span', { class: 'name' }, typeof found === 'object' ? JSON.stringify(found) : String(found));
}

/** The calls of its thread that were running all the while, the outermost first. */
function enclosed(calls) {
    if (calls.length === 0) return null;
    return h(
        'section',
        {},
        h('h3', {}, 'Call stack'),
        h(
            'div',
            { class: 'scroll' },
            table({
                caption: 'Calls around it',
                rows: calls,
                class: 'plain',
                columns: [
                    {
                        key: 'func_name',
                        label: 'Function',
                        class: 'head',
                        cell: (call) => h('a', { href: eventAddress(call), class: 'name' }, call.func_name),
                    },
                    { key: 'cat', label: 'Category' },
                    { key: 'time_start', label: 'From', class: 'number', cell: (call) => at(call.time_start) },
                    { key: 'time', label: 'Duration', class: 'number', cell: (call) => text(call.time, 's') },
                ],
            }),
        ),
    );
}
