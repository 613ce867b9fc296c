/* narrow.js - the filter as a list of conditions joined by `and`: a click on a process, file or bin adds one or takes
 * it away. */

import { go, here } from '../state.js';

/** A value as the expression language writes it. */
export function literal(value) {
    if (typeof value !== 'string') return String(value);
    const escaped = value
        .replace(/["\\]/g, '\\$&')
        .replace(/[\u0000-\u001f]/g, (sign) => '\\u' + sign.charCodeAt(0).toString(16).padStart(4, '0'));
    return `"${escaped}"`;
}

/** The condition that @expression has this value, or none. */
export function equals(expression, value) {
    return value === null || value === undefined ? `${expression}.isna()` : `${expression} == ${literal(value)}`;
}

/** The condition that events are of one of these processes. */
export function anyOf(processes) {
    const byHost = new Map();
    for (const { host_name: host, pid } of processes) byHost.set(host, [...(byHost.get(host) ?? []), pid]);
    const parts = [...byHost].map(([host, pids]) => `${equals('host_name', host)} and pid in [${pids.join(', ')}]`);
    return parts.length === 1 ? parts[0] : `(${parts.map((part) => `(${part})`).join(' or ')})`;
}

export const TOKEN = /[rR]?"(?:\\.|[^"\\])*"|[rR]?'(?:\\.|[^'\\])*'|`[^`]*`|\w+|\S/g;

/**
 * The conditions of a filter that all must hold; a filter with `or` outside of parentheses is one.
 * @param {string} filter
 */
export function conjuncts(filter) {
    const parts = [];
    let depth = 0,
        start = 0;
    for (const { 0: token, index } of filter.matchAll(TOKEN)) {
        if (token === '(' || token === '[') depth++;
        else if (token === ')' || token === ']') depth--;
        else if (depth === 0 && (token === 'or' || token === '|')) return [`(${filter})`];
        else if (depth === 0 && (token === 'and' || token === '&')) {
            parts.push(filter.slice(start, index).trim());
            start = index + token.length;
        }
    }
    return [...parts, filter.slice(start).trim()].filter(Boolean);
}

/** @param {string} filter  with @conditions added where they are not there yet */
export function narrowed(filter, ...conditions) {
    const parts = conjuncts(filter);
    const fresh = conditions.filter((condition) => !parts.includes(condition));
    return fresh.length === 0 ? filter : [...parts, ...fresh].join(' and ');
}

/** @param {string} filter  without those of its conditions that satisfy @goes */
export function widened(filter, goes) {
    const parts = conjuncts(filter),
        left = parts.filter((part) => !goes(part));
    return left.length === parts.length ? filter : left.join(' and ');
}

/** Filters the page by conditions too, or, where it is by all of them, no longer. */
export function toggle(...conditions) {
    const filter = here().filter ?? '',
        parts = conjuncts(filter);
    const all = conditions.every((condition) => parts.includes(condition));
    go({ filter: all ? widened(filter, (part) => conditions.includes(part)) : narrowed(filter, ...conditions) });
}
