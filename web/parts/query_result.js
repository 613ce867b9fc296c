/* query_result.js - the answer to a query as a table of any length and as a chart, and how it was found. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { value } from '../format.js';
import { go, here } from '../state.js';
import { copyMenu } from './copy.js';
import { grid } from './grid.js';
import { legend, toggled } from './legend.js';
import { empty, failure, loading } from './notice.js';
import { paged } from './paged.js';
import { plot } from './plot.js';
import { chartOf, drawable, MOST_ROWS } from './query_chart.js';
import { columnsOf, unitIn } from './query_columns.js';
import { queryIn, totalsOf } from './query_request.js';
import { segmented } from './segmented.js';
import { stepsFold } from './query_steps.js';

/**
 * @typedef {Object} ResultView
 * @property {Object} trace
 * @property {Object} place
 * @property {import('./query_request.js').Query} query
 * @property {string} path
 * @property {() => Object} parameters  of the call; throws what is wrong with the query
 * @property {(problem: any) => boolean} fail  marks the box at fault; false: there is none
 * @property {() => void} done
 */

export function resultCard() {
    const note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        above = h('div', { hidden: true }),
        box = h('div', {}),
        steps = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Result' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Result'), note, tools),
        above,
        box,
        steps,
    );
    const rows = grid();
    let work = null,
        asked = null,
        source = null,
        picture = null,
        closed = false;

    /** @param {ResultView} view */
    function update(view) {
        const request = JSON.stringify([
            view.path,
            view.query,
            view.place.filter,
            view.place.from,
            view.place.to,
            view.place.preset,
            view.place.filters,
            view.place.total,
        ]);
        if (request === asked && source) {
            show(view);
            return;
        }
        asked = request;
        source = null;
        work?.abort();
        work = loading(box, {
            what: 'Running the query',
            path: view.path,
            height: 320,
            load: (signal) => ask(view, signal),
            show: (answer) => {
                source = answer;
                view.done();
                show(view);
            },
            fail: (problem) => {
                fill(tools);
                fill(note);
                fill(steps);
                above.hidden = true;
                if (view.fail(problem))
                    fill(box, h('p', { class: 'notice' }, 'The query cannot be parsed; the mark in it shows where.'));
            },
            retry: () => {
                asked = null;
                update(view);
            },
        });
    }

    async function ask(view, signal) {
        const parameters = view.parameters(),
            names = view.query.ask === 'groups' ? (view.place.total?.split(',') ?? []) : [];
        const [rows, totals] = await Promise.all([
            paged((page) =>
                getOf(
                    view.trace,
                    view.path,
                    { ...parameters, ...page, explain: page.offset ? undefined : 'true' },
                    signal,
                ),
            ),
            names.length > 0
                ? getOf(
                      view.trace,
                      view.path,
                      { ...parameters, q: JSON.stringify(totalsOf(view.query, names)) },
                      signal,
                  )
                : null,
        ]);
        return Object.assign(rows, { totals });
    }

    function show(view) {
        const { query, place } = view;
        const measures = drawable(source, query),
            chart = place.show === 'chart' && measures.length > 0;
        const measure = measures.includes(place.y) ? place.y : measures[0];
        refill(
            tools,
            chart && measureSelect(measures, measure),
            segmented(
                'Show as',
                [
                    ['table', 'Table'],
                    ['chart', 'Chart'],
                ],
                chart ? 'chart' : 'table',
                (key) => go({ show: key === 'chart' ? 'chart' : null }),
                measures.length === 0 ? 'chart' : null,
                'There is no number to draw',
            ),
            copyMenu(
                view.path,
                view.parameters(),
                `${view.trace.name}-query`,
                chart ? [{ text: 'Save as PNG', action: () => savePng(`${view.trace.name}-query`) }] : [],
            ),
        );
        refill(steps, stepsFold(source.answer.explain?.steps ?? [], source.count));
        above.hidden = !chart;
        fill(note);
        if (source.count === 0) {
            above.hidden = true;
            fill(box, empty('No rows', h('p', {}, 'No event passes the filter, or no group what is kept.')));
            return;
        }
        if (chart) draw(view, measure);
        else drawRows(view);
    }

    /** The sums over all groups that the place names, as a link does whose groups are parts of a figure. */
    function totalWords({ query }) {
        const { columns, data, units } = source.totals ?? { columns: [], data: [[]], units: {} };
        return columns.map((name, at) => [
            at > 0 ? ', ' : 'all groups: ',
            `${name} `,
            value(data[0][at], unitIn(name, units, query) ?? 'count'),
        ]);
    }

    function drawRows({ query }) {
        fill(note, totalWords({ query }));
        if (rows.element.parentElement !== box) fill(box, rows.element);
        const sort = query.order.includes(',') ? undefined : query.order || undefined;
        const sortable = query.ask === 'groups';
        rows.update({
            columns: columnsOf(source, query),
            source,
            caption: 'Result',
            sort,
            onSort: sortable ? sortBy : undefined,
        });
    }

    /** Rows may still be those of the query before: what has been typed since stays. */
    function sortBy(order) {
        go({ ...grouped(queryIn(here())), order });
    }

    async function draw(view, measure) {
        const mine = source;
        try {
            await mine.need(0, Math.min(mine.count, MOST_ROWS));
        } catch (problem) {
            if (!closed && mine === source)
                fill(
                    box,
                    failure(problem, () => draw(view, measure)),
                );
            return;
        }
        if (closed || mine !== source) return;
        const {
            kind,
            data,
            note: words,
        } = chartOf({ ...mine, rows: mine.rows.slice(0, MOST_ROWS) }, view.query, measure);
        fill(note, words);
        const series = data?.series?.length > 1 ? data.series.map(({ layer }) => layer) : [];
        const hidden = new Set((view.place.hide ?? '').split('\n')),
            shown = new Set(series.map(({ name }) => name).filter((name) => !hidden.has(name)));
        above.hidden = series.length === 0;
        if (series.length > 0) {
            refill(
                above,
                legend(
                    series,
                    shown,
                    (name, alone) => {
                        const next = toggled(shown, name, alone);
                        go({
                            hide: series
                                .map((one) => one.name)
                                .filter((one) => !next.has(one))
                                .join('\n'),
                        });
                    },
                    'Series',
                ),
            );
            data.series = data.series.filter(({ name }) => shown.has(name));
        }
        if (!data) {
            fill(
                box,
                empty(
                    'Nothing to draw',
                    h(
                        'p',
                        {},
                        words
                            ? 'There are more bins than a chart can show: wider ones, or a shorter time range, fit.'
                            : 'No row has this number.',
                    ),
                ),
            );
            return;
        }
        if (picture?.kind !== kind) {
            picture?.plot.close();
            picture = { kind, plot: plot(kind) };
        }
        if (picture.plot.element.parentElement !== box) fill(box, picture.plot.element);
        picture.plot.update(data, false);
    }

    function savePng(file) {
        const address = picture?.plot.png();
        if (address) h('a', { href: address, download: `${file}.png` }).click();
    }

    return {
        element,
        update,
        close() {
            closed = true;
            work?.abort();
            rows.close();
            picture?.plot.close();
        },
    };
}

/** A query that was not in the place, such as the usual one, must be there once part of it changes. */
function grouped({ derive, group, agg, having, limit, dropna }) {
    return { derive, group, agg, having, limit, dropna };
}

function measureSelect(measures, measure) {
    return [
        h('label', { class: 'visually-hidden', for: 'query-y' }, 'Column to draw'),
        h(
            'select',
            { id: 'query-y', onchange: (event) => go({ y: event.target.value }) },
            measures.map((name) => h('option', { value: name, selected: name === measure }, name)),
        ),
    ];
}
