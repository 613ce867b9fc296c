/* help.js - which keys do what, and where things are. */

import { h } from '../dom.js';
import { openDialog } from './dialog.js';
import { whereIs } from './where_is.js';

const TIMELINE = [
    ['w s', 'Zoom in and out at the pointer, as Ctrl and the wheel'],
    ['a d', 'Move, as dragging, or Shift and the wheel'],
    ['f 0', 'Fit the event or the selection; the whole job'],
    ['\u2190 \u2192 \u2191 \u2193', 'The event before, after, around, inside'],
    ['/ n N', 'Find; the next one; the one before'],
    ['m', 'Select the time of the event'],
    ['p h e', 'Pin, hide, unfold the lane under the pointer'],
    ['c', 'Colour by something else'],
    ['Esc', 'No event; no selection; nothing found'],
];

/** @param {{key: string, label: string}[]} pages */
export function openHelp(pages) {
    const keys = [
        ['/', 'Go to the filter'],
        ...pages.map((page) => [`g ${page.key}`, page.label]),
        [
            '\u2191 \u2193',
            'Walk through a table or the completions of the filter; in an empty filter: what was typed before',
        ],
        ['Enter', 'Open the row; take the completion; apply the filter'],
        ['Esc', 'Show the whole job again'],
        ['?', 'This help'],
    ];
    const dialog = openDialog({
        title: 'Help',
        wide: true,
        body: [
            h('h3', {}, 'Keys'),
            h(
                'dl',
                { class: 'keys' },
                keys.map(([key, words]) => [
                    h(
                        'dt',
                        {},
                        key.split(' ').map((one) => h('kbd', {}, one)),
                    ),
                    h('dd', {}, words),
                ]),
            ),
            h('h3', {}, 'On the timeline'),
            h(
                'dl',
                { class: 'keys' },
                TIMELINE.map(([key, words]) => [
                    h(
                        'dt',
                        {},
                        key.split(' ').map((one) => h('kbd', {}, one)),
                    ),
                    h('dd', {}, words),
                ]),
            ),
            h('h3', {}, 'Tables and plots that you know'),
            whereIs(() => dialog.close()),
            h(
                'p',
                { class: 'hint' },
                'Hover a number to see all its digits, a column head to see what it means. Drag over a chart to choose a time range. Whatever you see is in the address bar: send it to a colleague.',
            ),
            h(
                'p',
                { class: 'hint' },
                'The API behind every number: ',
                h('a', { href: '/api/v1/openapi.json' }, 'OpenAPI document'),
            ),
        ],
    });
}
