/* breakdown.js - where the time went, in one bar and one sentence.
 *
 * The time of the outermost layer, summed over rank groups, falls apart into: compute; what each layer beside it kept
 * the ranks busy while they did not compute (exposed time); and what the enclosing layers did themselves (self time).
 * The parts add up to the whole unless layers beside compute overlap each other; then the bar says so. */

import { h, setStyle } from '../dom.js';
import { text, value } from '../format.js';
import { pageLink } from '../state.js';
import { isPresent, pathTo, swatch } from './layers.js';

/**
 * @typedef {{layer: import('./layers.js').Layer, kind: 'busy'|'exposed'|'self'|'inner'|'none'|'idle', seconds:
 *   number}} Part
 */

/**
 * @param {Object[]} rows  the summary's layers
 * @param {import('./layers.js').Layer[]} tree
 * @param {string|null} compute
 * @param {number} span  seconds that are asked about: events that reach beyond them would count with all their time
 * @returns {{root: string, whole: number, parts: Part[], below: Part[]}|null}  null when the preset has no compute
 *   layer, or it
 *   no event, or the parts would not be parts of the span; `below`: layers whose parent beside compute has no event,
 *   so that no part shows them
 */
export function breakdown(rows, tree, compute, span) {
    const byName = new Map(rows.map((row) => [row.name, row]));
    const path = pathTo(compute, new Map(tree.map((layer) => [layer.name, layer.parent])));
    const root = byName.get(path[0]);
    const whole = root?.busy_group_sum;
    if (!whole || root.busy > span * 1.000001 || !byName.get(compute)?.busy_group_sum) return null;
    const parts = tree
        .map((layer) => partOf(layer, byName.get(layer.name), path, compute))
        .filter((part) => part !== null)
        .filter((part) => part.seconds > 0);
    return {
        root: path[0],
        whole,
        parts: parts.sort((a, b) => b.seconds - a.seconds),
        below: orphans(tree, byName, path),
    };
}

/** @returns {Part|null} */
function partOf(layer, row, path, compute) {
    if (layer.name === compute) return { layer, kind: 'busy', seconds: row.busy_group_sum };
    if (path.includes(layer.name)) return { layer, kind: 'self', seconds: row.self_group_sum };
    if (path.includes(layer.parent)) return { layer, kind: 'exposed', seconds: row.exposed_group_sum };
    return null;
}

/** The topmost layers with events below those beside compute that have none. */
function orphans(tree, byName, path) {
    const absent = new Set();
    /** @type {Part[]} */
    const found = [];
    for (const layer of tree) {
        const beside = !path.includes(layer.name) && (path.includes(layer.parent) || absent.has(layer.parent));
        if (beside && !isPresent(byName.get(layer.name))) absent.add(layer.name);
        else if (absent.has(layer.parent))
            found.push({ layer, kind: 'exposed', seconds: byName.get(layer.name).exposed_group_sum });
    }
    return found.filter((part) => part.seconds > 0);
}

const WORDS = {
    busy: 'computing',
    exposed: 'not overlapped with compute',
    self: 'other',
    inner: '',
    none: 'was running',
    idle: 'no task ran',
};

/**
 * The bar with its legend and sentence.
 * @param {{whole: number, parts: Part[], of: string, many: string}} answer
 */
export function breakdownView({ whole, parts, of, many }) {
    const sum = parts.reduce((total, part) => total + part.seconds, 0);
    const scale = Math.max(whole, sum);
    return h(
        'div',
        { class: 'breakdown' },
        parts.some(({ kind }) => kind === 'busy') ? sentence(parts, whole) : processSentence(parts, whole, many),
        h(
            'div',
            {
                class: 'breakdown-bar',
                role: 'img',
                'aria-label': parts
                    .map((part) => `${part.layer.name} ${text(part.seconds / whole, 'share')}`)
                    .join(', '),
            },
            parts.map((part) => segment(part, scale, whole)),
        ),
        h(
            'ul',
            { class: 'breakdown-legend' },
            parts.map((part) =>
                h(
                    'li',
                    {},
                    swatch(part.layer),
                    nameOf(part),
                    h('span', { class: 'kind words' }, WORDS[part.kind]),
                    h('strong', {}, value(part.seconds / whole, 'share')),
                    h('span', { class: 'kind' }, value(part.seconds, 's')),
                ),
            ),
        ),
        sum > whole * 1.001 &&
            h(
                'p',
                { class: 'hint' },
                `The parts overlap each other, so they sum up to ${text(sum / whole, 'share')} of ${of}.`,
            ),
        parts.filter(({ kind }) => kind === 'inner').length > 1 &&
            h(
                'p',
                { class: 'hint' },
                'Time in several at once is counted for the innermost, the one with the least time in all.',
            ),
    );
}

/** The name of a part; of a layer a link to its page. */
function nameOf({ layer }) {
    return layer.label
        ? h('a', { class: 'name', href: pageLink('layer', { layer: layer.name }) }, layer.name)
        : h('span', { class: 'name' }, layer.name);
}

function segment(part, scale, whole) {
    const share = part.seconds / scale;
    const title = `${part.layer.name}: ${text(part.seconds, 's')}, ${text(part.seconds / whole, 'share')}`;
    const element = h(
        'span',
        { class: 'segment', title },
        share > 0.08 && h('span', { class: 'segment-text' }, text(part.seconds / whole, 'share')),
    );
    setStyle(element, { '--share': share, '--color': part.layer.color });
    return element;
}

function sentence(parts, whole) {
    const computing = parts.find((part) => part.kind === 'busy');
    const waiting = parts.filter((part) => part.kind !== 'busy').slice(0, 2);
    const words = waiting.map((part) => [
        text(part.seconds / whole, 'share'),
        part.kind === 'self' ? ` in ${part.layer.name} itself` : ` in ${part.layer.name}`,
    ]);
    return h(
        'p',
        { class: 'answer' },
        'The ranks computed ',
        h('strong', {}, text(computing.seconds / whole, 'share')),
        ' of their time',
        words.map(([share, where], index) => [
            index === words.length - 1 && index > 0 ? ', and ' : index > 0 ? ', ' : '; they spent ',
            h('strong', {}, share),
            where,
        ]),
        '.',
    );
}

/** Without compute: the largest parts, then the time in which nothing was seen. */
function processSentence(parts, whole, many) {
    const [first, ...others] = parts.filter(({ kind }) => kind === 'inner').slice(0, 3),
        none = parts.find(({ kind }) => kind === 'none' || kind === 'idle');
    const words = ({ seconds, layer }) => [
        h('strong', {}, text(seconds / whole, 'share')),
        layer.label ? ' in ' : ' on ',
        layer.name,
    ];
    return h(
        'p',
        { class: 'answer' },
        `The ${many} spent `,
        first && [
            h('strong', {}, text(first.seconds / whole, 'share')),
            ' of their time',
            first.layer.label ? ' in ' : ' on ',
            first.layer.name,
        ],
        others.map((part, index) => [index === others.length - 1 ? ' and ' : ', ', words(part)]),
        none && [
            first ? '; for ' : '',
            h('strong', {}, text(none.seconds / whole, 'share')),
            none.kind === 'idle' ? ' they were idle' : first ? ' none of these was running' : ' without any event',
        ],
        '.',
    );
}
