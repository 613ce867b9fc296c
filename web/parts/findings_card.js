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
        asked = null,
        checked = ''; /* the range that somebody asked for */

    /** Of a range the rules are checked when that is asked for: it takes longer than all else on the page. */
    function update({ trace, place }) {
        const wanted = findingsQuery(place),
            range = JSON.stringify(wanted);
        const whole = (place.from || place.to) && range !== checked;
        const parameters = whole ? { ...wanted, from: undefined, to: undefined } : wanted,
            request = JSON.stringify([parameters, whole]),
            path = `traces/${trace.id}/findings`;
        const check = () => {
            checked = range;
            update({ trace, place });
        };
        element.hidden = false;
        if (request === asked) return;
        asked = request;
        work?.abort();
        work = loading(box, {
            what: 'Checking the rules',
            path,
            height: 120,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: (answer) => draw(answer, whole ? check : null),
            fail: () => fill(note),
            retry: () => {
                asked = null;
                update({ trace, place });
            },
        });
    }

    /**
     * @param {any} answer
     * @param {(() => void)|null} check  the findings are of the whole job; checks the range that is shown
     */
    function draw({ counts, findings }, check) {
        const worst = findings
            .filter(({ severity }) => severity === 'critical' || severity === 'warning')
            .slice(0, MOST);
        fill(note, check ? `of the whole job: ${countWords(counts)}` : countWords(counts));
        fill(
            box,
            worst.map((finding) => lineOf(finding, check ? { from: null, to: null } : {})),
            h(
                'p',
                { class: 'padded' },
                worst.length === 0 && `${plural(counts.ok ?? 0, 'check')} passed. `,
                check && h('button', { class: 'button small', onclick: check }, 'Check this time range'),
                check && ' ',
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

function lineOf(finding, range) {
    return h(
        'a',
        { class: 'finding-line', href: pageLink('findings', { rule: finding.rule, ...range }) },
        badge(finding.severity),
        h('span', { class: 'finding-words' }, finding.text),
        stakeOf(finding),
    );
}
