/* query_request.js - the query that a place holds, as the API is asked it, and the place of a request that was
 * saved.
 *
 * Stages act one after the other: groups, then what is kept of them, then the first rows in an order. */

import { Problem } from '../api.js';
import { parametersOf } from './control_bar.js';
import { lineOf, listed, nameOf, written } from './query_text.js';

/** What is asked until somebody asks something. */
export const USUAL = {
    group: 'func_name',
    agg: 'time = sum(time), calls = count(), mean = mean(time), longest = max(time), bytes = sum(size)',
    order: '-time',
};

/** The members of the place that are the query. */
export const MEMBERS = ['ask', 'derive', 'group', 'agg', 'having', 'order', 'limit', 'dropna', 'q', 'columns'];

/**
 * @typedef {{ask: 'groups'|'events'|'json', derive: string, group: string, agg: string, having: string, order: string,
 * limit: string, dropna: string, q: string, columns: string}} Query
 */

/** @returns {Query} */
export function queryIn(place) {
    const given = MEMBERS.some((key) => place[key] !== undefined) ? place : { ...place, ...USUAL };
    const ask = ['events', 'json'].includes(given.ask) ? given.ask : 'groups';
    return /** @type {any} */ ({ ask, ...Object.fromEntries(MEMBERS.slice(1).map((key) => [key, given[key] ?? ''])) });
}

/**
 * The request's own members; those of the control bar stand beside it.
 * @param {Query} query
 */
export function requestOf(query) {
    const derive = named(query.derive, 'derive', true);
    const order = listed(query.order).map(({ expression }) => expression);
    if (query.ask === 'events') {
        const columns = listed(query.columns).map(({ expression }) => expression);
        return { ...derive, ...(columns.length > 0 && { columns }), ...(order.length > 0 && { order_by: order }) };
    }
    const group = listed(query.group).map(({ name, expression }) =>
        name === null ? expression : { [name]: expression },
    );
    /** @type {Object<string, any>[]} */
    const stages = [
        {
            ...derive,
            ...(group.length > 0 && { group_by: group, ...(query.dropna === 'false' && { dropna: false }) }),
            ...named(query.agg, 'aggregate', false),
        },
    ];
    if (query.having) stages.push({ filter: query.having });
    const last = stages[stages.length - 1];
    if (order.length > 0) last.order_by = order;
    if (query.limit) {
        last.limit = Number(query.limit);
        stages.push({});
    }
    return stages.reduceRight((then, stage) => ({ ...stage, then }));
}

/**
 * The sums of those aggregates over all groups.
 * @param {Query} query
 * @param {string[]} names
 */
export function totalsOf(query, names) {
    const whole = requestOf({ ...query, order: '' });
    let last = whole;
    while (last.then) last = last.then;
    last.then = { aggregate: Object.fromEntries(names.map((name) => [name, `sum(${written(name)})`])) };
    return whole;
}

/** Items by name; two of one name would be one. */
function named(words, member, strict) {
    const items = listed(words);
    for (const [index, item] of items.entries()) {
        const detail =
            strict && item.name === null
                ? 'expected a name and = before the expression'
                : items.slice(0, index).some((other) => nameOf(other) === nameOf(item))
                  ? `there are two of the name '${nameOf(item)}'`
                  : null;
        if (detail) throw new Problem({ status: 400, detail, parameter: `/${member}/#${index}` });
    }
    return items.length > 0 && { [member]: Object.fromEntries(items.map((item) => [nameOf(item), item.expression])) };
}

/**
 * The parameters of the call.
 * @param {Object} place
 * @param {Object} trace
 */
export function askedWith(place, trace) {
    const { preset, filters, filter, from, to } = parametersOf({ ...place, semantics: 'exact' });
    return { preset: preset ?? trace.preset?.name, filters, filter, from, to };
}

/** The whole request as one object, as it is saved. */
export function wholeRequest(place, trace) {
    const query = queryIn(place);
    const around = Object.entries(askedWith(place, trace))
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, key === 'from' || key === 'to' ? Number(value) : value]);
    return {
        ...Object.fromEntries(around),
        ...(query.ask === 'json' ? JSON.parse(query.q) : requestOf(query)),
    };
}

/**
 * What a place must change to ask a saved request: in the boxes if they can hold it, else as JSON.
 * @param {string} text
 */
export function placeOf(text) {
    const none = Object.fromEntries([...MEMBERS, 'filter', 'from', 'to'].map((key) => [key, null]));
    const request = parsed(text);
    if (!request) return { ...none, ask: 'json', q: text };
    const { preset, filters, filter, from, to, ...own } = request;
    const around = { preset: preset ?? null, filters: filters ?? null, filter, from, to };
    const boxes = inBoxes(own);
    return { ...none, ...around, ...(boxes ?? { ask: 'json', q: JSON.stringify(own, null, 2) }) };
}

function parsed(text) {
    try {
        const request = JSON.parse(text);
        return request !== null && typeof request === 'object' && !Array.isArray(request) ? request : null;
    } catch {
        return null;
    }
}

function inBoxes(own) {
    try {
        const boxes = own.columns || (!own.group_by && !own.aggregate) ? eventBoxes(own) : groupBoxes(own);
        return JSON.stringify(requestOf(queryIn(boxes))) === JSON.stringify(own) ? boxes : null;
    } catch {
        return null; /* members of other shapes */
    }
}

function eventBoxes({ derive = {}, columns = [], order_by: order = [] }) {
    return {
        ask: 'events',
        derive: lineOf(Object.entries(derive)),
        columns: columns.join(', '),
        order: order.join(', '),
    };
}

function groupBoxes({ derive = {}, group_by: group = [], aggregate = {}, ...first }) {
    const keep = first.then?.filter ? first.then : null,
        last = keep ?? first;
    const keys = group.flatMap((key) =>
        typeof key === 'string' ? [/** @type {[string, string]} */ ([key, key])] : Object.entries(key),
    );
    return {
        derive: lineOf(Object.entries(derive)),
        group: lineOf(keys),
        dropna: first.dropna === false ? 'false' : '',
        agg: lineOf(Object.entries(aggregate)),
        having: keep?.filter ?? '',
        order: (last.order_by ?? []).join(', '),
        limit: last.limit ? String(last.limit) : '',
    };
}

const BOX_OF = {
    derive: 'derive',
    group_by: 'group',
    aggregate: 'agg',
    order_by: 'order',
    sort: 'order',
    limit: 'limit',
    columns: 'columns',
};

/**
 * Which box a problem is in, and where.
 * @param {Problem} problem
 * @param {Query} query
 * @returns {{box: string, message: string, position?: number}}  box: a member of the query, or "filter"
 */
export function faultOf(problem, query) {
    const { message, position, parameter = '' } = problem;
    if (query.ask === 'json' && parameter !== 'filter')
        return {
            box: 'q',
            message:
                parameter && parameter !== 'q'
                    ? `${parameter}${position === undefined ? '' : `, character ${position + 1}`}: ${message}`
                    : message,
        };
    const [member, ...rest] = parameter
        .replace(/^(then\/)+/, (thens) => (parameter === 'then/filter' ? thens : ''))
        .split('/');
    if (parameter === 'then/filter') return { box: 'having', message, position };
    const box = BOX_OF[member] ?? parameter;
    if (box === 'filter') return { box, message, position };
    if (!(box in query) || box === 'limit') return { box, message };
    const key = rest.join('/').replaceAll('~1', '/').replaceAll('~0', '~');
    const items = listed(query[box]);
    const item = items.find((one) => nameOf(one) === key) ?? items[Number(/^#?(\d+)/.exec(key)?.[1])];
    return { box, message, position: item && item.start + (position ?? 0) };
}
