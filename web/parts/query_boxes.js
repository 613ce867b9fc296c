/* query_boxes.js - where a query is written: a box for each of its members, or the request as JSON. */

import { h, refill } from '../dom.js';
import { go } from '../state.js';
import { expressionBox } from './expression_box.js';
import { examples as examplesOf } from './query_examples.js';
import { MEMBERS, queryIn, requestOf } from './query_request.js';
import { listed, nameOf } from './query_text.js';
import { segmented } from './segmented.js';

/**
 * @type {{key: string, label: string, placeholder: string, asks: string[], aggregates?: boolean, results?: boolean}[]}
 */
const BOXES = [
    {
        key: 'derive',
        label: 'Computed columns',
        placeholder: 'directory = dirname(file_name), mib = size / 1048576',
        asks: ['groups', 'events'],
    },
    { key: 'group', label: 'Group by', placeholder: 'func_name, second = bin(time_start, 1)', asks: ['groups'] },
    {
        key: 'agg',
        label: 'Aggregates',
        placeholder: 'time = sum(time), calls = count(), p95 = quantile(time, 0.95)',
        asks: ['groups'],
        aggregates: true,
    },
    { key: 'having', label: 'Having', placeholder: 'calls > 10', asks: ['groups'], results: true },
    { key: 'order', label: 'Order by', placeholder: '-time, calls', asks: ['groups', 'events'], results: true },
    { key: 'limit', label: 'First rows', placeholder: 'all', asks: ['groups'] },
];

const ASKS = [
    ['groups', 'Groups', 'Group events and sum them up'],
    ['events', 'Events', 'Events as they are, with all their arguments'],
    ['json', 'JSON', 'The request as the API takes it: stages, histograms, descriptions'],
];

/** Everything of the place that is the query or how its response is shown, taken away. */
export const NOTHING = Object.fromEntries([...MEMBERS, 'show', 'y', 'hide'].map((key) => [key, null]));

/**
 * @param {{trace: Object, here: () => Object, tools: () => any}} options
 */
export function queryCard({ trace, here, tools }) {
    let query = queryIn({}),
        about = {};
    const asked = () => ({ id: trace.id, answers: trace.answers, seenWith: about.preset ?? trace.preset?.name });
    const written = BOXES.map((box) => {
        const field = boxOf(box);
        return {
            ...box,
            field,
            line: h(
                'div',
                { class: `query-line ${box.key}` },
                h('span', { class: 'query-label', 'aria-hidden': 'true' }, box.label),
                field.element,
            ),
        };
    });
    /** @type {Map<string, Pick<import('./expression_box.js').ExpressionBox, 'element'|'update'|'mark'|'clear'>>} */
    const boxes = new Map(written.map(({ key, field }) => [key, field]));
    const json = jsonBox((words) => go({ q: words }));
    boxes.set('q', json);
    const head = h('div', { class: 'card-tools' }),
        examples = h('div', { class: 'examples', role: 'group', 'aria-label': 'Examples' });
    const fields = h(
        'div',
        { class: 'query' },
        written.map(({ line }) => line),
        json.element,
    );
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Query' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Query'), head),
        examples,
        fields,
    );

    /** @param {typeof BOXES[0]} box */
    function boxOf({ key, label, placeholder, aggregates, results }) {
        return expressionBox({
            id: `query-${key}`,
            label,
            placeholder,
            history: `query ${key}`,
            aggregates: aggregates ?? false,
            trace: asked,
            names: () => [...(results ? resultNames(query) : []), ...listed(query.derive).map(nameOf)],
            onApply: (words) => apply(key, words),
        });
    }

    /** One box changed; an order by what is no longer there goes with it. */
    function apply(key, words) {
        const next = { ...queryIn(here()), [key]: words };
        if ((key === 'agg' || key === 'group') && next.order) {
            const there = resultNames(next);
            next.order = listed(next.order)
                .filter(({ expression }) => there.includes(expression.replace(/^-/, '')))
                .map(({ expression }) => expression)
                .join(', ');
        }
        go({ ...next, ask: next.ask === 'groups' ? null : next.ask, y: null });
    }

    /**
     * @param {Object} place
     * @param {number} granularity
     */
    function update(place, granularity) {
        about = place;
        query = queryIn(place);
        refill(
            head,
            query.ask === 'groups' && missingKeys(),
            segmented('Ask for', /** @type {any} */ (ASKS), query.ask, change),
            tools(),
        );
        refill(
            examples,
            examplesOf(granularity).map((one) =>
                h(
                    'button',
                    { type: 'button', class: 'example', onclick: () => go({ ...NOTHING, ...one.place }) },
                    one.name,
                ),
            ),
        );
        for (const { key, asks, line, field } of written) {
            line.hidden = !asks.includes(query.ask);
            field.update(query[key]);
        }
        json.element.hidden = query.ask !== 'json';
        json.update(query.q);
    }

    /** Groups of events that lack a key are shown where this is checked. */
    function missingKeys() {
        return h(
            'label',
            { title: 'Also the groups of events without a file, a host or another key' },
            h('input', {
                type: 'checkbox',
                checked: query.dropna === 'false',
                onchange: (event) => apply('dropna', event.target.checked ? 'false' : ''),
            }),
            ' Missing keys',
        );
    }

    return {
        element,
        update,
        clear() {
            for (const box of boxes.values()) box.clear();
        },
        close() {
            for (const { field } of written) field.close();
        },
        /**
         * @param {ReturnType<typeof import('./query_request.js').faultOf>} fault
         * @returns {boolean} whether there is such a box
         */
        mark({ box, message, position }) {
            boxes.get(box)?.mark({ message, position });
            return boxes.has(box);
        },
    };

    /** Another way to ask; JSON begins with what the boxes hold. */
    function change(ask) {
        if (ask === 'json') go({ ...NOTHING, ask, q: JSON.stringify(requestOf(query), null, 2) });
        else go({ ...NOTHING, ask: ask === 'groups' ? null : ask, derive: query.derive });
    }
}

/** The columns that groups have. */
function resultNames({ group, agg }) {
    return [...listed(group), ...listed(agg)].map(nameOf);
}

/** @returns {Pick<import('./expression_box.js').ExpressionBox, 'element'|'update'|'mark'|'clear'>} */
function jsonBox(onApply) {
    let applied = '';
    const apply = () => {
        if (area.value.trim() !== applied) onApply(area.value.trim());
    };
    const complaint = h('p', { class: 'filter-problem', role: 'alert', id: 'query-json-problem' });
    const area = h('textarea', {
        id: 'query-json',
        class: 'expression',
        rows: 10,
        spellcheck: 'false',
        autocomplete: 'off',
        'aria-label': 'Request as JSON',
        'aria-describedby': complaint.id,
        onblur: apply,
        onkeydown: (event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                apply();
            }
        },
    });
    const element = h(
        'div',
        { class: 'query-json' },
        area,
        complaint,
        h(
            'p',
            { class: 'hint' },
            'Ctrl+Enter asks. Members: derive, group_by, aggregate, describe, value_counts, histogram, columns, order_by, limit, then.',
        ),
    );
    return {
        element,
        update(words) {
            if (document.activeElement === area && words === applied) return;
            applied = words;
            area.value = words;
        },
        mark({ message }) {
            area.setAttribute('aria-invalid', 'true');
            complaint.textContent = message;
        },
        clear() {
            area.removeAttribute('aria-invalid');
            complaint.textContent = '';
        },
    };
}
