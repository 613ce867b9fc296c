/* working.js - what is said while the server is at work: after a second what it computes, after two how far it is, and
 * a way to stop it.
 *
 * The server makes jobs of requests that take over a second, and counts their steps.  A job tells which trace and
 * which call it is of: where several such are at work, the one that is least far speaks for all. */

import { get } from '../api.js';
import { h, setStyle } from '../dom.js';

const SLOW_MS = 1000,
    PROGRESS_MS = 2000,
    POLL_MS = 600;

/* Words in the page, and the call that each is about; those of pages that were left are removed. */
const waiting = new Map();
let polling = false;

/**
 * @param {{what: string, path?: string, onCancel?: () => void}} options  path: of the call, such as "traces/ID/query"
 */
export function working({ what, path, onCancel }) {
    const words = h('p', { class: 'waiting-words', role: 'status' });
    setTimeout(() => {
        words.prepend(what);
    }, SLOW_MS);
    if (onCancel)
        setTimeout(
            () => words.append(' ', h('button', { class: 'button small', onclick: onCancel }, 'Cancel')),
            PROGRESS_MS,
        );
    if (path)
        setTimeout(() => {
            waiting.set(words, path);
            if (!polling) poll();
        }, PROGRESS_MS);
    return words;
}

async function poll() {
    for (const words of waiting.keys()) if (!words.isConnected) waiting.delete(words);
    polling = waiting.size > 0;
    if (!polling) return;
    const { jobs } = await get('jobs').catch(() => ({ jobs: [] }));
    for (const [words, path] of waiting) showProgress(words, shareOf(jobs, path));
    setTimeout(poll, POLL_MS);
}

function shareOf(jobs, path) {
    const [, trace, call] = /^traces\/([^/]+)\/(.+)$/.exec(path) ?? [];
    const shares = jobs
        .filter(
            (job) =>
                job.state === 'running' &&
                job.trace === trace &&
                job.kind.replace('/', '_').startsWith(call?.replace('/', '_')),
        )
        .map(({ progress }) => progress);
    return shares.length > 0 ? Math.min(...shares) : null;
}

function showProgress(words, share) {
    if (share === null) return;
    const percent = Math.round(share * 100);
    let track = /** @type {HTMLElement} */ (words.querySelector('.progress'));
    if (!track)
        words.append(
            (track = h(
                'span',
                {
                    class: 'progress',
                    role: 'progressbar',
                    'aria-label': 'Computed',
                    'aria-valuemin': 0,
                    'aria-valuemax': 100,
                },
                h('span', {}),
            )),
        );
    setStyle(track, { '--done': share });
    track.setAttribute('aria-valuenow', String(percent));
    track.dataset.percent = `${percent}\u202f%`;
}
