/* overlap_sets.js - the sets that are set against each other: layers to switch on and off, and sets that a person
 * writes. */

import { fill, h, icon } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { copyMenu } from './copy.js';
import { asked } from './dialog.js';
import { legend, toggled } from './legend.js';
import { swatch } from './layers.js';
import { ownSets, ownText, SCOPES } from './overlap_request.js';
import { bar, scrolling, table } from './table.js';

/** @param {() => Object} place */
export function overlapSets(place) {
    const head = h('div', { class: 'card-tools' }),
        box = h('div', { class: 'stack' });
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Sets of events' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Sets of events'), head),
        box,
    );

    /**
     * @param {{request: import('./overlap_request.js').OverlapRequest, offered: import('./layers.js').Layer[],
     * answer: Object, path: string, file: string}} view
     */
    function update({ request, offered, answer, path, file }) {
        const shown = new Set(request.sets.map(({ name }) => name));
        fill(
            head,
            scopeSelect(request),
            h('button', { type: 'button', class: 'button', onclick: addSet }, icon('plus'), 'Add a set'),
            copyMenu(path, request.parameters, file),
        );
        fill(
            box,
            legend(offered, shown, (name, alone) => chooseLayer(offered, shown, name, alone), 'Layers as sets'),
            scrolling('Sets', setTable(request, answer)),
            answer.warnings.map((words) => h('p', { class: 'notice warn' }, words)),
        );
    }

    function chooseLayer(offered, shown, name, alone) {
        const next = toggled(new Set(offered.map((layer) => layer.name).filter((one) => shown.has(one))), name, alone);
        go({ layers: [...next].join(',') || '-' });
    }

    async function addSet() {
        const values = await asked({
            title: 'Add a set',
            action: 'Add',
            fields: [
                { name: 'name', label: 'Name', value: '', hint: 'A letter, then letters, digits or _' },
                {
                    name: 'expression',
                    label: 'Which events',
                    value: '',
                    hint: 'Such as cat == "posix" and size > 4096',
                },
            ],
        });
        if (!values?.name || !values.expression) return;
        go({
            own: ownText([
                ...ownSets(place()).filter(({ name }) => name !== values.name),
                { name: values.name.trim(), expression: values.expression.trim() },
            ]),
        });
    }

    function setTable({ sets, behind, scope }, answer) {
        const of = (name) => answer.sets.find((set) => set.name === name);
        const longest = Math.max(...answer.sets.map(({ busy }) => busy));
        const rows = sets.map((set) => ({ set, ...of(set.name), ...hiding(answer, set.name, behind.name) }));
        const columns = [
            {
                key: 'name',
                label: 'Set',
                class: 'head',
                cell: ({ set }) =>
                    h(
                        'span',
                        { class: 'set-name' },
                        swatch(set),
                        h('span', { class: 'name', title: set.expression }, set.name),
                        set.own && removeButton(set),
                    ),
            },
            {
                key: 'bar',
                label: '',
                class: 'bar-cell',
                cell: ({ set, busy, hidden }) =>
                    bar(busy / longest, set.color, set === behind ? 0 : hidden, `wall time ${text(busy, 's')}`),
            },
            {
                key: 'busy',
                label: 'Wall time',
                unit: 's',
                title: `Union of the events of each ${scope.one}, added up`,
            },
            { key: 'busy_max', label: `Busiest ${scope.one}`, unit: 's' },
            {
                key: 'hidden',
                label: 'Overlapped',
                unit: 'share',
                title: `Part of the wall time during which ${behind.name} was active in the same ${scope.one}`,
            },
            {
                key: 'exposed',
                label: 'Not overlapped',
                unit: 's',
                title: `Wall time during which ${behind.name} was not active in the same ${scope.one}`,
            },
            { key: 'time', label: 'Call time', unit: 's', title: 'Durations added up' },
            { key: 'events', label: 'Events', unit: 'count' },
        ];
        return table({ columns, rows, caption: 'Sets of events' });
    }

    function removeButton(set) {
        return h(
            'button',
            {
                type: 'button',
                class: 'button small icon-only',
                'aria-label': `Remove ${set.name}`,
                title: 'Remove',
                onclick: () => go({ own: ownText(ownSets(place()).filter(({ name }) => name !== set.name)) }),
            },
            icon('close'),
        );
    }

    return { element, update };
}

function scopeSelect({ scope }) {
    return [
        h('label', { class: 'visually-hidden', for: 'scope' }, 'Where overlap counts'),
        h(
            'select',
            {
                id: 'scope',
                title: 'What is active elsewhere hides nothing here',
                onchange: (event) => go({ scope: event.target.value === SCOPES[0].key ? null : event.target.value }),
            },
            SCOPES.map(({ key, label }) => h('option', { value: key, selected: key === scope.key }, label)),
        ),
    ];
}

/** How much of a set was hidden behind another. */
export function hiding(answer, name, behind) {
    const pair = answer.pairs.find(({ a, b }) => (a === name && b === behind) || (b === name && a === behind));
    if (!pair) return { hidden: null, exposed: null, overlap: null };
    const exposed = pair.a === name ? pair.a_minus_b : pair.b_minus_a,
        busy = pair.overlap + exposed;
    return { overlap: pair.overlap, exposed, hidden: busy > 0 ? pair.overlap / busy : null };
}
