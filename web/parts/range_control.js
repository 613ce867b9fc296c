/* range_control.js - the time range of a page: typed, moved, zoomed out, undone; and the same by keys. */

import { h, icon } from '../dom.js';
import { instant, range } from '../format.js';
import { go, here } from '../state.js';
import { placeBelow } from './menu.js';

/* Ranges that were shown before, the latest last: what undo goes back to. */
const before = [];
let shown = null;

const KEYS = {
    '[': () => shifted(-0.5),
    ']': () => shifted(0.5),
    '-': () => scaled(2),
    '+': () => scaled(0.5),
    u: undo,
};

/** Shows the whole job. */
export function clearRange() {
    go({ from: null, to: null });
}

/**
 * Brackets move the range by half of it, - and + zoom, u goes back to the range before.
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it was one of these keys
 */
export function rangeKey(event) {
    const act = shown && KEYS[event.key];
    act?.();
    return Boolean(act);
}

/** From and to in seconds, and the end of the job. */
function current() {
    const { from, to } = here();
    return { from: Number(from ?? 0), to: Number(to ?? shown.end), end: shown.end };
}

function show(from, to) {
    const least = Math.max(0, from),
        most = Math.min(shown.end, to);
    const round = (seconds) => Number(seconds.toFixed(6));
    if (least <= 0 && most >= shown.end) clearRange();
    else if (most > least) go({ from: round(least), to: round(most) });
}

function shifted(share) {
    const { from, to, end } = current(),
        width = to - from;
    const start = Math.min(Math.max(0, from + share * width), Math.max(0, end - width));
    show(start, start + width);
}

function scaled(factor) {
    const { from, to } = current(),
        middle = (from + to) / 2,
        half = ((to - from) / 2) * factor;
    show(middle - half, middle + half);
}

function undo() {
    const last = before.pop();
    if (!last) return;
    shown.range = last;
    go({ from: last.from ?? null, to: last.to ?? null });
}

/** Remembers the range that a place leaves. */
function note(place, end) {
    const now = { trace: place.trace ?? place.traces, from: place.from, to: place.to };
    if (shown?.range.trace !== now.trace) before.length = 0;
    else if (shown.range.from !== now.from || shown.range.to !== now.to) before.push(shown.range);
    shown = { range: now, end };
}

/**
 * The range that is shown, as a button that opens what changes it.
 * @param {Object} place
 * @param {number} end  of the job, in seconds
 */
export function rangeControl(place, end) {
    note(place, end);
    const whole = place.from === undefined && place.to === undefined;
    const panel = h('div', { class: 'panel', popover: 'auto' });
    const button = h(
        'button',
        {
            class: `chip ${whole ? 'plain' : 'accent'}`,
            type: 'button',
            title: 'Type, move or zoom out the time range; or drag over a chart',
            onclick: () => panel.togglePopover(),
        },
        whole ? 'whole job' : words(place),
    );
    panel.addEventListener('toggle', (event) => {
        if (/** @type {ToggleEvent} */ (event).newState !== 'open') return;
        panel.replaceChildren(form(panel));
        placeBelow(panel, button);
        panel.querySelector('input')?.focus();
    });
    const clear = h(
        'button',
        {
            class: 'button small icon-only',
            type: 'button',
            'aria-label': 'Show the whole job',
            title: 'Show the whole job (Esc)',
            onclick: clearRange,
        },
        icon('close'),
    );
    return h('div', { class: 'range-control' }, button, !whole && clear, panel);
}

function words(place) {
    const from = Number(place.from ?? 0),
        to = Number(place.to ?? Infinity);
    return to === Infinity
        ? `${instant(from, 1e-3)} \u2013 end`
        : range(from, to, 10 ** Math.floor(Math.log10((to - from) / 100)));
}

function form(panel) {
    const { from, to, end } = current();
    const input = (name, label, value) =>
        h(
            'label',
            {},
            h('span', {}, label),
            h('input', { name, type: 'number', min: 0, max: end, step: 'any', value, required: true }),
        );
    const act = (label, title, action, disabled = false) =>
        h(
            'button',
            {
                type: 'button',
                class: 'button small',
                title,
                disabled,
                onclick: () => {
                    panel.hidePopover();
                    action();
                },
            },
            label,
        );
    const whole = from <= 0 && to >= end;
    return h(
        'form',
        {
            class: 'range-form',
            'aria-label': 'Time range',
            onsubmit: (event) => {
                event.preventDefault();
                event.stopPropagation();
                const given = new FormData(event.target);
                panel.hidePopover();
                show(Number(given.get('from')), Number(given.get('to')));
            },
        },
        h(
            'div',
            { class: 'range-fields' },
            input('from', 'From, s', from),
            input('to', 'To, s', to),
            h('button', { class: 'button primary' }, 'Show'),
        ),
        h(
            'div',
            { class: 'range-acts' },
            act('Earlier', 'Half a range earlier ([)', KEYS['['], whole),
            act('Later', 'Half a range later (])', KEYS[']'], whole),
            act('Zoom out', 'Twice as long (-)', KEYS['-'], whole),
            act('Zoom in', 'Half as long (+)', KEYS['+']),
            act('Undo', 'The range before (u)', undo, before.length === 0),
            act('Whole job', 'Esc', clearRange, whole),
        ),
    );
}
