/* where_is.js - where somebody who knows the field's notebooks and reports finds their tables and plots: each is a
 * link. */

import { h } from '../dom.js';
import { here, link, pageLink } from '../state.js';
import { usualGranularity } from './control_bar.js';
import { examples } from './query_examples.js';

const SPAN = 60; /* s for the bins of a query, which the control bar's range would tell */

/** @type {[what: string, where: string, page: string, change: Object<string, string>][]} */
const TABLES = [
    [
        'Summary and layer breakdown with overlap',
        'Overview, counting as DFAnalyzer',
        'overview',
        { semantics: 'compatible' },
    ],
    ['I/O time over time', 'Overview', 'overview', { metric: 'time', semantics: '' }],
    ['Bandwidth over time', 'Overview, lines', 'overview', { metric: 'bw_busy', semantics: '' }],
    ['Unoverlapped I/O and compute', 'I/O vs compute', 'overlap', {}],
    [
        'Views by time, process or file, with scores',
        'Table, counting as DFAnalyzer',
        'flat',
        { semantics: 'compatible' },
    ],
    ['Slope plot', 'Breakdown, counting as DFAnalyzer', 'layer', { semantics: 'compatible' }],
    ['Box plots over processes, heat map of processes and time', 'Breakdown', 'layer', { semantics: '' }],
    [
        'Histograms of transfer sizes and durations',
        'Breakdown, over calls',
        'layer',
        { semantics: '', calls: 'duration' },
    ],
    ['Table of files', 'Breakdown, by file', 'layer', { semantics: '', by: 'file_name' }],
    ['Trace viewer', 'Timeline', 'timeline', {}],
    ['Flame graph', 'Flame graph', 'flame', {}],
    ['Lines that were lost', 'Trace quality', 'report', {}],
];
const QUERIES = [
    ['Report by function: time, count, mean, deviation', 'Statistics by function'],
    ['Quartiles of transfer sizes by function', 'Sizes by function'],
    ['Transfer size over time', 'Transfer size over time'],
    ['Common access sizes', 'Transfer sizes'],
    ['Balance of processes', 'Balance of processes'],
    ['Raw events', 'Slowest I/O calls'],
];

/** @param {() => void} onGo */
export function whereIs(onGo) {
    const place = here();
    if (!place.trace)
        return h(
            'p',
            { class: 'hint' },
            'Open a trace, and here stands where to find each table and plot of the notebooks.',
        );
    const span = Number(place.to ?? SPAN) - Number(place.from ?? 0),
        asked = examples(usualGranularity(place, span));
    const entries = [
        ...TABLES.map(([what, where, page, change]) => ({ what, where, href: pageLink(page, change) })),
        ...QUERIES.map(([what, name]) => ({
            what,
            where: `Query, ${name}`,
            href: pageLink('query', asked.find((one) => one.name === name)?.place ?? {}),
        })),
        { what: 'Runs side by side', where: 'Compare', href: link({ page: 'compare', traces: place.trace }, {}) },
    ];
    return h(
        'ul',
        { class: 'where-is', onclick: onGo },
        entries.map(({ what, where, href }) => h('li', {}, h('a', { href }, what), h('small', {}, where))),
    );
}
