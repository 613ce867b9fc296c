/* live.js - a trace whose files are still written: how far it is read, the switch that follows it, and pictures that
 * change with it.
 *
 * A new version is drawn out of sight, beside the picture that stands; only when all of its answers are there the two
 * change places.  So nothing blinks, and no figure stands beside those of another version. */

import { get, send, session, settled } from '../api.js';
import { fill, h } from '../dom.js';
import { moment, text } from '../format.js';
import { attempt, failed } from './notice.js';

const PAUSE_MS = 1500;
const RESTING = 4; /* times what the last picture took */

/**
 * A badge, how far the files are read, and the switch, in one line.
 * @param {Object} trace
 * @param {() => void} onChanged  it is followed now, or no longer
 */
export function liveLine(trace, onChanged) {
    const element = h('span', { class: 'live-line' });
    let editor = false;
    update(trace);
    session().then(
        ({ role }) => {
            editor = role !== 'viewer';
            update(trace);
        },
        () => {},
    );

    async function turn(follow) {
        if (await attempt(() => send('PATCH', `traces/${trace.id}`, { follow }))) onChanged();
    }

    function update(next) {
        trace = next;
        const focused = element.contains(document.activeElement);
        fill(
            element,
            trace.live && [
                liveBadge(trace),
                h('span', { class: 'live-words', title: wordsOf(trace.live) }, wordsOf(trace.live)),
            ],
        );
        if (editor && trace.kind !== null)
            element.append(
                h(
                    'button',
                    {
                        class: 'button small live-switch',
                        'aria-pressed': String(Boolean(trace.live)),
                        title: trace.live
                            ? 'Reads what is left, and no longer what is added to its files'
                            : 'Reads what is added to its files as they grow',
                        onclick: () => turn(!trace.live),
                    },
                    trace.live ? 'Stop following' : 'Follow',
                ),
            );
        if (focused) /** @type {HTMLElement|null} */ (element.querySelector('button'))?.focus();
    }

    return { element, update };
}

/** @param {Object} trace  a live one */
export function liveBadge(trace) {
    return h(
        'span',
        {
            class: `badge live${trace.live.problem ? ' failed' : ''}`,
            title: trace.live.problem ?? wordsOf(trace.live),
        },
        'live',
    );
}

function wordsOf({ complete_until: until, slowest, bytes_behind: behind, problem }) {
    if (problem) return problem;
    const parts = [
        until && `complete until ${moment(until)} (${slowest})`,
        behind > 0 && `${text(behind, 'B')} still being written`,
    ];
    return parts.filter(Boolean).join(', ');
}

/**
 * Looks for new versions of a live trace.
 * @param {Object} options
 * @param {string} options.id
 * @param {AbortSignal} options.signal
 * @param {(trace: Object) => Promise<void>|void} options.onLook  what the trace is now
 * @returns {() => void} looks from now on, if it is not looking already
 */
export function watchTrace({ id, signal, onLook }) {
    let timer = 0,
        looking = false;
    const start = (pause = PAUSE_MS) => {
        clearTimeout(timer);
        if (!looking && !signal.aborted) timer = setTimeout(look, pause);
    };

    async function look() {
        const begin = performance.now();
        looking = true;
        try {
            const trace = await get(`traces/${id}`, {}, signal);
            await onLook(trace);
            looking = false;
            if (trace.live || trace.state === 'ingesting')
                start(Math.max(PAUSE_MS, RESTING * (performance.now() - begin)));
        } catch (problem) {
            looking = false;
            if (problem.name !== 'AbortError') start(RESTING * PAUSE_MS);
        }
    }

    return start;
}

/** Whether somebody is at work in the picture, so that it has to stay. */
function isInUse(boxes) {
    return (
        document.querySelector('[popover]:popover-open, dialog[open]') !== null ||
        boxes.some((box) => box.matches(':active') || box.querySelector(':active, input:focus, select:focus') !== null)
    );
}

/**
 * Draws a picture out of sight and puts it in the place of another once it is whole.
 * @param {{boxes: HTMLElement[], close: () => void}} before
 * @param {() => {boxes: HTMLElement[], close: () => void}} paint  begins the new one
 * @param {(next: Object) => void} update  asks for what it shows
 * @param {AbortSignal} signal  gives up
 * @returns {Promise<Object|null>} the new picture, in place; null: the one before stays
 */
export async function replacePicture(before, paint, update, signal) {
    if (isInUse(before.boxes)) return null;
    const next = paint();
    const staging = h('div', { class: 'staging', inert: true, 'aria-hidden': 'true' }, next.boxes);
    before.boxes.at(-1)?.after(staging);
    update(next);
    await settled(signal);
    const whole = !signal.aborted && staging.isConnected && !failed(staging) && !isInUse(before.boxes);
    if (whole) {
        before.boxes[0].before(...next.boxes);
        for (const box of before.boxes) box.remove();
        before.close();
    } else {
        next.close();
    }
    staging.remove();
    return whole ? next : null;
}
