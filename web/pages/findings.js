/* findings.js - why it is slow and what to do: what the rules found, by severity, and what they checked and found in
 * order. */

import { getOf, url } from '../api.js';
import { fill, h } from '../dom.js';
import { latestRequest } from '../parts/latest_request.js';
import { copyMenu } from '../parts/copy.js';
import { countWords, findingRow, findingsQuery, SEVERITIES } from '../parts/findings_list.js';
import { failedFilter } from '../parts/notice.js';
import { tracePage } from '../parts/trace_page.js';
import { go, here } from '../state.js';

export const title = 'Findings';

const FOLDED = ['ok', 'na'],
    GROUPS = ['stall', 'io', 'metadata', 'balance', 'trace'].map((name) => [name, name]);

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, findingsPicture, { without: ['semantics', 'granularity', 'filters'] });
}

function findingsPicture(trace, bar) {
    const box = h('div', { class: 'stack' });
    const reading = latestRequest(box);
    let drawn = null;

    function update(place) {
        const parameters = { ...findingsQuery(place), severity: place.severity, group: place.group },
            path = `traces/${trace.id}/findings`;
        const anew = reading.send({
            request: parameters,
            what: 'Checking the rules',
            path,
            height: 480,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: (answer) => {
                if (answer !== drawn) draw(answer, path, parameters);
                drawn = answer;
            },
            fail: (problem) => {
                drawn = null;
                failedFilter(problem, bar, box);
            },
        });
        if (anew) bar.clear();
    }

    function draw(answer, path, parameters) {
        const groups = SEVERITIES.map(([key, label]) => ({
            key,
            label,
            findings: answer.findings.filter(({ severity }) => severity === key),
        })).filter(({ findings }) => findings.length > 0);
        const exports = copyMenu(path, parameters, null, [
            {
                text: 'Save as Markdown',
                href: url(path, { ...parameters, format: 'markdown' }),
                download: `${trace.name}-findings.md`,
            },
            {
                text: 'Save the report as HTML',
                href: url(`traces/${trace.id}/report.html`, parameters),
                download: `${trace.name}-report.html`,
            },
        ]);
        fill(
            box,
            h(
                'div',
                { class: 'finding-counts' },
                h('span', {}, countWords(answer.counts)),
                h(
                    'span',
                    { class: 'card-tools' },
                    choice(
                        'severity',
                        'All severities',
                        SEVERITIES.map(([key, label]) => [key, label]),
                    ),
                    choice('group', 'All groups', GROUPS),
                    exports,
                ),
            ),
            groups.map(severityCard),
        );
    }

    /** Of one severity or group alone: a key of the address. */
    function choice(key, all, options) {
        return h(
            'select',
            { 'aria-label': all, onchange: (event) => go({ [key]: event.target.value || null }) },
            [['', all], ...options].map(([value, label]) =>
                h('option', { value, selected: value === (here()[key] ?? '') }, label),
            ),
        );
    }

    function severityCard({ key, label, findings }) {
        const rows = h(
            'div',
            {},
            findings.map((finding) =>
                findingRow(finding, finding.rule === here().rule, (rule) => {
                    if (here().rule !== rule) go({ rule }, { replace: true });
                }),
            ),
        );
        const folded = here().severity !== key && !findings.some(({ rule }) => rule === here().rule);
        if (!FOLDED.includes(key))
            return h(
                'section',
                { class: 'card', 'aria-label': label },
                h('header', { class: 'card-head' }, h('h2', {}, label), h('small', {}, String(findings.length))),
                rows,
            );
        return h(
            'section',
            { class: 'card', 'aria-label': label },
            h(
                'details',
                { class: 'finding-group', open: !folded },
                h('summary', {}, h('h2', {}, label), h('small', {}, String(findings.length))),
                rows,
            ),
        );
    }

    return { boxes: [box], update, close: reading.close };
}
