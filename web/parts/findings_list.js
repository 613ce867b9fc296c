/* findings_list.js - findings as sentences, each with its value against the thresholds, what it costs, and its
 * evidence. */

import { h } from '../dom.js';
import { DASH, plural, text, value } from '../format.js';
import { pageLink } from '../state.js';
import { bar, scrolling, table } from './table.js';

/** The severities, worst first, and what stands above their findings. */
export const SEVERITIES = [
    ['critical', 'Critical'],
    ['warning', 'Warnings'],
    ['info', 'Notes'],
    ['ok', 'Passed'],
    ['na', 'Not applicable'],
];

const SHARES = /(^|_)share$|^au/;
const SIZES = { s: 1, B: 1, 'B/s': 1, '1/s': 1 };
const WORDS = { critical: 'critical', warning: 'warning', info: 'note', ok: 'passed', na: 'not applicable' };

/**
 * @typedef {{rule: string, title: string, group: string, severity: string, value: number|null, unit: string,
 *   direction: string, levels: Object<string, number>, stake: number|null,
 *   stake_share: number|null, text: string, threshold: string, advice: string[], evidence: {columns: string[], units:
 *   Object<string, string>, data: any[][], row_count: number}|null, source: string, link: Object|null,
 *   what_if?: Object|null}} Finding
 */

/**
 * The parameters by which findings are asked for.
 * @param {Object} place
 */
export function findingsQuery({ preset, filter, from, to }) {
    return { preset, filter, from, to };
}

/**
 * One finding, folded: the sentence and what is at stake.
 * @param {Finding} finding
 * @param {boolean} open
 * @param {(rule: string) => void} onOpen
 */
export function findingRow(finding, open, onOpen) {
    const element = /** @type {HTMLDetailsElement} */ (
        h(
            'details',
            { class: 'finding', open },
            h(
                'summary',
                {},
                badge(finding.severity),
                h('span', { class: 'finding-words' }, h('strong', {}, finding.title), ' ', finding.text),
                stakeOf(finding),
            ),
            h(
                'div',
                { class: 'finding-body' },
                adviceOf(finding),
                finding.threshold && h('p', { class: 'hint' }, `Value: ${finding.threshold}`),
                evidenceOf(finding),
                h('p', { class: 'hint' }, `Source: ${finding.source}`),
                linkOf(finding),
            ),
        )
    );
    element.addEventListener('toggle', () => {
        if (element.open) onOpen(finding.rule);
    });
    return element;
}

/** @param {string} severity */
export function badge(severity) {
    return h('span', { class: `badge severity-${severity}` }, WORDS[severity] ?? severity);
}

/** @param {Finding} finding */
export function stakeOf({ severity, stake, stake_share: share }) {
    if (stake === null || severity === 'ok' || severity === 'na') return null;
    return h(
        'span',
        { class: 'finding-stake', title: 'Time that is at stake, summed over ranks' },
        value(stake, 's'),
        share !== null && ` \u00b7 ${text(share, 'share')}`,
    );
}

function adviceOf({ advice, severity }) {
    return (
        advice.length > 0 &&
        severity !== 'ok' &&
        severity !== 'na' &&
        h(
            'ul',
            { class: 'finding-advice' },
            advice.map((words) => h('li', {}, words)),
        )
    );
}

function evidenceOf({ evidence, title }) {
    if (!evidence || evidence.data.length === 0) return null;
    const rows = evidence.data.map((row) =>
        Object.fromEntries(evidence.columns.map((name, index) => [name, row[index]])),
    );
    const columns = [...evidence.columns.map((name, index) => columnOf(name, index, evidence)), ...chartOf(evidence)];
    return [
        scrolling(`Evidence: ${title}`, table({ columns, rows, caption: `Evidence: ${title}`, class: 'plain' })),
        evidence.row_count > rows.length &&
            h('p', { class: 'hint' }, `The first ${rows.length} of ${plural(evidence.row_count, 'row')}.`),
    ];
}

/**
 * The first measure as bars beside the rows, where there are some to compare.
 * @returns {import('./table.js').Column[]}
 */
function chartOf({ columns, units, data }) {
    const at = columns.findIndex((name) => units[name] in SIZES || SHARES.test(name)),
        most = Math.max(...data.map((row) => row[at] ?? 0));
    if (at < 0 || data.length < 2 || !(most > 0)) return [];
    const name = columns[at];
    return [
        {
            key: 'bar',
            label: '',
            class: 'bar-cell',
            cell: (row) => bar((row[name] ?? 0) / most, 'var(--layer-5)', 0, name),
        },
    ];
}

/** @returns {import('./table.js').Column} */
function columnOf(name, index, { units, data }) {
    const sample = data.find((row) => row[index] !== null)?.[index];
    if (typeof sample !== 'number')
        return {
            key: name,
            label: name,
            class: index === 0 ? 'head' : undefined,
            cell: (row) => (row[name] === null ? DASH : String(row[name])),
        };
    if (units[name] in SIZES) return { key: name, label: name, unit: units[name] };
    return {
        key: name,
        label: name,
        unit: SHARES.test(name) ? 'share' : 'number',
        cell: (row) =>
            row[name] === null
                ? DASH
                : Number.isInteger(row[name]) && index === 0
                  ? String(row[name])
                  : value(row[name], Number.isInteger(row[name]) ? 'count' : SHARES.test(name) ? 'share' : 'number'),
    };
}

const OPEN = {
    report: 'Open the trace quality',
    query: 'Open as a query',
    overlap: 'Open the causes',
    sets: 'Open as overlap',
    steps: 'Open the steps',
    overview: 'Open the stragglers',
    access: 'Open the file access',
    whatif: 'Simulate it',
    timeline: 'Open the gaps',
};

/**
 * The page that shows the same figures, and what a remedy would gain, where there is such a page.
 * @param {Finding} finding
 */
function linkOf({ link, what_if: scenario, severity }) {
    const places = [
        link && link.page in OPEN && link,
        scenario && severity !== 'ok' && severity !== 'na' && { page: 'whatif', ...scenario },
    ].filter(Boolean);
    return places.length > 0 && h('p', { class: 'finding-links' }, places.map(placeLink));
}

/** Figures count events without a file or host as well, so their groups are kept. */
function placeLink({ page, group_by: group, ...rest }) {
    const change =
        page === 'query'
            ? {
                  ...(group && {
                      group,
                      agg: 'calls = count(), time = sum(time), bytes = sum(size)',
                      order: '-time',
                      dropna: 'false',
                  }),
                  ...rest,
                  ask: rest.ask === 'events' ? 'events' : null,
              }
            : page === 'whatif'
              ? Object.fromEntries(Object.entries(rest).map(([key, value]) => [`if_${key}`, value]))
              : rest;
    return h(
        'a',
        { class: 'button small', href: pageLink(page, change) },
        OPEN[rest.own ? 'sets' : rest.access ? 'access' : page],
    );
}

/**
 * "2 critical, 3 warnings; 24 checks passed, 9 do not apply."
 * @param {Object<string, number>} counts
 */
export function countWords({ critical = 0, warning = 0, info = 0, ok = 0, na = 0 }) {
    return `${critical} critical, ${plural(warning, 'warning')}, ${plural(info, 'note')}; ${plural(ok, 'check')} passed, ${na} ${na === 1 ? 'does' : 'do'} not apply`;
}
