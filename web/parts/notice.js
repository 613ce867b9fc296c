/* notice.js - what stands where there is nothing to show yet, or no more: waiting, empty, error; and short-lived
 * toasts. */

import { fill, h } from '../dom.js';
import { go } from '../state.js';
import { working } from './working.js';

/**
 * A skeleton at once; in it what working() says.
 * @param {{what: string, path?: string, height?: number, onCancel?: () => void}} options
 */
export function waiting({ height = 120, ...work }) {
    return h('div', { class: 'skeleton', style: { 'min-height': `${height}px` }, 'aria-busy': 'true' }, working(work));
}

/**
 * The server's own sentence, and a way to try again where that may help: what a trace lacks, it lacks again.
 * @param {Error & {title?: string, status?: number}} problem
 * @param {() => void} [retry]
 */
export function failure(problem, retry) {
    return h(
        'div',
        { class: 'notice bad', role: 'alert' },
        h(
            'p',
            {},
            problem.title && problem.title !== problem.message && h('strong', {}, problem.title, '. '),
            problem.message,
        ),
        retry && problem.status !== 422 && h('button', { class: 'button small', onclick: retry }, 'Try again'),
    );
}

/** Whether a failure stands somewhere in an element. */
export function failed(element) {
    return element.querySelector('.notice.bad') !== null;
}

/**
 * Draws a response into a box.  An exception in drawing is a bug of the dashboard: it is said in the box instead of
 * the picture, and goes to the console, so that nobody waits before a skeleton that never ends.
 * @param {HTMLElement} box
 * @param {() => any} show  may take its time, and gives a promise then
 */
export async function drawn(box, show) {
    try {
        await show();
    } catch (error) {
        console.error(error);
        fill(box, failure(new Error(`This cannot be drawn, which is a mistake of the dashboard: ${error.message}`)));
    }
}

/**
 * Why there is nothing, and what to do.
 * @param {string} title
 * @param {...any} children
 */
export function empty(title, ...children) {
    return h('div', { class: 'empty' }, h('h2', {}, title), children);
}

const toasts = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });

/** A sentence that goes away by itself. */
export function toast(words, kind = 'good') {
    if (!toasts.isConnected) document.body.append(toasts);
    const one = h('div', { class: `toast ${kind}` }, words);
    toasts.append(one);
    setTimeout(() => one.remove(), kind === 'bad' ? 8000 : 3500);
}

/**
 * Runs a user's action; a failure becomes a toast with the server's sentence.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T|undefined>}
 */
export async function attempt(action) {
    try {
        return await action();
    } catch (problem) {
        if (problem.name === 'AbortError') return undefined;
        toast(problem.message, 'bad');
        return undefined;
    }
}

/**
 * Where the filter is at fault: the mark in the control bar, and a way out in the page.
 * @param {Error & {parameter?: string}} problem
 * @param {{mark: (problem: any) => void}} bar
 * @param {HTMLElement} box
 */
export function failedFilter(problem, bar, box) {
    if (problem.parameter !== 'filter') return;
    bar.mark(problem);
    fill(
        box,
        h(
            'div',
            { class: 'notice' },
            h('p', {}, 'The filter cannot be understood; the mark under it shows where.'),
            h('button', { class: 'button small', onclick: () => go({ filter: null }) }, 'Clear the filter'),
        ),
    );
}

/**
 * Fills a box with what a promise gives: skeleton, then content or failure.  What was there before stays until then,
 * dimmed, so that nothing jumps.
 * @param {HTMLElement} box
 * @param {{what: string, path?: string, height?: number, load: (signal: AbortSignal) => Promise<any>, show: (answer:
 *   any) => any,
 *          fail?: (problem: Error) => void, retry: () => void}} work
 * @returns {AbortController}
 */
export function loading(box, { what, path, height, load, show, fail, retry }) {
    const control = new AbortController();
    const cancel = () => {
        control.abort();
        fill(
            box,
            h(
                'div',
                { class: 'notice' },
                h('p', {}, 'Cancelled.'),
                h('button', { class: 'button small', onclick: retry }, 'Compute again'),
            ),
        );
    };
    let words = null;
    if (box.childElementCount === 0 || box.querySelector(':scope > .notice'))
        fill(box, waiting({ what, path, height, onCancel: cancel }));
    else box.append((words = h('div', { class: 'over' }, working({ what, path, onCancel: cancel }))));
    box.classList.add('outdated');
    load(control.signal)
        .then(
            async (answer) => {
                if (!control.signal.aborted) await drawn(box, () => show(answer));
            },
            (problem) => {
                if (!control.signal.aborted) {
                    fill(box, failure(problem, retry));
                    fail?.(problem);
                }
            },
        )
        .finally(() => {
            words?.remove();
            if (!control.signal.aborted) box.classList.remove('outdated');
        });
    return control;
}
