/* timeline_links.js - from anywhere to the timeline: the address of a part of it. */

import { pageLink } from '../state.js';

const KINDS = { host: 'h', rank_group: 'r', process: 'p', thread: 't' };

/** A text as a lane's id has it. */
function encoded(words) {
    return words === null || words === undefined
        ? '~'
        : encodeURIComponent(words).replace(
              /[!'()*~]/g,
              (sign) => '%' + sign.charCodeAt(0).toString(16).toUpperCase(),
          );
}

/**
 * The lane of a row that has host_name, pid and tid as far as its scope goes.
 * @param {string} scope  of api calls: job, host, rank_group, process, thread
 * @param {{host_name?: string|null, pid?: number|null, tid?: number|null}} row
 */
export function laneOf(scope, { host_name: host, pid, tid }) {
    if (!KINDS[scope]) return 'job';
    const parts = { host: [host], rank_group: [host, pid], process: [host, pid], thread: [host, pid, tid] }[scope];
    return [KINDS[scope], ...parts.map((one) => (typeof one === 'number' ? one : encoded(one)))].join(':');
}

/**
 * @param {{from: number, to: number, lane?: string, filter?: string|null}} part  seconds
 */
export function timelineLink({ from, to, lane, ...rest }) {
    const round = (seconds) => Number(seconds.toFixed(9));
    return pageLink('timeline', { from: round(from), to: round(to), lanes: lane, layer: null, ...rest });
}

/** The event that satisfies a condition, whatever the page is filtered by. */
export function eventOnTimeline(condition) {
    return pageLink('timeline', { event: condition, panel: 'event', filter: null, from: null, to: null, layer: null });
}
