/* format.js - numbers for people: three significant digits and a unit; the full value for whoever hovers.
 *
 * Missing is a dash, never 0.  Whole numbers are never rounded, only grouped by thin spaces. */

import { h } from './dom.js';

const THIN = '\u202f'; /* narrow space at which a line does not break */
export const DASH = '\u2013';

/** Seconds from which on times are in minutes and hours. */
export const LONG = 599.5;

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** 18039 -> "18 039", with thin spaces. */
export function grouped(integer) {
    return String(Math.round(integer)).replace(/\B(?=(\d{3})+$)/g, THIN);
}

const RAISED = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';

/** Three significant digits; from 1000 on, whole. */
export function significant(value) {
    const size = Math.abs(value);
    if (size === 0) return '0';
    if (size >= 999.5) return grouped(value);
    if (size < 0.001) {
        const [digits, power] = value.toExponential(2).split('e-');
        return `${digits}\u2009\u00d7\u200910\u207b${[...power].map((digit) => RAISED[Number(digit)]).join('')}`;
    }
    return value.toPrecision(3);
}

function scaled(value, steps) {
    const [, unit, factor] = steps.find(([from]) => Math.abs(value) >= from) || steps[steps.length - 1];
    return significant(value / factor) + THIN + unit;
}

/** A figure of an axis: without zeros behind the point. */
export function tick(value, unit) {
    return text(value, unit).replace(/\.(\d*?)0+(?!\d)/, (_, kept) => (kept ? `.${kept}` : ''));
}

/**
 * A moment of the job: in seconds, with all the digits that tell it from one @step seconds later.
 * @param {number|null|undefined} seconds
 * @param {number} [step]
 */
export function instant(seconds, step = 1e-6) {
    if (seconds === null || seconds === undefined) return DASH;
    const [whole, rest] = Math.abs(seconds).toFixed(digitsOf(step)).split('.');
    return (seconds < 0 ? '\u2212' : '') + grouped(whole) + (rest ? `.${rest}` : '') + THIN + 's';
}

/** How many digits behind the point tell moments apart that are a step away from each other. */
function digitsOf(step) {
    const most = step < 1e-6 ? 9 : 6;
    return (
        Array.from({ length: most }, (_, count) => count).find(
            (count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6 * step * 10 ** count,
        ) ?? most
    );
}

/** A moment as a clock shows it, "3:31:40". */
function clockFace(seconds, step) {
    const digits = digitsOf(step),
        whole = Math.floor(seconds + 0.5 * 10 ** -digits),
        two = (number) => String(number).padStart(2, '0');
    const rest =
        digits > 0
            ? Math.max(0, seconds - whole)
                  .toFixed(digits)
                  .slice(1)
            : '';
    return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${rest}`;
}

/** A moment of a time that ends at @last, with the digits that tell it from one @step later: past ten minutes as a
 * clock shows it, "3:31:40". */
export function instantIn(seconds, last, step) {
    return last > LONG && seconds >= 0 ? clockFace(seconds, step) : instant(seconds, step);
}

/** A part of a time that ends at @last; past ten minutes as a clock has it, "0:16:40 \u2013 0:18:20 h". */
export function range(from, to, step = 1e-6, last = to) {
    if (last > LONG && from >= 0) return `${clockFace(from, step)} \u2013 ${clockFace(to, step)}${THIN}h`;
    return `${instant(from, step).slice(0, -2)} \u2013 ${instant(to, step)}`;
}

/* Distances of ticks that a clock has, in seconds. */
const CLOCK_STEPS = [1, 2, 5, 10, 20, 30].flatMap((count) => [60 * count, 3600 * count]).sort((a, b) => a - b);

/** The distance of ticks, in seconds, that is at least @wanted. */
export function clockStep(wanted) {
    return CLOCK_STEPS.find((step) => step >= wanted) ?? 360000 * Math.ceil(wanted / 360000);
}

/** From ten minutes on, as a clock has it: "16 min 40 s", "3 h 31 min"; from a hundred hours on "250 h". */
export function clock(seconds) {
    if (seconds === 0) return '0';
    const whole = Math.round(Math.abs(seconds) < 3599.5 ? seconds : seconds / 60),
        [large, small] = Math.abs(seconds) < 3599.5 ? ['min', 's'] : ['h', 'min'];
    const count = Math.floor(Math.abs(whole) / 60),
        rest = count < 100 || large === 'min' ? Math.abs(whole) % 60 : 0;
    return (seconds < 0 ? '\u2212' : '') + grouped(count) + THIN + large + (rest > 0 ? ` ${rest}${THIN}${small}` : '');
}

const SECONDS = [
    [0.9995, 's', 1],
    [0.0009995, 'ms', 1e-3],
    [0, '\u00b5s', 1e-6],
];

function seconds(value) {
    if (Math.abs(value) >= LONG) return clock(value);
    return value === 0 ? '0' + THIN + 's' : scaled(value, SECONDS);
}

function binary(value, suffix = '') {
    if (value === 0) return '0' + THIN + 'B' + suffix;
    const power = Math.min(BINARY.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(value)) / 10)));
    const shown = value / 2 ** (10 * power);
    return (
        (power === 0 && Number.isInteger(value) ? String(value) : significant(shown)) + THIN + BINARY[power] + suffix
    );
}

/** Bandwidth never below MiB/s where that still shows digits: such columns are read down. */
function bandwidth(value) {
    if (value !== 0 && value < 1024 ** 3 && value >= 1024 ** 2 / 100)
        return significant(value / 1024 ** 2) + THIN + 'MiB/s';
    return binary(value, '/s');
}

/**
 * What each unit looks like: `text` for the eye, `full` for hovering and screen readers.
 * @type {Object<string, {text: (v: number) => string, full: (v: number) => string}>}
 */
export const UNITS = {
    s: { text: seconds, full: (v) => `${v} s` },
    B: { text: binary, full: (v) => `${grouped(v)} bytes` },
    'B/s': { text: bandwidth, full: (v) => `${v} bytes/s` },
    '1/s': { text: (v) => significant(v) + THIN + '/s', full: (v) => `${v} per second` },
    count: {
        text: (v) => (Number.isInteger(v) ? grouped(v) : significant(v)),
        full: (v) => (Number.isInteger(v) ? grouped(v) : String(v)),
    },
    share: {
        text: (v) =>
            (v > 0 && v < 0.99e-4
                ? '<' + THIN + '0.01'
                : v > 0.9995 && v < 1 - 1e-9
                  ? '>' + THIN + '99.9'
                  : significant(v * 100)) +
            THIN +
            '%',
        full: (v) => `${v * 100} %`,
    },
    number: { text: significant, full: String },
};

/**
 * @param {number|null|undefined} value
 * @param {string} unit  key of UNITS
 */
export function text(value, unit) {
    return value === null || value === undefined ? DASH : UNITS[unit].text(value);
}

/** The value as an element that shows its full digits on hover. */
export function value(number, unit) {
    if (number === null || number === undefined) return h('span', { class: 'missing', title: 'no value' }, DASH);
    return h('data', { value: number, title: UNITS[unit].full(number) }, UNITS[unit].text(number));
}

/** A moment as an element that holds all its digits. */
export function at(seconds, step) {
    return h('data', { value: seconds, title: `${seconds} s` }, instant(seconds, step));
}

/** 1 process, 2 processes. */
export function plural(count, one, many = one + 's') {
    return `${grouped(count)}${THIN}${count === 1 ? one : many}`;
}

/** A moment, to the second, in local time. */
export function moment(iso) {
    const date = new Date(iso);
    if (!iso || Number.isNaN(date.getTime())) return DASH;
    const two = (n) => String(n).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
