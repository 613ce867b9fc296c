/* state.js - what is shown, held by the URL alone: reload, back, and a link that was sent show the same picture.
 *
 * A place is a plain object of texts: `page`, `trace`, and whatever a page adds (preset, from, to, metric, sort,
 * ..). */

/** @typedef {Object<string, string>} Place */

const listeners = new Set();

/** @returns {Place} */
export function here() {
    return Object.fromEntries(new URLSearchParams(location.search));
}

/**
 * The address of a place like @base with @change applied; null or '' takes a key away.
 * @param {Object<string, string|number|null|undefined>} change
 * @param {Place} [base]
 */
export function link(change, base = here()) {
    const place = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...base, ...change })) {
        if (value !== null && value !== undefined && value !== '') place.set(key, String(value));
    }
    return '?' + place;
}

/* What a place keeps when another page of the same trace is opened. */
const SHARED = ['trace', 'preset', 'filters', 'filter', 'from', 'to', 'granularity', 'semantics', 'layer', 'offset'];

/** The address of another page about the same trace, range and filter. */
export function pageLink(page, change = {}, place = here()) {
    const shared = SHARED.filter((key) => place[key] !== undefined).map((key) => [key, place[key]]);
    return link({ page, ...Object.fromEntries(shared), ...change }, {});
}

/** Goes there.  `replace` leaves no step for the back button: for typing and for dragging. */
export function go(change, { base = here(), replace = false } = {}) {
    visit(link(change, base), replace);
}

/** Goes to an address made by link(). */
export function visit(address, replace = false) {
    if (write(address, replace)) notify();
}

/** Puts into the address what is shown already: nothing is drawn anew. */
export function note(change) {
    write(link(change), true);
}

function write(address, replace) {
    if (address === location.search) return false;
    history[replace ? 'replaceState' : 'pushState'](null, '', address === '?' ? location.pathname : address);
    return true;
}

const kinds = new Map();

/** The kind of a trace, once its page has seen it. */
export function kindOf(trace) {
    return kinds.get(trace);
}

export function noteKind(trace, kind) {
    if (kinds.get(trace) === kind) return;
    kinds.set(trace, kind);
    notify();
}

/** @param {(place: Place) => void} listener */
export function onChange(listener) {
    listeners.add(listener);
}

function notify() {
    for (const listener of listeners) listener(here());
}

window.addEventListener('popstate', notify);
