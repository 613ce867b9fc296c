/* pins.js - results and charts of queries that were added to Overview, for one trace or for all: saved queries whose
 * names begin with a mark. */

import { get, getOf, send, session } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { grouped } from '../format.js';
import { pageLink } from '../state.js';
import { parametersOf } from './control_bar.js';
import { asked } from './dialog.js';
import { attempt, failure, loading, toast } from './notice.js';
import { chartOf, drawable } from './query_chart.js';
import { columnsOf } from './query_columns.js';
import { placeOf, queryIn } from './query_request.js';
import { plot } from './plot.js';
import { recordsOf, scrolling, table } from './table.js';

const MARK = 'overview: ',
    MOST = 5;

/** Whether a saved query is one of these. */
export function isPin({ name }) {
    return name.startsWith(MARK);
}

/**
 * Asks for a name and whether it is for all traces, and keeps the query.
 * @param {any} trace
 * @param {() => Object} request
 * @param {string|null} show  chart, or null for a table
 */
export async function addPin(trace, request, show) {
    const values = await asked({
        title: 'Add to Overview',
        action: 'Add',
        fields: [
            { name: 'name', label: 'Title', value: '', required: true, hint: 'One that is there already is replaced' },
            { name: 'all', label: 'Traces', value: trace.name, hint: `${trace.name}, or * for all traces` },
        ],
    });
    const name = values?.name.trim();
    if (!values || !name) return;
    const of = values.all.trim() === '*' ? null : trace.id;
    await attempt(async () => {
        const body = { text: JSON.stringify({ of, show, request: request() }) };
        await send('PUT', `queries/${encodeURIComponent(MARK + name)}`, body);
        toast(`${name} is on Overview`);
    });
}

/** The cards of a trace's Overview. */
export function pinCards(trace) {
    const element = h('div', { class: 'pair' });
    const works = [];
    let shown = '';

    /** @param {Object} place */
    async function update(place) {
        const key = JSON.stringify(parametersOf(place));
        if (key === shown) return;
        shown = key;
        stop();
        const [{ queries }, { role }] = await Promise.all([get('queries'), session()]).catch(() => [
            { queries: [] },
            { role: 'viewer' },
        ]);
        if (shown !== key) return;
        const pins = queries.filter(isPin).map(pinOf);
        const here = pins.filter((pin) => pin !== null && (pin.of === null || pin.of === trace.id));
        fill(
            element,
            here.map((pin) => cardOf(pin, place, role !== 'viewer')),
        );
    }

    function cardOf({ name, request, show }, place, editor) {
        const box = h('div', {}),
            { from, to } = parametersOf(place);
        const change = placeOf(JSON.stringify(request));
        const remove = async () => {
            await attempt(() => send('DELETE', `queries/${encodeURIComponent(MARK + name)}`));
            shown = '';
            update(place);
        };
        const { preset, filters, filter, from: _, to: __, ...q } = request;
        const parameters = { preset, filters, filter, from, to, q: JSON.stringify(q) };
        const path = `traces/${trace.id}/query`;
        const draw = (answer) => drawPin(box, answer, queryIn(change), show);
        works.push(
            loading(box, {
                what: `Answering ${name}`,
                path,
                height: 200,
                load: (signal) => getOf(trace, path, { ...parameters, limit: 1000 }, signal),
                show: draw,
                fail: (problem) =>
                    fill(
                        box,
                        failure(problem, () => update(place)),
                    ),
                retry: () => update(place),
            }),
        );
        return h(
            'section',
            { class: 'card', 'aria-label': name },
            h(
                'header',
                { class: 'card-head' },
                h('h2', {}, h('a', { href: pageLink('query', { ...change, show }) }, name)),
                editor &&
                    h(
                        'button',
                        {
                            class: 'button small icon-only',
                            'aria-label': `Take ${name} off Overview`,
                            title: 'Take off Overview',
                            onclick: remove,
                        },
                        icon('close'),
                    ),
            ),
            box,
        );
    }

    function drawPin(box, answer, query, show) {
        const source = { ...answer, units: answer.units ?? {}, rows: answer.data, count: answer.row_count };
        const [measure] = drawable(source, query);
        const chart = show === 'chart' && measure ? chartOf(source, query, measure) : null;
        if (chart?.data) {
            const picture = plot(chart.kind);
            works.push({ abort: () => picture.close() });
            fill(box, picture.element);
            picture.update(chart.data, false);
            return;
        }
        const rows = recordsOf(answer).slice(0, MOST);
        fill(
            box,
            scrolling('Result', table({ caption: 'Result', rows, columns: columnsOf(source, query) }), 'hot'),
            answer.row_count > MOST &&
                h('p', { class: 'hint padded' }, `${MOST} of ${grouped(answer.row_count)} rows`),
        );
    }

    function stop() {
        for (const work of works.splice(0)) work?.abort();
    }

    return {
        element,
        update,
        close() {
            shown = 'closed';
            stop();
        },
    };
}

function pinOf({ name, text }) {
    try {
        const { of, show, request } = JSON.parse(text);
        return request && { name: name.slice(MARK.length), of, show, request };
    } catch {
        return null; /* saved by hand */
    }
}
