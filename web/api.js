/* api.js - the only file that talks to the server.
 *
 * Every response comes through call(), which turns a problem document into a Problem, notes when the server cannot be
 * reached or wants a sign-in, and says so through `connection`.  A heartbeat finds out when the server is back. */

const BASE = '/api/v1';
const HEARTBEAT_MS = 4000;

/** What the server said was wrong (RFC 9457), or that it could not be reached (status 0). */
export class Problem extends Error {
    /** @param {{status: number, title?: string, detail?: string, parameter?: string, position?: number}} document */
    constructor(document) {
        super(document.detail || document.title || `The server answered ${document.status}.`);
        this.status = document.status;
        this.title = document.title;
        this.parameter = document.parameter?.replace(/^\//, '');
        this.position = document.position;
    }
}

/** Fires `lost` and `back` as the server goes and comes, `signin` when it asks who is there. */
export const connection = new EventTarget();
let lost = false;

function notify(name) {
    connection.dispatchEvent(new Event(name));
}

function reached() {
    if (!lost) return;
    lost = false;
    notify('back');
}

function unreachable() {
    if (lost) return;
    lost = true;
    notify('lost');
}

/**
 * The address of a call, as it can be copied.
 * @param {string} path  below /api/v1, such as "traces/ID/summary"
 * @param {Object<string, string|number|string[]|null|undefined>} [parameters]  a list is given once for each of its
 *   items
 */
export function url(path, parameters = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        for (const one of [value].flat())
            if (one !== null && one !== undefined && one !== '') query.append(name, String(one));
    }
    return `${location.origin}${BASE}/${path}${query.size ? '?' + query : ''}`;
}

async function problemOf(response) {
    const document = await response.json().catch(() => ({}));
    return new Problem({ title: response.statusText, ...document, status: response.status });
}

let calling = 0; /* calls under way */

async function call(address, options) {
    let response;
    calling++;
    try {
        response = await fetch(address, { credentials: 'same-origin', ...options });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        unreachable();
        throw new Problem({ status: 0, detail: 'The server cannot be reached.' });
    } finally {
        calling--;
    }
    reached();
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status === 401) notify('signin');
    throw problem;
}

const SETTLED_MS = 120;

/**
 * Waits until no call is under way, and those that follow from a response have been made.
 * @param {AbortSignal} signal  ends it early
 */
export async function settled(signal) {
    let quiet = performance.now();
    while (!signal.aborted && performance.now() - quiet < SETTLED_MS) {
        await new Promise((resolve) => setTimeout(resolve, SETTLED_MS / 4));
        if (calling > 0) quiet = performance.now();
    }
}

/**
 * @param {string} path
 * @param {Object<string, string|number|null|undefined>} [parameters]
 * @param {AbortSignal} [signal]
 */
export async function get(path, parameters, signal) {
    return (await call(url(path, parameters), { signal })).json();
}

const KEPT_CELLS = 1e6;
const kept = new Map();

/**
 * An answer about one version of a trace, by the same presets and build of the server (`answers` names all three):
 * asked again, it is here; the latest are kept.
 * @param {{answers: string}} trace
 * @param {string} path  below /api/v1
 * @param {Object<string, string|number|null|undefined>} [parameters]
 * @param {AbortSignal} [signal]
 */
export function getOf(trace, path, parameters, signal) {
    return keptOr(`${trace.answers} ${url(path, parameters)}`, () => get(path, parameters, signal));
}

/**
 * The same of a request that is sent as JSON.
 * @param {{answers: string}} trace
 * @param {string} path
 * @param {Object} request
 * @param {AbortSignal} [signal]
 */
export function postOf(trace, path, request, signal) {
    return keptOr(`${trace.answers} ${path} ${JSON.stringify(request)}`, () => send('POST', path, request, signal));
}

async function keptOr(key, load) {
    const answer = kept.get(key) ?? (await load());
    kept.delete(key);
    kept.set(key, answer);
    let cells = 0;
    for (const [older, { data, columns }] of [...kept].reverse()) {
        cells += 1000 + (data?.length ?? 0) * (columns?.length ?? 0);
        if (cells > KEPT_CELLS) kept.delete(older);
    }
    return answer;
}

/** A response as it comes. */
export async function getForText(path, parameters) {
    return (await call(url(path, parameters), {})).text();
}

/**
 * @param {'POST'|'PUT'|'PATCH'|'DELETE'} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 */
export async function send(method, path, body, signal) {
    const options = { method, signal };
    if (body !== undefined)
        Object.assign(options, { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    const response = await call(url(path), options);
    const text = await response.text();
    return text ? JSON.parse(text) : null;
}

/** The response to a POST as it comes, such as CSV. */
export async function sendForText(path, parameters, body) {
    return (
        await call(url(path, parameters), {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
        })
    ).text();
}

let asked = null,
    tokenNeeded = false;

/** Whether calls from outside of this page need a token, as far as is known. */
export function needsToken() {
    return tokenNeeded;
}

/**
 * Who is signed in; asked once until that changes.
 * @returns {Promise<{sign_in_needed: boolean, name: string|null, role: 'viewer'|'editor'|'admin'|null}>}
 */
export function session() {
    asked ??= get('session').then(
        (answer) => {
            tokenNeeded = answer.sign_in_needed;
            return answer;
        },
        (problem) => {
            asked = null;
            throw problem;
        },
    );
    return asked;
}

/** Trades a token for a session cookie. */
export async function signIn(token) {
    const answer = await send('POST', 'session', { token });
    asked = null;
    return answer;
}

export async function signOut() {
    await send('DELETE', 'session');
    asked = null;
}

/**
 * Watches a job until it ends.
 * @param {string} id
 * @param {(job: Object) => void} onChange  called with every state, the last one included
 * @returns {() => void} stops watching
 */
export function watchJob(id, onChange) {
    const source = new EventSource(url(`jobs/${id}/events`));
    const receive = (event) => {
        const job = JSON.parse(event.data);
        if (ended(job)) source.close();
        onChange(job);
    };
    source.addEventListener('progress', receive);
    source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) beat();
    };
    return () => source.close();
}

/** Whether a job is over. */
export function ended(job) {
    return ['done', 'failed', 'cancelled'].includes(job.state);
}

async function beat() {
    try {
        await fetch('/healthz', { cache: 'no-store' });
        reached();
    } catch {
        unreachable();
    }
}

setInterval(() => {
    if (!document.hidden || lost) beat();
}, HEARTBEAT_MS);
document.addEventListener('visibilitychange', () => {
    if (!document.hidden) beat();
});
