/* timeline_event.js - the chosen event below the lanes: what it is, in which calls it ran, what ran before, after and
 * beside it. */

import { h } from '../dom.js';
import { at, text, value } from '../format.js';
import { go } from '../state.js';
import { copyText } from './copy.js';
import { table } from './table.js';

const LABELS = { file_name: 'File', size: 'Size', offset: 'Offset', step: 'Step', epoch: 'Epoch', image_id: 'Image' };
const REPEATED = new Set([
    'func_name',
    'cat',
    'host_name',
    'pid',
    'tid',
    'proc_name',
    'trace',
    'count',
    'ts',
    'te',
    'dur',
    'time',
    'time_start',
    'time_end',
    'acc_pat',
    'io_cat',
]);

/** The address of one event's answer. */
export function eventPath(trace, id) {
    return `traces/${trace.id}/events/${encodeURIComponent(id)}`;
}

/** @param {Object} event  the answer of events/{id} */
export function eventPanel(event) {
    const rest = Object.entries(event.columns).filter(([name, found]) => !REPEATED.has(name) && found !== null);
    const figure = (name, found) =>
        name === 'size'
            ? value(found, 'B')
            : h('span', { class: 'name' }, typeof found === 'object' ? JSON.stringify(found) : String(found));
    const { columns, previous, next, parents, children, beside } = event;
    return h(
        'div',
        { class: 'tl-event' },
        h(
            'div',
            { class: 'card-head' },
            h('h3', { class: 'name' }, event.name ?? '(no name)'),
            h('span', { class: 'quiet' }, [event.layer, event.category].filter(Boolean).join(' \u00b7 ')),
            h(
                'div',
                { class: 'card-tools' },
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'button small',
                        onclick: () => copyText(JSON.stringify(event, null, 2), 'as JSON'),
                    },
                    'Copy as JSON',
                ),
            ),
        ),
        h(
            'div',
            { class: 'pair narrow' },
            facts('What and where', [
                ['Duration', value(event.dur, 's')],
                ['Self time', value(event.self, 's')],
                ['From', at(event.start)],
                ['To', at(event.end)],
                [
                    'Thread',
                    h(
                        'span',
                        { class: 'name' },
                        [columns.host_name, columns.pid, columns.tid]
                            .filter((one) => one !== undefined && one !== null)
                            .join(' '),
                    ),
                ],
                ...rest
                    .filter(([name]) => !name.startsWith('args.'))
                    .map(
                        ([name, found]) => /** @type {[string, any]} */ ([LABELS[name] ?? name, figure(name, found)]),
                    ),
            ]),
            facts(
                'Arguments',
                rest
                    .filter(([name]) => name.startsWith('args.'))
                    .map(([name, found]) => [name.slice(5), figure(name, found)]),
            ),
        ),
        h(
            'div',
            { class: 'tl-lists' },
            list(
                'Call stack',
                'the innermost first',
                parents,
                'Nothing encloses it: it is the outermost call of its thread.',
            ),
            neighbours(previous, next),
            list(
                'Calls inside',
                children.count > children.data.length
                    ? `the first ${children.data.length} of ${children.count}`
                    : children.count > 0
                      ? `${text(children.time, 's')} in all`
                      : '',
                children.data,
                'It calls nothing that was traced.',
            ),
            list(
                'Beside it',
                `in other threads of its rank${beside.count > beside.data.length ? `, the first ${beside.data.length} of ${beside.count}` : ''}`,
                beside.data,
                'No other thread of its rank ran anything when it began.',
            ),
        ),
    );
}

function facts(title, rows) {
    return (
        rows.length > 0 &&
        h(
            'section',
            {},
            h('h3', {}, title),
            h(
                'dl',
                { class: 'facts' },
                rows.map(([label, content]) => [h('dt', {}, label), h('dd', {}, content)]),
            ),
        )
    );
}

function neighbours(previous, next) {
    const rows = [previous && { ...previous, when: 'before' }, next && { ...next, when: 'after' }].filter(Boolean);
    return h(
        'section',
        {},
        h('h3', {}, 'Before and after'),
        rows.length === 0
            ? h('p', { class: 'hint' }, 'Nothing else ran in its thread.')
            : h(
                  'div',
                  { class: 'scroll' },
                  table({
                      caption: 'Before and after',
                      rows,
                      columns: [
                          { key: 'when', label: 'When', class: 'head' },
                          nameColumn,
                          {
                              key: 'gap',
                              label: 'Gap',
                              unit: 's',
                              title: 'Time between the two in which none of them ran',
                          },
                          { key: 'dur', label: 'Duration', unit: 's' },
                      ],
                  }),
              ),
    );
}

const nameColumn = {
    key: 'name',
    label: 'Function',
    cell: (event) =>
        h(
            'button',
            {
                type: 'button',
                class: 'row-name name',
                title: 'Go to this event',
                onclick: () => go({ event: event.id, panel: 'event' }),
            },
            event.name ?? '(no name)',
        ),
};

function list(title, note, events, nothing) {
    return h(
        'section',
        {},
        h('h3', {}, title, ' ', note && h('small', {}, note)),
        events.length === 0
            ? h('p', { class: 'hint' }, nothing)
            : h(
                  'div',
                  { class: 'scroll tl-list' },
                  table({
                      caption: title,
                      rows: events,
                      columns: [
                          { ...nameColumn, class: 'head' },
                          { key: 'layer', label: 'Layer' },
                          { key: 'start', label: 'From', class: 'number', cell: ({ start }) => at(start) },
                          { key: 'dur', label: 'Duration', unit: 's' },
                      ],
                  }),
              ),
    );
}
