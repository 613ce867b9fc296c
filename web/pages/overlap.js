/* overlap.js - did I/O overlap with compute: sets of events, how they lie over each other, rank by rank and over time.
 * */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { text } from '../format.js';
import { causesView } from '../parts/causes.js';
import { copyText, curlOf, saveText } from '../parts/copy.js';
import { layerTree } from '../parts/layers.js';
import { menu } from '../parts/menu.js';
import { empty, failedFilter, loading } from '../parts/notice.js';
import { hidingSeries, lanesCard, longestCard, unitsCard } from '../parts/overlap_cards.js';
import { offeredLayers, overlapRequest } from '../parts/overlap_request.js';
import { hiding, overlapSets } from '../parts/overlap_sets.js';
import { tracePage } from '../parts/trace_page.js';
import { upset } from '../parts/upset.js';
import { go, here, link } from '../state.js';

export const title = 'I/O vs compute';

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, bothPictures, { without: ['semantics'] });
}

/** Sets over each other; or, where the place names a chain, the causes of the time that ranks waited. */
function bothPictures(trace, bar) {
    const sets = overlapPicture(trace, bar),
        causes = causesView(trace, bar);
    const over = h('div', { class: 'stack' }, sets.boxes),
        why = h('div', { class: 'stack' }, causes.boxes);

    function update(place, granularity) {
        const named = place.attribution !== undefined;
        over.hidden = named;
        why.hidden = !named;
        (named ? causes : sets).update(place, granularity);
    }

    return {
        boxes: [over, why],
        update,
        close() {
            sets.close();
            causes.close();
        },
    };
}

function overlapPicture(trace, bar) {
    const top = h('div', { class: 'stack' }),
        combinations = h('section', { class: 'card', 'aria-label': 'Combinations' });
    const sets = overlapSets(here),
        units = unitsCard(),
        series = hidingSeries(),
        lanes = lanesCard(),
        longest = longestCard();
    const cards = [sets.element, combinations, units.element, series.element, lanes.element, longest.element];
    const path = `traces/${trace.id}/overlap`;
    let known = null,
        work = null,
        asked = null,
        answer = null;
    const around = (shown) => {
        for (const card of cards) card.hidden = !shown;
    };
    around(false);

    function update(place, granularity) {
        work?.abort();
        bar.clear();
        work = loading(top, {
            what: 'Laying the sets over each other',
            path,
            height: 200,
            load: (signal) => ask(place, granularity, signal),
            show: (request) => draw(place, request, granularity),
            fail: (problem) => {
                asked = null;
                around(false);
                failedFilter(problem, bar, top);
            },
            retry: () => {
                asked = null;
                update(place, granularity);
            },
        });
    }

    /** Which layers have events comes first: the usual sets depend on it. */
    async function ask(place, granularity, signal) {
        const name = place.preset ?? trace.preset.name;
        if (known?.name !== name) {
            const [summary, preset] = await Promise.all([
                get(`traces/${trace.id}/summary`, { preset: name }, signal),
                get(`presets/${name}`, {}, signal),
            ]);
            known = {
                name,
                preset,
                tree: layerTree(summary.layers, preset),
                times: new Map(
                    summary.layers
                        .filter((layer) => layer.count > 0)
                        .map((layer) => [layer.name, layer.busy_group_sum]),
                ),
            };
        }
        const request = overlapRequest(place, known, granularity);
        const wanted = request && JSON.stringify(request.parameters);
        if (request && wanted !== asked) {
            answer = await get(path, { ...request.parameters, explain: true, limit: 10000 }, signal);
            asked = wanted;
        }
        return request;
    }

    function draw(place, request, granularity) {
        around(request !== null);
        if (!request) {
            fill(
                top,
                empty(
                    'No sets',
                    h('p', {}, 'Choose layers, or write a condition of your own.'),
                    h('button', { class: 'button', onclick: () => go({ layers: null, own: null }) }, 'The usual sets'),
                ),
            );
            return;
        }
        const span = [Number(place.from ?? 0), Number(place.to ?? trace.job_time)];
        const view = {
            trace,
            place,
            request,
            answer,
            path,
            granularity,
            span,
            offered: offeredLayers(known.tree, known.preset, known.times),
            file: `${trace.name}-overlap`,
        };
        fill(
            top,
            verdict(request, answer, granularity),
            known.preset.attribution.length > 0 &&
                h(
                    'p',
                    {},
                    h(
                        'a',
                        { class: 'button small', href: link({ attribution: known.preset.attribution[0].name }) },
                        `${known.preset.attribution[0].label}: by cause`,
                    ),
                ),
        );
        sets.update(view);
        fill(
            combinations,
            h(
                'header',
                { class: 'card-head' },
                h('h2', {}, 'Combinations'),
                h('small', {}, `of ${text(answer.span, 's')}, the spans of all ${request.scope.many} added up`),
                h(
                    'div',
                    { class: 'card-tools' },
                    menu({
                        label: 'Copy or save',
                        text: 'Export',
                        icon: 'copy',
                        items: [
                            {
                                text: 'Copy as curl',
                                action: () => copyText(curlOf(path, request.parameters), 'as curl'),
                            },
                            {
                                text: 'Save as CSV',
                                action: () =>
                                    saveText(combinationsCsv(answer, request.sets), `${trace.name}-combinations.csv`),
                            },
                        ],
                    }),
                ),
            ),
            upset(answer.groups, request.sets, answer),
        );
        const paired = request.hidden !== request.behind;
        for (const card of [units, series, lanes, longest]) {
            card.element.hidden = !paired;
            if (paired) card.update(view);
        }
    }

    return {
        boxes: [top, ...cards],
        update,
        close() {
            work?.abort();
            for (const card of [units, series, lanes, longest]) card.close();
        },
    };
}

/** The result in a sentence, and what sums per bin would have given. */
function verdict({ sets, hidden, behind, scope }, answer, granularity) {
    if (hidden === behind)
        return h('p', { class: 'notice' }, 'One set alone overlaps with nothing: choose a second one.');
    const { hidden: share, exposed, overlap } = hiding(answer, hidden.name, behind.name);
    const pick = (label, key, chosen, other) =>
        h(
            'select',
            { 'aria-label': label, class: 'name', onchange: (event) => go({ [key]: event.target.value }) },
            sets
                .filter((set) => set !== other)
                .map((set) => h('option', { value: set.name, selected: set === chosen }, set.name)),
        );
    const bucket = answer.explain?.find(({ a, b }) => [a, b].includes(hidden.name) && [a, b].includes(behind.name));
    const guessed = bucket && bucket.overlap_bucket / (bucket.a === hidden.name ? bucket.a_bucket : bucket.b_bucket);
    return h(
        'section',
        { class: 'card', 'aria-label': 'Overlap of two sets' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'Did '),
            pick('What should overlap', 'hidden', hidden, behind),
            h('h2', {}, 'overlap with'),
            pick('With what', 'behind', behind, hidden),
            h('h2', {}, '?'),
        ),
        share === null
            ? h('p', { class: 'answer' }, `No event of ${hidden.name} here.`)
            : h(
                  'p',
                  { class: 'answer' },
                  h('strong', {}, text(share, 'share')),
                  ` of the ${text(overlap + exposed, 's')} that the ${scope.many} spent in ${hidden.name} overlapped with ${behind.name}; `,
                  h('strong', {}, text(exposed, 's')),
                  ' did not.',
              ),
        Number.isFinite(guessed) &&
            Math.abs(guessed - (share ?? 0)) > 0.005 &&
            h(
                'p',
                { class: 'hint' },
                `Sums per bin of ${text(granularity, 's')}, as DFAnalyzer subtracts them, would say ${text(guessed, 'share')}: they take what merely falls into the same bin for overlap.`,
            ),
    );
}

/** A row for each combination: which sets, and the seconds; names are words, so nothing needs quotes. */
function combinationsCsv({ groups, idle }, sets) {
    const rows = [...groups, { sets: [], time: idle }].map((group) => [
        ...sets.map(({ name }) => Number(group.sets.includes(name))),
        group.time,
    ]);
    return [[...sets.map(({ name }) => name), 'time'], ...rows].map((row) => row.join(',')).join('\r\n') + '\r\n';
}
