/* job.js - a job while it runs: how far, how fast, how long still, and a way to stop it. */

import { ended, send, watchJob } from '../api.js';
import { fill, h, setStyle } from '../dom.js';
import { grouped, significant, text } from '../format.js';
import { attempt } from './notice.js';

/**
 * @param {string} id
 * @param {{onEnd?: (job: Object) => void}} [options]
 */
export function jobProgress(id, { onEnd } = {}) {
    const track = h(
        'div',
        { class: 'progress', role: 'progressbar', 'aria-label': 'Ingest', 'aria-valuemin': 0, 'aria-valuemax': 100 },
        h('span', {}),
    );
    const words = h('span', { class: 'progress-words' }, 'waiting for the server');
    const cancel = h(
        'button',
        { class: 'button small', onclick: () => attempt(() => send('DELETE', `jobs/${id}`)) },
        'Cancel',
    );
    const stop = watchJob(id, (job) => {
        const percent = Math.round((job.progress ?? 0) * 100);
        setStyle(track, { '--done': job.progress ?? 0 });
        track.setAttribute('aria-valuenow', String(percent));
        fill(words, sentence(job, percent));
        cancel.hidden = ended(job);
        if (ended(job)) onEnd?.(job);
    });
    return { element: h('div', { class: 'job' }, track, h('div', { class: 'job-line' }, words, cancel)), close: stop };
}

function sentence(job, percent) {
    if (job.state === 'queued') return 'Waiting for other ingests to finish';
    if (job.state === 'failed') return job.error?.detail ?? job.error?.title ?? 'Failed';
    if (job.state === 'cancelled') return 'Cancelled';
    const parts = [`${percent}\u202f%`];
    if (job.total_bytes) parts.push(`${text(job.bytes, 'B')} of ${text(job.total_bytes, 'B')}`);
    if (job.events) parts.push(`${grouped(job.events)} events`);
    if (job.rate) parts.push(`${rate(job.rate)} events/s`);
    if (job.eta !== null && job.eta !== undefined && job.eta >= 0 && job.state === 'running')
        parts.push(`${left(job.eta)} left`);
    return parts.join(' \u00b7 ');
}

function rate(eventsPerSecond) {
    return eventsPerSecond >= 1e6 ? `${significant(eventsPerSecond / 1e6)}\u202fM` : grouped(eventsPerSecond);
}

function left(seconds) {
    if (seconds < 1) return 'less than 1\u202fs';
    if (seconds < 90) return `${Math.round(seconds)}\u202fs`;
    return `${Math.round(seconds / 60)}\u202fmin`;
}
