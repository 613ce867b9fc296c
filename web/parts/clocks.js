/* clocks.js - the clocks of a computation's hosts: each counts from a moment of its own, and nothing but the order of
 * tasks says how they differ. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped } from '../format.js';
import { latestRequest } from './latest_request.js';
import { recordsOf } from './table.js';
import { pageLink } from '../state.js';

/**
 * @param {Object[]} hosts  rows of the table `clocks`
 * @returns {string|null} which of them contradict the order of tasks
 */
export function contradiction(hosts) {
    const wrong = hosts.filter((host) => host.contradicting_edges > 0);
    if (wrong.length === 0) return null;
    return `The clocks of ${wrong.map((host) => host.host).join(', ')} contradict the order of tasks: ${grouped(Math.max(...wrong.map((host) => host.contradicting_edges)))} begin before their inputs ended. `;
}

/** The offsets that would put an end to it, as the parameter `offset`. */
export function estimatedOffsets(hosts) {
    return hosts
        .filter((host) => host.estimated_offset)
        .map((host) => `${host.host}:${host.estimated_offset}`)
        .join(',');
}

/**
 * On the timeline, whose times are as recorded: what that means for lanes of different hosts. Empty for other kinds of
 * traces, and for one host.
 */
export function clocksOfTimeline(trace) {
    const element = h('div', {}),
        asked = latestRequest(element);
    function update(place) {
        if (trace.kind !== 'dasf') return;
        asked.send({
            request: place.offset ?? null,
            what: 'Comparing the clocks of hosts',
            height: 0,
            load: (signal) => getOf(trace, `traces/${trace.id}/dasf/clocks`, { offset: place.offset }, signal),
            show: (answer) => fill(element, words(recordsOf(answer), place)),
            fail: () => fill(element),
        });
    }
    return { element, update, close: asked.close };
}

function words(hosts, { offset }) {
    const wrong = contradiction(hosts);
    if (hosts.length < 2 || (!wrong && !offset)) return null;
    return h(
        'p',
        { class: 'notice warn' },
        h(
            'span',
            {},
            offset
                ? `Every lane is drawn by the clock of its host as recorded, without the offsets that are set (${offset}). ${wrong ?? 'With them no task begins before its inputs ended. '}`
                : `Every lane is drawn by the clock of its host as recorded. ${wrong}`,
        ),
        h('a', { href: pageLink('tasks', { offset }) }, 'Offsets of the clocks'),
    );
}
