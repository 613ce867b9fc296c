/* findings_card.js - the worst findings of a trace in a card, and the way to all of them. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { plural } from '../format.js';
import { pageLink } from '../state.js';
import { badge, countWords, findingsQuery, stakeOf } from './findings_list.js';
import { loading } from './notice.js';

const MOST = 3;

/** Drawn once it is known; a trace that has none to say keeps no place for it. */
export function findingsCard() {
    const note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Findings', hidden: true },
        h('header', { class: 'card-head' }, h('h2', {}, 'Findings'), note),
        box,
    );
    let work = null,
        asked = null;

    function update({ trace, place }) {
        const parameters = findingsQuery(place),
            question = JSON.stringify(parameters),
            path = `traces/${trace.id}/findings`;
        element.hidden = false;
        if (question === asked) return;
        asked = question;
        work?.abort();
        work = loading(box, {
            what: 'Checking the rules',
            path,
            height: 120,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: draw,
            fail: () => fill(note),
            retry: () => {
                asked = null;
                update({ trace, place });
            },
        });
    }

    function draw({ counts, findings }) {
        const worst = findings
            .filter(({ severity }) => severity === 'critical' || severity === 'warning')
            .slice(0, MOST);
        fill(note, countWords(counts));
        fill(
            box,
            worst.map((finding) =>
                h(
                    'a',
                    { class: 'finding-line', href: pageLink('findings', { rule: finding.rule }) },
                    badge(finding.severity),
                    h('span', { class: 'finding-words' }, finding.text),
                    stakeOf(finding),
                ),
            ),
            h(
                'p',
                { class: 'padded' },
                worst.length === 0 && `${plural(counts.ok ?? 0, 'check')} passed. `,
                h('a', { class: 'button small', href: pageLink('findings') }, 'All findings'),
            ),
        );
    }

    return {
        element,
        update,
        close() {
            work?.abort();
        },
    };
}
