/* query.js - any query about one trace: groups and sums, or events as they are, as a table and as a chart. */

import { session } from '../api.js';
import { h } from '../dom.js';
import { schemaOf } from '../parts/completion.js';
import { queryCard } from '../parts/query_boxes.js';
import { eventsCard } from '../parts/query_events.js';
import { askedWith, faultOf, queryIn, requestOf, wholeRequest } from '../parts/query_request.js';
import { resultCard } from '../parts/query_result.js';
import { openQueries, rememberQuery, saveQuery } from '../parts/saved_queries.js';
import { addPin } from '../parts/pins.js';
import { tracePage } from '../parts/trace_page.js';
import { here } from '../state.js';

export const title = 'Query';

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, queryPicture, { without: ['semantics', 'granularity'] });
}

function queryPicture(trace, bar) {
    const tools = () => [
        h('button', { class: 'button small', onclick: () => openQueries() }, 'Open'),
        editor && [
            h(
                'button',
                { class: 'button small', onclick: () => saveQuery(() => wholeRequest(here(), trace)) },
                'Save',
            ),
            h(
                'button',
                {
                    class: 'button small',
                    title: 'Shows this result on the Overview of this trace or of all',
                    onclick: () => addPin(trace, () => wholeRequest(here(), trace), here().show ?? null),
                },
                'Add to Overview',
            ),
        ],
    ];
    const card = queryCard({ trace, here, tools }),
        result = resultCard(),
        events = eventsCard();
    /** @type {import('../parts/completion.js').Known[]} */
    let schema = [];
    let closed = false,
        shownGranularity = 0,
        editor = false;
    session().then(
        ({ role }) => {
            editor = role !== 'viewer';
            if (editor && !closed && shownGranularity > 0) card.update(here(), shownGranularity);
        },
        () => {},
    );

    function update(place, granularity) {
        shownGranularity = granularity;
        const query = queryIn(place);
        card.update(place, granularity);
        card.clear();
        bar.clear();
        result.element.hidden = query.ask === 'events';
        events.element.hidden = query.ask !== 'events';
        const around = {
            trace,
            place,
            query,
            fail: (problem) => fail(problem, query),
            done: () => rememberQuery(place),
        };
        if (query.ask !== 'events') {
            result.update({
                ...around,
                path: `traces/${trace.id}/query`,
                parameters: () => ({
                    ...askedWith(place, trace),
                    q: query.ask === 'json' ? query.q : JSON.stringify(requestOf(query)),
                }),
            });
            return;
        }
        events.update({ ...around, parameters: askedWith(place, trace), schema });
        if (schema.length === 0) readSchema(granularity);
    }

    /** Events need not wait for what other columns there are. */
    async function readSchema(granularity) {
        schema = await schemaOf(trace);
        if (!closed && schema.length > 0) update(here(), granularity);
    }

    /** @returns {boolean} whether a box shows what is wrong */
    function fail(problem, query) {
        const fault = faultOf(problem, query);
        if (fault.box !== 'filter') return card.mark(fault);
        bar.mark(fault);
        return true;
    }

    return {
        boxes: [card.element, result.element, events.element],
        update,
        close() {
            closed = true;
            card.close();
            result.close();
            events.close();
        },
    };
}
