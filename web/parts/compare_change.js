/* compare_change.js - how a number changed against the baseline, and whether that is for the better.
 *
 * A full arrow and a heavy face say worse, a hollow arrow better, so that it shows without colours too. */

import { h } from '../dom.js';
import { significant, text, UNITS } from '../format.js';

const SLIGHT = 0.01; /* changes of less than this share are neither */
const ROUNDING = 1e-9; /* changes of less come from dividing sums by numbers of ranks */

/** @typedef {'lower'|'higher'|'neither'} Better */

/** @returns {'worse'|'better'|null} */
export function verdict(now, before, better) {
    if (better === 'neither' || now === null || before === null || now === before) return null;
    if (Math.abs(now - before) < SLIGHT * Math.abs(before)) return null;
    return now > before === (better === 'higher') ? 'better' : 'worse';
}

/**
 * @param {number|null|undefined} now
 * @param {number|null|undefined} before
 * @param {string} unit  key of UNITS
 * @param {Better} better
 * @param {{delta?: boolean}} [options]  delta: false leaves only the ratio
 */
export function change(now, before, unit, better, { delta = true } = {}) {
    if (now === undefined || now === null || before === undefined || before === null)
        return oneSided(now ?? null, before ?? null);
    if (Math.abs(now - before) <= ROUNDING * Math.abs(before))
        return h('span', { class: 'change same', title: 'no change' }, '=');
    const said = verdict(now, before, better),
        up = now > before;
    const arrow = { worse: up ? '\u25b2' : '\u25bc', better: up ? '\u25b3' : '\u25bd' }[said] ?? '';
    const title = `${said ? `${said}: ` : ''}${UNITS[unit].full(now)}, baseline ${UNITS[unit].full(before)}`;
    return h(
        'span',
        { class: `change ${said ?? 'same'}`, title },
        arrow && h('span', { class: 'change-arrow', 'aria-hidden': 'true' }, arrow),
        said && h('span', { class: 'visually-hidden' }, `${said} `),
        (delta || before === 0) &&
            h('data', { value: now - before }, (up ? '+' : '\u2212') + text(Math.abs(now - before), unit)),
        before !== 0 && h('span', { class: 'change-ratio' }, ratio(now / before)),
    );
}

function ratio(factor) {
    return `\u00d7\u2009${factor === 0 ? '0' : factor < 0.001 ? '<\u20090.001' : factor >= 0.9995 && factor < 10 ? factor.toFixed(2) : significant(factor)}`;
}

function oneSided(now, before) {
    if (now === null && before === null) return null;
    return h(
        'span',
        { class: 'change same', title: now === null ? 'only in the baseline' : 'not in the baseline' },
        now === null ? 'gone' : 'new',
    );
}

/** What the marks mean. */
export function changeWords() {
    return h(
        'p',
        { class: 'hint compare-words' },
        '\u25b2\u25bc worse, \u25b3\u25bd better than the baseline by 1\u202f% or more.',
    );
}
